package ranking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"elobot/internal/ladder"
)

// need is what a decision lacks: one of the types of this file. Those beside the snapshot are read
// under the same lock, and decide is called again at once. For those instead of it, the lock is
// released, something is noted or done, and everything is read anew.
type need interface {
	// what describes the need. Two needs with the same description are the same one.
	what() string
}

// The needs beside the snapshot.
type (
	// historyOf is the History of the season of a match from that match on. With a ladder into
	// which the match is moved, it is also Into.
	historyOf struct {
		match *StoredMatch
		into  *Ladder
	}
	// upsetOf is the LargestUpset of the month that begins then. Few results need it: only upsets
	// may be larger.
	upsetOf struct{ month time.Time }
	// answerTo is the Answer to a question.
	answerTo struct{ question question }
)

// The needs instead of the snapshot.
type (
	// wholeGroup is Everybody.
	wholeGroup struct{}
	// inLadder is another ladder, or another season of it: 0 for the current one.
	inLadder struct {
		ladder ladder.ID
		season ladder.SeasonID
	}
	// identities is that everybody has one player. The snapshot of the job shows who has not.
	identities struct {
		job  job
		snap Snapshot
	}
	// seasonEnd is the end of the current season of a ladder, because the command is about a later
	// time: it reports a match, changes when seasons end, ends one by hand, or moves a match there
	// that was reported later.
	seasonEnd struct {
		ladder Ladder
		at     time.Time
	}
	// onlyAnswer is that the command does nothing but say this: it names what is not there.
	onlyAnswer struct{ notice Notice }
)

func (historyOf) what() string   { return "a history" }
func (upsetOf) what() string     { return "the largest upset of a month" }
func (answerTo) what() string    { return "an answer" }
func (wholeGroup) what() string  { return "everybody in the group" }
func (n inLadder) what() string  { return fmt.Sprintf("season %d of ladder %d", n.season, n.ladder) }
func (identities) what() string  { return "one player for everybody" }
func (n seasonEnd) what() string { return fmt.Sprintf("the end of a season of ladder %d", n.ladder.ID) }
func (onlyAnswer) what() string  { return "to be nothing but an answer" }

// metNeeds are the needs that an attempt has met.
type metNeeds []string

// add notes a need. It fails if the need was met before: meeting it did not help, and never will. Two
// seasons of a ladder may end, as the first one does after a pause.
func (m *metNeeds) add(n need) error {
	most, times := 1, 0
	if _, ok := n.(seasonEnd); ok {
		most = 2
	}
	for _, met := range *m {
		if met == n.what() {
			times++
		}
	}
	if times == most {
		return fmt.Errorf("a command needs %s again", n.what())
	}
	*m = append(*m, n.what())
	return nil
}

// meet notes or does what a command needs instead of its snapshot.
func (s *Service) meet(ctx context.Context, c call, n need) (call, error) {
	switch n := n.(type) {
	case wholeGroup:
		c.everybody = true
	case inLadder:
		c.ladder, c.season = n.ladder, n.season
	case onlyAnswer:
		c.job, c.ladder, c.named = c.answerOnly(n.notice), 0, true
	case identities:
		c.identified = true
		return c, s.identify(ctx, c.Origin, n.job, n.snap)
	case seasonEnd:
		return c, s.endSeason(ctx, c.Origin, n.ladder, n.at)
	default:
		return c, errors.New("a decision lacks " + n.what())
	}
	return c, nil
}

// isBeside reports whether a need is met beside the snapshot.
func isBeside(n need) bool {
	switch n.(type) {
	case historyOf, upsetOf, answerTo:
		return true
	}
	return false
}

// beside reads what a command needs beside its snapshot.
func (s *Service) beside(ctx context.Context, store writer, snap Snapshot, n need) (Snapshot, error) {
	var err error
	switch n := n.(type) {
	case upsetOf:
		snap.UpsetMonth = n.month
		snap.LargestUpset, err = store.LargestUpset(ctx, snap.Ladder.ID, n.month)
	case answerTo:
		snap.Answer, err = n.question.ask(ctx, snap)
	case historyOf:
		var history, into ladder.History
		if history, err = store.MatchHistory(ctx, n.match.Season, n.match.Number); err != nil {
			return snap, err
		}
		history.Over, snap.History = snap.Over, &history
		if n.into == nil {
			return snap, nil
		}
		if snap.IntoSeason, err = seasonAt(ctx, store, *n.into, n.match.PlayedAt); err != nil {
			return snap, err
		}
		into, err = store.MatchHistory(ctx, snap.IntoSeason, n.match.Number, n.match.players()...)
		snap.Into = &into
	}
	return snap, err
}
