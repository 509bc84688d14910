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

// need is something that a decision lacks. Its type determines how the service meets it:
//   - Needs beside the snapshot are read in the same round, and decide is called again.
//   - Needs instead of the snapshot change what to read, what is stored, or what the command
//     does. Any lock is released, and the next round reads everything again.
//   - Needs of a plan also end the round, and the operation plans the call again before the
//     next round.
type need interface {
	// what describes the need. Needs with the same description count as the same need.
	what() string
}

// Needs beside the snapshot.
type (
	// historyOf is the need for Beside.History: the matches of the match's season from the match
	// on. If into is set, it is also the need for Beside.Into and Beside.IntoSeason. into is the
	// ladder to which the match is moved.
	historyOf struct {
		match *StoredMatch
		into  *Ladder
	}
	// upsetOf is the need for Beside.LargestUpset, in the month that begins at month. A report
	// needs it only if one of its matches is an upset.
	upsetOf struct{ month time.Time }
	// mappingOf is the need for Beside.Mapping, for a change of these two players. into is 0 for
	// the player for whom from counts.
	mappingOf struct{ from, into ladder.PlayerID }
	answerTo  struct{ asking asking }
)

// Needs instead of the snapshot.
type (
	wholeGroup struct{}
	// inLadder is the need for a snapshot of another ladder or season. season 0 is the current
	// season.
	inLadder struct {
		ladder ladder.ID
		season ladder.SeasonID
	}
	// identities is the need to merge or claim players, because the snapshot shows that a person
	// has two players or claims a player.
	identities struct {
		call *call
		snap *Snapshot
	}
	// seasonEnd is the need to end a ladder's current season, because the season ends at or before
	// the time that the command is about. Such a command reports a match, changes the length of
	// seasons, ends a season by hand, or moves a match into the ladder.
	seasonEnd struct {
		ladder Ladder
		at     time.Time
	}
	// onlyAnswer replaces the command with an answer, because the command cannot be about the
	// ladder that it or its button names.
	onlyAnswer struct{ notice Notice }
)

// Needs of a plan.
type (
	// ladderNamed is the need for a plan for the named ladder, without the words that name it. They
	// are the first words of the command or of its later lines.
	ladderNamed struct {
		ladder     ladder.ID      // 0 for the default
		words      int            // number of words that name it in the first line
		laterWords []int          // the same for each line after the first
		missing    *MissingLadder // the missing ladder that a report names, nil for none
	}
	// foundPrompt is the need for a plan with the prompt that the command answers. prompt is nil if
	// there is none. everybody is set only if the answer may use plain names.
	foundPrompt struct {
		prompt    *Prompt
		everybody []command.Person
	}
)

func (historyOf) what() string   { return "a history" }
func (upsetOf) what() string     { return "the largest upset of a month" }
func (mappingOf) what() string   { return "who counts for whom" }
func (answerTo) what() string    { return "an answer" }
func (wholeGroup) what() string  { return "everybody in the group" }
func (n inLadder) what() string  { return fmt.Sprintf("season %d of ladder %d", n.season, n.ladder) }
func (identities) what() string  { return "one player for everybody" }
func (n seasonEnd) what() string { return fmt.Sprintf("the end of a season of ladder %d", n.ladder.ID) }
func (onlyAnswer) what() string  { return "to be nothing but an answer" }
func (ladderNamed) what() string { return "a plan without the name of a ladder" }
func (foundPrompt) what() string { return "a plan for its prompt" }

// metNeeds has the descriptions of the needs met so far.
type metNeeds []string

// add records a need. It fails if the need was met before, because meeting it again cannot help.
// Only the end of a season may be needed twice: if another command has ended the season first, the
// next season may be over too.
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

// meet meets a need, so that the next round can read everything again.
func (s *Service) meet(ctx context.Context, c *call, n need) error {
	c.isNamed = true // which ladder the command names is settled now
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
		// A button identifies its ladder by id, because another ladder may now have the name.
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

// planAgain has the operation plan the call again, with what the service has found out.
func (s *Service) planAgain(ctx context.Context, c *call) {
	c.wants.plan(s, c)
	c.ladder, c.season, c.wholeGroup = c.Ladder, 0, false
	c.admin = s.adminStatus(ctx, c)
}

func isBeside(n need) bool {
	switch n.(type) {
	case historyOf, upsetOf, mappingOf, answerTo:
		return true
	}
	return false
}

// beside reads what the decision needs, and adds it to the snapshot.
func (s *Service) beside(ctx context.Context, store writer, snap *Snapshot, n need) error {
	var err error
	switch n := n.(type) {
	case upsetOf:
		snap.UpsetMonth = n.month
		snap.LargestUpset, err = store.LargestUpset(ctx, snap.Ladder.ID, n.month)
	case answerTo:
		asked := Asked{Origin: n.asking.origin, Snapshot: *snap, people: n.asking.people}
		snap.Answer, err = s.answerer.Answer(ctx, n.asking.Question, asked)
	case mappingOf:
		snap.Mapping, err = store.Mapping(ctx, snap.Group, n.from, n.into)
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
