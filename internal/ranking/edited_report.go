package ranking

import (
	"cmp"
	"slices"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// planEdit plans the edit of a message that was handled before.
func (r ReadReport) planEdit(s *Service, c *call) *call {
	edited := editedReport{origin: c.Origin, original: MatchRef{Message: c.ReplyTo, Key: c.edit}}
	needs := (&recordOperation{service: s, message: c.reportMessage()}).needs()
	needs.Match = &edited.original
	j := job{name: "handle edit", bucket: RateQuestion, knownChatOnly: true, silent: true, locks: true, reports: true}
	return r.reading(c.with(j), needs, func(said Parsed) operation {
		if len(said.Reports) > 0 && len(said.Reports) <= MaxReports {
			var people participants
			if rec, ok := s.newRecord(c.reportMessage(), said.Reports, &people); ok {
				people.complete(c.VisibleUsers)
				edited.record = rec
			}
		}
		return edited
	})
}

// editedReport is the edit of a report that was handled before. The matches recorded from it stay
// as they are. Unless the bot refuses or ignores the edit, it does one of three things:
//   - It records additional results, each under an unused key of the message, or asks about them.
//   - It offers to correct the only match, if the message now has another score or other players.
//   - It explains how to move a match, if the message now names another ladder and there is nothing
//     to record or correct.
//
// An edit with no valid reading, or with more than one, is ignored.
type editedReport struct {
	plain
	origin   Origin
	original MatchRef
	// record records all matches that the message reports now. It is nil unless the message has
	// exactly one valid reading.
	record *recordOperation
}

func (e editedReport) needs() Needs {
	needs := Needs{People: senderOf(e.origin)}
	if e.record != nil {
		needs = e.record.needs()
	}
	needs.Match = &e.original
	return needs
}

// about returns the match to correct or, if there is none, the subject of the record.
func (e editedReport) about(snap *Snapshot) subject {
	now := e.compare(snap)
	if m := cmp.Or(now.corrected, now.replaced); m != nil {
		return subject{amended: m}
	}
	return e.record.about(snap)
}

func (e editedReport) rejectedResults(snap *Snapshot) []RejectedResult {
	if open := e.compare(snap).open; open != nil {
		return open.rejectedResults(snap)
	}
	return nil
}

func (e editedReport) permission(snap *Snapshot) Permission {
	if open := e.compare(snap).open; open != nil {
		return open.permission(snap)
	}
	return Permission{}
}

func (e editedReport) decide(snap *Snapshot) (Decision, need, error) {
	switch now := e.compare(snap); {
	case now.open != nil:
		return decideUnlessRefused(now.open, snap)
	case now.corrected != nil:
		return e.offerFix(snap, now), nil, nil
	case now.replaced != nil:
		// If a player is probably a bot, offerPlayers offers nothing, and the edit is ignored.
		refusal, is := e.record.refusePlayers(snap, e.record.matches[0]).(Refusal)
		if is && refusal.Code != NotAPerson {
			return Decision{Unadded: true, Notice: refusal}, nil, nil
		}
		if q, ok := e.record.nearUsername(snap); ok {
			refusal := Refusal{Code: NoSuchPlayer, Name: "@" + q.Word, Near: new(NameOf(snap.near(q.Word)[0], Known{}))}
			return Decision{Unadded: true, Notice: refusal}, nil, nil
		}
		if d := e.offerPlayers(snap, now.replaced); d.Asks != nil {
			return d, nil, nil
		}
	case now.elsewhere != nil:
		return Decision{Unadded: true, Notice: e.moveHint(snap, now.elsewhere)}, nil, nil
	}
	return Decision{dropped: true}, nil, nil
}

// comparison holds the differences between an edited message and the matches recorded from it.
type comparison struct {
	open      *recordOperation // the results not recorded yet, nil for none
	corrected *StoredMatch     // the only match, if its result has changed but not its players
	result    ladder.Result    // the new result, in the order of the recorded match
	exchanged bool             // the message now has the sides in the opposite order
	replaced  *StoredMatch     // the only match, if its players have changed
	// elsewhere is a match that counts in a ladder other than the one named by the message. It is
	// set only if open, corrected and replaced are nil.
	elsewhere *StoredMatch
}

// compare compares the report with the recorded matches. The comparison is empty if there are no
// matches or no reading to compare, if one of the matches comes from another message, or if another
// person reported the matches. It is also empty if the players of a match are no longer in the
// report and there are several matches or several results, because the match may have been edited
// into any of the results.
func (e editedReport) compare(snap *Snapshot) (c comparison) {
	stored := snap.Matches
	if e.record == nil || len(stored) == 0 {
		return c
	}
	by := stored[0].ReportedBy // 0 for an anonymous admin
	if by != e.record.reportedBy(snap) || (by == 0) != (e.origin.Sender == nil) {
		return c
	}
	reported := e.record.matches
	found, keys := make([]bool, len(reported)), make(map[string]bool)
	find := func(m *StoredMatch, is func(reportedMatch) bool) bool {
		at := -1
		for i, r := range reported {
			if !found[i] && is(r) && (at < 0 || r.key == m.Key) { // prefer the line that recorded the match
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
		same := func(r reportedMatch) bool {
			result, _, ok := r.inOrderOf(m.Players, snap)
			return ok && m.has(result)
		}
		if !find(m, same) {
			changed = append(changed, m)
		}
	}
	for _, m := range changed {
		isFound := find(m, func(r reportedMatch) bool {
			_, _, ok := r.inOrderOf(m.Players, snap)
			return ok
		})
		switch isOnly := len(stored) == 1 && len(reported) == 1; {
		case isFound && isOnly:
			c.corrected = m
			c.result, c.exchanged, _ = reported[0].inOrderOf(m.Players, snap)
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
	} else if named := e.origin.Ladder; named != 0 && c.corrected == nil {
		if i := slices.IndexFunc(stored, func(m StoredMatch) bool { return m.Ladder != named && !m.Undone }); i >= 0 {
			c.elsewhere = &stored[i]
		}
	}
	return c
}

// has reports whether the match has the result r. If r has neither a score nor Games, a recorded
// score with the same outcome also matches, because it may have been added later.
func (m *StoredMatch) has(r ladder.Result) bool {
	return r.Equal(m.Result) || !r.HasPoints() && r.Games == "" && r.IsSame(m.Result)
}

// offerFix offers to fix a match. It refuses if the match is undone, and does nothing if the new
// result is a draw and the ladder does not allow draws. If the message now has the sides in the
// opposite order and the loser as the winner, offerFix returns a WinnerOffer instead of a FixOffer.
func (e editedReport) offerFix(snap *Snapshot, now comparison) Decision {
	m, r := now.corrected, now.result
	switch {
	case m.Undone:
		return Decision{Unadded: true, Notice: Refusal{Code: UndoneAlready, Number: m.Number}}
	case r.A == r.B && !snap.Ladder.DrawsAllowed:
		return Decision{dropped: true}
	case now.exchanged && (m.Result.A-m.Result.B)*(r.A-r.B) < 0:
		return Decision{Unadded: true, Notice: m.winnerOffer(r)}
	}
	return Decision{Unadded: true, Notice: FixOffer{
		Number: m.Number, Tag: TagOf(m.Key), Changes: m.Changes, Exchanged: m.SidesSwapped,
		Score: [2]int{r.A, r.B}, Sets: setScores(r), Was: shown(m.Result),
	}}
}

func (m *StoredMatch) winnerOffer(r ladder.Result) WinnerOffer {
	card := m.unrated(r)
	return WinnerOffer{Number: m.Number, Tag: TagOf(m.Key), Changes: m.Changes, Sides: card.Sides, Sets: card.Sets}
}

func (e editedReport) moveHint(snap *Snapshot, m *StoredMatch) MoveHint {
	hint := MoveHint{Number: m.Number}
	for _, l := range snap.Ladders {
		switch l.ID {
		case m.Ladder:
			hint.In = l.Name
		case e.origin.Ladder:
			hint.To = l.Name
		}
	}
	return hint
}

// MoveHint explains how to move a match, after an edit of its command has named another ladder.
type MoveHint struct {
	Number int    `json:"number"`
	In     string `json:"in"` // the match's ladder
	To     string `json:"to"` // the ladder in the edited command
}

var _ = notice.Register[MoveHint](notice.Kind{Name: "move_hint", Purpose: notice.Answer})

// FixOffer offers to fix the score of a match after an edit of its command. All scores are in the
// order of the original command.
type FixOffer struct {
	Number    int        `json:"number"`
	Tag       MatchTag   `json:"tag"`
	Changes   int        `json:"changes,omitempty"`   // the match's change count so far
	Exchanged bool       `json:"exchanged,omitempty"` // the card has the sides in the opposite order
	Score     [2]int     `json:"score"`               // from the edited command
	Sets      []SetScore `json:"sets,omitempty"`
	Was       OldScore   `json:"was"` // the stored score
}

var _ = notice.Register[FixOffer](notice.Kind{Name: "fix_offer", Purpose: notice.Answer, Alone: true})
