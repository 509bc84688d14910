package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// need is what a decision lacks: one of the types of this file. Those beside the snapshot are read
// under the same lock, and decide is called again at once. For all others the lock is released and
// everything is read anew: for those instead of the snapshot after something is noted or done, for
// those of a plan after the operation has planned the call again.
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
	answerTo struct{ asking asking }
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
	// identities is that everybody has one player. The snapshot of the call shows who has not.
	identities struct {
		call *call
		snap *Snapshot
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

// The needs of a plan.
type (
	// ladderNamed is that the first words of the command name its ladder, or those of later lines.
	// The operation is planned without these words.
	ladderNamed struct {
		ladder     ladder.ID // 0 for the default one
		words      int
		laterWords []int          // how many of each line after the first one
		missing    *MissingLadder // what a report names instead, nil for nothing
	}
	// foundPrompt is the prompt that the command answers, nil if there is none, with everybody in
	// the group if the answer may name them.
	foundPrompt struct {
		prompt    *Prompt
		everybody []command.Person
	}
)

func (historyOf) what() string   { return "a history" }
func (upsetOf) what() string     { return "the largest upset of a month" }
func (answerTo) what() string    { return "an answer" }
func (wholeGroup) what() string  { return "everybody in the group" }
func (n inLadder) what() string  { return fmt.Sprintf("season %d of ladder %d", n.season, n.ladder) }
func (identities) what() string  { return "one player for everybody" }
func (n seasonEnd) what() string { return fmt.Sprintf("the end of a season of ladder %d", n.ladder.ID) }
func (onlyAnswer) what() string  { return "to be nothing but an answer" }
func (ladderNamed) what() string { return "a plan without the name of a ladder" }
func (foundPrompt) what() string { return "a plan for its prompt" }

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

// meet notes or does what a command needs, so that everything can be read anew.
func (s *Service) meet(ctx context.Context, c *call, n need) error {
	c.isNamed = true // or it names no ladder
	switch n := n.(type) {
	case wholeGroup:
		c.wholeGroup = true
	case inLadder:
		c.ladder, c.season = n.ladder, n.season
	case onlyAnswer:
		*c = *c.onlySaying(n.notice)
		c.ladder = 0
	case identities:
		c.identified = true
		return s.identify(ctx, n.call, n.snap)
	case seasonEnd:
		return s.endSeason(ctx, c.Origin, n.ladder, n.at)
	case ladderNamed:
		c.Said, c.missing = c.Said.WithoutWords(n.words, n.laterWords...), n.missing
		// A button knows its ladder by the id: another one may have the name by now.
		c.Ladder = cmp.Or(c.Ladder, n.ladder)
		s.planAgain(ctx, c)
	case foundPrompt:
		c.found = &n
		s.planAgain(ctx, c)
	default:
		return errors.New("a decision lacks " + n.what())
	}
	return nil
}

// planAgain has the operation of a call plan it with what is known by now.
func (s *Service) planAgain(ctx context.Context, c *call) {
	c.wants.plan(s, c)
	c.ladder, c.season, c.wholeGroup = c.Ladder, 0, false
	c.admin = s.adminStatus(ctx, c)
}

// isBeside reports whether a need is met beside the snapshot.
func isBeside(n need) bool {
	switch n.(type) {
	case historyOf, upsetOf, answerTo:
		return true
	}
	return false
}

// beside adds to a snapshot what a command needs beside it.
func (s *Service) beside(ctx context.Context, store writer, snap *Snapshot, n need) error {
	var err error
	switch n := n.(type) {
	case upsetOf:
		snap.UpsetMonth = n.month
		snap.LargestUpset, err = store.LargestUpset(ctx, snap.Ladder.ID, n.month)
	case answerTo:
		asked := Asked{Origin: n.asking.origin, Snapshot: *snap, people: n.asking.people}
		snap.Answer, err = s.answerer.Answer(ctx, n.asking.Question, asked)
	case historyOf:
		var history, into ladder.History
		if history, err = store.MatchHistory(ctx, n.match.Season, n.match.Number); err != nil {
			return err
		}
		history.Over, snap.History = snap.Over, &history
		if n.into == nil {
			return nil
		}
		if snap.IntoSeason, err = seasonAt(ctx, store, *n.into, n.match.PlayedAt); err != nil {
			return err
		}
		into, err = store.MatchHistory(ctx, snap.IntoSeason, n.match.Number, n.match.players()...)
		snap.Into = &into
	}
	return err
}
