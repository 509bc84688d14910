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

// editedReport is a report whose message was handled before and has been edited. The matches that
// it has recorded stay. What the message reports besides is recorded, each under a key of the
// message that is still free. If it reports another score for the only match, or other players, it
// offers to correct that match. If all that it adds is the name of another ladder, it says how to
// move the match there. Nobody is asked what an edit means, and other edits get no answer.
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

// about returns the match that it offers to correct.
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

func (e editedReport) decide(snap *Snapshot) (Decision, need, error) {
	switch now := e.compare(snap); {
	case now.open != nil:
		return decideUnlessRefused(now.open, snap)
	case now.corrected != nil:
		return e.offerFix(snap, now), nil, nil
	case now.replaced != nil:
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

// comparison is what an edited message reports, compared with the matches that it has recorded.
type comparison struct {
	open      *recordOperation // what it has not recorded, nil for nothing
	corrected *StoredMatch     // the only match, if the same people have played it with another result
	result    ladder.Result    // that one, in the order of the recorded match
	exchanged bool             // the message names the sides the other way round
	replaced  *StoredMatch     // the only match, if others have played
	elsewhere *StoredMatch     // a match that is in another ladder than the message names, if nothing else has changed
}

// compare compares the report with the recorded matches. It is empty if somebody else has reported them, or if one of them is not there any
// more: it may have been changed into any other one.
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

// has reports whether the match has this result, or has got its score since it was reported without
// one. What ended early got none.
func (m *StoredMatch) has(r ladder.Result) bool {
	return r.Equal(m.Result) || !r.HasPoints() && r.Games == "" && r.IsSame(m.Result)
}

// offerFix offers to fix a match, or says that it is undone. If the message names the sides the other way round, so that the other one has
// won, it offers that.
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

// winnerOffer offers a result that makes the loser of the match its winner.
func (m *StoredMatch) winnerOffer(r ladder.Result) WinnerOffer {
	card := m.unrated(r)
	return WinnerOffer{Number: m.Number, Tag: TagOf(m.Key), Changes: m.Changes, Sides: card.Sides, Sets: card.Sets}
}

// moveHint says how to move a match to the ladder that the message names.
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

// MoveHint says how to move a match whose command was edited to name another ladder.
type MoveHint struct {
	Number int    `json:"number"`
	In     string `json:"in"` // the ladder where the match is
	To     string `json:"to"` // the one that the edited command names
}

var _ = notice.Register[MoveHint](notice.Kind{Name: "move_hint", Purpose: notice.Answer})

// FixOffer offers to fix the score of a match whose command was edited. All scores are in the order of the command.
type FixOffer struct {
	Number    int        `json:"number"`
	Tag       MatchTag   `json:"tag"`
	Changes   int        `json:"changes,omitempty"`   // of the match so far
	Exchanged bool       `json:"exchanged,omitempty"` // the card has the sides in the other order
	Score     [2]int     `json:"score"`               // from the edited command
	Sets      []SetScore `json:"sets,omitempty"`
	Was       OldScore   `json:"was"` // the stored score
}

var _ = notice.Register[FixOffer](notice.Kind{Name: "fix_offer", Purpose: notice.Answer, Alone: true})
