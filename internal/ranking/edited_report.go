package ranking

import (
	"context"
	"strings"

	"elobot/internal/notice"
)

// handleEdit handles an edit of a message that has recorded matches. They stay. What the message reports besides is recorded, each under a
// key of the message that is still free. If it reports another score for the only match, or other players, handleEdit offers to correct that
// match. Nobody is asked what an edit means, and other edits get no answer.
func (s *Service) handleEdit(ctx context.Context, o Origin, read func(everybody []Person) Reading) error {
	original := MatchRef{Message: o.ReplyTo, Key: o.Message}
	j := job{name: "handle edit", bucket: RateQuestion, knownChatOnly: true, silent: true, locks: true}
	needs := (&recordOperation{service: s, playedAt: o.SentAt}).needs()
	needs.Match = &original
	of := o
	o.Message = "" // it is no command of the message
	return s.handleMessage(ctx, o, j, needs, func(everybody []Person) operation {
		edited := editedReport{origin: o, original: original}
		if r := read(everybody); len(r.Reports) > 0 && len(r.Reports) <= MaxReports {
			if rec, ok := s.newRecord(of, r.Reports, new(participants)); ok {
				edited.record = rec
			}
		}
		return edited
	})
}

// editedReport is a report after its message was edited.
type editedReport struct {
	plain
	origin   Origin
	original MatchRef
	record   *recordOperation // of everything that the message reports now; nil unless that is clear
}

func (e editedReport) needs() Needs {
	needs := Needs{People: senderOf(e.origin)}
	if e.record != nil {
		needs = e.record.needs()
	}
	needs.Match = &e.original
	return needs
}

func (e editedReport) rejectedResults(snap Snapshot) []RejectedResult {
	if open := e.compare(snap).open; open != nil {
		return open.rejectedResults(snap)
	}
	return nil
}

func (e editedReport) decide(snap Snapshot) (Decision, error) {
	switch now := e.compare(snap); {
	case now.open != nil:
		return decideUnlessRefused(now.open, snap)
	case now.corrected != nil:
		return e.offerFix(snap, now.corrected)
	case now.replaced != nil:
		if d := e.offerPlayers(snap, now.replaced); d.Asks != nil {
			return d, nil
		}
	}
	return Decision{}, errUnanswered
}

// comparison is what an edited message reports, compared with the matches that it has recorded.
type comparison struct {
	open      *recordOperation // what it has not recorded, nil for nothing
	corrected *StoredMatch     // the only match, if only its score has changed
	replaced  *StoredMatch     // the only match, if others have played
}

// compare compares the report with the recorded matches. It is empty if somebody else has reported them, or if one of them is not there any
// more: it may have been changed into any other one.
func (e editedReport) compare(snap Snapshot) (c comparison) {
	stored := snap.Matches
	if e.record == nil || len(stored) == 0 || !e.isBy(snap, stored[0].ReportedBy) {
		return c
	}
	reported := e.record.matches
	found, keys := make([]bool, len(reported)), make(map[string]bool)
	find := func(m *StoredMatch, is func(reportedMatch) bool) bool {
		at := -1
		for i, r := range reported {
			if !found[i] && is(r) && (at < 0 || r.key == m.Key) { // rather in the same line
				at = i
			}
		}
		if at >= 0 {
			found[at] = true
		}
		return at >= 0
	}
	var changed []*StoredMatch
	for i := range stored {
		m := &stored[i]
		if message, _, _ := strings.Cut(m.Key, ExtraMatch); message != e.original.Key {
			return c
		}
		keys[m.Key] = true
		if !find(m, func(r reportedMatch) bool { return r.result.isOf(m) && e.plays(snap, r, m) }) {
			changed = append(changed, m)
		}
	}
	for _, m := range changed {
		isFound := find(m, func(r reportedMatch) bool { return e.plays(snap, r, m) })
		switch isOnly := len(stored) == 1 && len(reported) == 1; {
		case isFound && isOnly:
			c.corrected = m
		case isOnly:
			return comparison{replaced: m}
		case !isFound:
			return comparison{}
		}
	}
	if c.open = e.record.those(func(i int) bool { return !found[i] }); c.open != nil {
		c.open.recorded = len(stored)
		next := 0
		for i := range c.open.matches {
			for keys[matchKey(e.original.Key, next)] {
				next++
			}
			key := matchKey(e.original.Key, next)
			c.open.matches[i].key, c.open.reports[i].Key, keys[key] = key, key, true
		}
	}
	return c
}

// isOf is true if the match has this result, or has got its score since it was reported without one.
func (r Result) isOf(m *StoredMatch) bool {
	return r.equal(m.Result) || !r.HasPoints() && r.isSame(m.Result.Score)
}

// isBy is true if the sender is a player; 0 stands for an anonymous admin.
func (e editedReport) isBy(snap Snapshot, reporter PlayerID) bool {
	return reporter == e.record.reportedBy(snap) && (reporter == 0) == (e.origin.Sender == nil)
}

// plays is true if the sides of a reported match are those of a recorded one.
func (e editedReport) plays(snap Snapshot, r reportedMatch, m *StoredMatch) bool {
	players, ok := e.record.playersOf(r, snap)
	return ok && samePlayers(players[0], m.Players[0]) && samePlayers(players[1], m.Players[1])
}

// offerFix offers to fix a match.
func (e editedReport) offerFix(snap Snapshot, m *StoredMatch) (Decision, error) {
	r := e.record.matches[0].result
	if m.Undone || r.A == r.B && !snap.Ladder.DrawsAllowed {
		return Decision{}, errUnanswered
	}
	return Decision{Unadded: true, Notice: FixOffer{
		Number: m.Number, Changes: m.Changes,
		Score: [2]int{r.A, r.B}, Sets: r.setScores(),
		Was: OldScore{Score: [2]int{m.Result.A, m.Result.B}, Sets: m.Result.setScores()},
	}}, nil
}

// FixOffer offers to fix the score of a match whose command was edited. All scores are in the order of the command.
type FixOffer struct {
	Number  int        `json:"number"`
	Changes int        `json:"changes,omitempty"` // of the match so far
	Score   [2]int     `json:"score"`             // from the edited command
	Sets    []SetScore `json:"sets,omitempty"`
	Was     OldScore   `json:"was"` // the stored score
}

var _ = notice.Register[FixOffer](notice.Kind{Name: "fix_offer", Purpose: notice.Answer, Alone: true})
