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
//   - A need beside the snapshot is read in the same round, and decide is called again.
//   - A need instead of the snapshot changes what to read, what is stored, or what the command
//     does. Any lock is released, and the next round reads everything again.
//   - A need of a plan also ends the round, and the operation plans the call again before the next
//     one.
type need interface {
	// what describes the need. Needs with the same description count as the same need.
	what() string
}

// These needs are read beside the snapshot, in the same round.
type (
	// historyOf is the need for Beside.History: the matches of the match's season from the match
	// on. into is the ladder to which the match is moved, nil for none. If it is set, historyOf is
	// also the need for Beside.Into and Beside.IntoSeason.
	historyOf struct {
		match *StoredMatch
		into  *Ladder
	}
	// upsetOf is the need for Beside.LargestUpset, in the month that begins at month. A report
	// needs it only if one of its matches is an upset.
	upsetOf struct{ month time.Time }
	// mappingOf is the need for Beside.Mapping. The fields are as in the Store's Mapping.
	mappingOf struct {
		from, into ladder.PlayerID
		longest    int
	}
	answerTo struct{ asking asking }
	// privateChatOf is the need for Beside.PrivateChat.
	privateChatOf struct{ user ladder.UserID }
)

// These needs are met instead of using the snapshot. The next round reads everything again.
type (
	wholeGroup struct{}
	// inLadder is the need for a snapshot of another ladder or season. If season is 0, it stands
	// for the current season.
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

// These needs make the operation plan the call again.
type (
	// ladderNamed is the need for a plan for the named ladder, without the words that name it.
	// These words begin the command or its later lines.
	ladderNamed struct {
		ladder     ladder.ID      // 0 for the default
		words      int            // number of words that name the ladder in the first line
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

func (historyOf) what() string     { return "a history" }
func (upsetOf) what() string       { return "the largest upset of a month" }
func (mappingOf) what() string     { return "who counts for whom" }
func (answerTo) what() string      { return "an answer" }
func (privateChatOf) what() string { return "a private chat" }
func (wholeGroup) what() string    { return "everybody in the group" }
func (n inLadder) what() string    { return fmt.Sprintf("season %d of ladder %d", n.season, n.ladder) }
func (identities) what() string    { return "one player for everybody" }
func (n seasonEnd) what() string   { return fmt.Sprintf("the end of a season of ladder %d", n.ladder.ID) }
func (onlyAnswer) what() string    { return "to be nothing but an answer" }
func (ladderNamed) what() string   { return "a plan without the name of a ladder" }
func (foundPrompt) what() string   { return "a plan for its prompt" }

// metNeeds holds the descriptions of the needs met so far.
type metNeeds []string

// add records a need. It fails if the need was met before, because meeting it again would not help.
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

// meet meets a need that has ended a round. The next round then reads everything again.
func (s *Service) meet(ctx context.Context, c *call, n need) error {
	c.isNamed = true // which ladder the command names is settled now
	switch n := n.(type) {
	case wholeGroup:
		c.wholeGroup = true
	case senderStatus:
		c.ofAdmins = true
		c.admin = s.adminStatus(ctx, c)
	case inLadder:
		c.ladder, c.season = n.ladder, n.season
	case onlyAnswer:
		*c = *c.onlySaying(n.notice)
		c.ladder = 0
	case identities:
		c.identified = true
		return s.identify(ctx, n.call, n.snap)
	case permittedDay:
		s.permit(ctx, c, n)
	case seasonEnd:
		return s.endSeason(ctx, c.Origin, n.ladder, n.at)
	case ladderNamed:
		c.Said, c.missing = c.Said.WithoutWords(n.words, n.laterWords...), n.missing
		// The ladder of a button takes precedence over the name, which another ladder may have now.
		c.Ladder = cmp.Or(c.Ladder, n.ladder)
		s.planAgain(ctx, c)
	case foundPrompt:
		c.found = &n
		s.planAgain(ctx, c)
	case sentFile:
		if s.download(ctx, c, n.SentFile) {
			s.planAgain(ctx, c)
		}
	case importStep:
		c.importing = n.importing
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
	case historyOf, gapOf, upsetOf, mappingOf, answerTo, privateChatOf, reportedBy, importPlan, undoPlan, restorePlan:
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
	case privateChatOf:
		var chat ChatID
		chat, err = store.PrivateChat(ctx, n.user)
		snap.PrivateChat = &chat
	case reportedBy:
		snap.Reported, err = reported(ctx, store, snap.Chat.ID, n)
	case importPlan:
		snap.Planned, err = n.plan(ctx, store.(Locked), snap)
	case restorePlan:
		var restoring Restoring
		restoring, err = n.restore(ctx, store.(Locked), snap)
		snap.Restoring = &restoring
	case undoPlan:
		snap.UndoneImport, err = undoneImport(ctx, store.(Locked), snap, n.number)
		if errors.Is(err, ErrNoSuchImport) {
			snap.UndoneImport, err = new(UndoneImport), nil
		}
	case mappingOf:
		snap.Mapping, err = store.Mapping(ctx, snap.Group, n.from, n.into, n.longest)
	case gapOf:
		var gap ladder.Gap
		if gap, err = store.Gap(ctx, snap.Ladder.ID, n.day.last()); err != nil {
			return err
		}
		if snap.Gap = &gap; gap.Later > s.settings.LongestReplay {
			return nil
		}
		var history ladder.History
		history, err = store.MatchHistory(ctx, snap.Season, cmp.Or(gap.After, ladder.LastPosition), n.players...)
		history.Over, snap.History = snap.Over, &history
	case historyOf:
		var history, into ladder.History
		if history, err = store.MatchHistory(ctx, n.match.Season, n.match.Position); err != nil {
			return err
		}
		history.Over, snap.History = snap.Over, &history
		if n.into == nil {
			return nil
		}
		if snap.IntoSeason, err = seasonAt(ctx, store, *n.into, n.match.PlayedAt); err != nil {
			return err
		}
		from := n.match.Position
		if n.match.isOfOtherDay() || n.match.isImported() {
			var gap ladder.Gap
			if gap, err = store.Gap(ctx, n.into.ID, n.match.PlayedAt); err != nil {
				return err
			}
			// Without a later match, the new match follows all others, even those with a higher
			// number.
			gap.After = cmp.Or(gap.After, ladder.PositionOf(gap.Before.Number()+1))
			snap.Gap, from = &gap, gap.After
		}
		into, err = store.MatchHistory(ctx, snap.IntoSeason, from, n.match.players()...)
		snap.Into = &into
	}
	return err
}
