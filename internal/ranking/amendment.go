package ranking

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/ladder"
)

// Amendment identifies the match to undo, restore, fix or move.
type Amendment struct {
	Match MatchRef
	// Changes is the match's change count when the pressed button was made, nil for a typed
	// command. If the count has changed since, the press is refused.
	Changes *int
}

// amendOperation is the common part of the operations that amend a match.
type amendOperation struct {
	plain
	Amendment
	command string // the command's name in a RejectedResult
	origin  Origin
	window  time.Duration // Settings.UndoWindow
	longest int           // Settings.LongestReplay
}

func (s *Service) amendment(c *call, command string, a Amendment) amendOperation {
	return amendOperation{
		Amendment: a, command: command, origin: c.Origin, window: s.settings.UndoWindow, longest: s.settings.LongestReplay,
	}
}

func (c *call) amending(name string, op operation) *call {
	return c.with(job{name: name, bucket: RateResult, ofAdmins: true, locks: true, operation: op})
}

func (a amendOperation) needs() Needs {
	people := senderOf(a.origin)
	return Needs{People: people, New: len(people), Match: &a.Match, ReportedSince: a.origin.SentAt.Add(-a.window)}
}

// found returns the match to amend. It returns nil if there is none, or if the MatchRef identifies
// several.
func (a amendOperation) found(snap *Snapshot) *StoredMatch {
	if len(snap.Matches) != 1 {
		return nil
	}
	return &snap.Matches[0]
}

func (a amendOperation) about(snap *Snapshot) subject { return subject{amended: a.found(snap)} }

// refusal makes the checks that undoing, fixing and moving a match have in common. It returns a
// refusal if one of them fails, otherwise nil. m is the match to amend, nil if no single match was
// found.
func (a amendOperation) refusal(m *StoredMatch) Notice {
	ref := a.Match
	last := ref == MatchRef{}
	switch {
	case last && a.origin.Sender == nil:
		return Refusal{Code: WhichMatch}
	case a.isGone(m):
		return Refusal{Code: MatchGone}
	case m == nil && ref.Number != 0:
		return Refusal{Code: NoSuchMatch, Number: ref.Number}
	case m == nil && !last:
		return Refusal{Code: NotAboutAMatch}
	case m == nil, last && a.expired(m):
		return Refusal{Code: NothingOfYours, Minutes: a.minutes()}
	case m.Undone:
		refusal := Refusal{Code: UndoneAlready, Number: m.Number}
		if !m.SamePerson && a.origin.SentAt.Sub(m.UndoneAt) <= a.window {
			refusal.Minutes = a.minutes()
		}
		return refusal
	}
	return a.cannotChange(m)
}

// cannotChange returns a refusal if the match has changed since the pressed button was made, or if
// the group has too many later matches. Otherwise, it returns nil.
func (a amendOperation) cannotChange(m *StoredMatch) Notice {
	switch {
	case a.isStale(m):
		return Refusal{Code: ChangedSince, Number: m.Number}
	case m.Later > a.longest:
		return Refusal{Code: TooFarBack, Number: m.Number, Matches: m.Later}
	}
	return nil
}

// isGone reports whether the group no longer has the match that a button identifies. Another match
// may now have its number.
func (a amendOperation) isGone(m *StoredMatch) bool {
	if m == nil {
		return a.Match.Tag != "" || a.Changes != nil
	}
	return a.Match.Tag != "" && a.Match.Tag != TagOf(m.Key)
}

// isStale reports whether the match has changed since the pressed button was made.
func (a amendOperation) isStale(m *StoredMatch) bool {
	return a.Changes != nil && *a.Changes != m.Changes
}

func (a amendOperation) permission(snap *Snapshot) Permission { return a.involved(snap, a.found(snap)) }

// involved returns who may undo, fix or move the match: its players and its reporter within the
// undo window, and admins at any time. In a season that is over, only admins may.
func (a amendOperation) involved(snap *Snapshot, m *StoredMatch) Permission {
	p := Permission{Who: Involved, Refusal: Refusal{Code: NotYours, Number: m.Number}}
	if snap.isOver(m.Season) {
		return correctedByAdmins(m)
	}
	if a.origin.Sender == nil || snap.People[0].Player == nil {
		return p
	}
	sender := snap.People[0].Player.ID
	if sender != m.ReportedBy && !slices.Contains(m.players(), sender) {
		return p
	}
	p.Involved = !a.expired(m)
	p.Refusal = Refusal{Code: TooLate, Number: m.Number, Minutes: a.minutes()}
	return p
}

func (a amendOperation) expired(m *StoredMatch) bool {
	return a.origin.SentAt.Sub(m.ReportedAt) > a.window
}

func (a amendOperation) minutes() int { return int(a.window / time.Minute) }

// by returns the sender's player, and the sender as the Reporter of the notice. Both are zero if
// the origin has no Sender.
func (a amendOperation) by(snap *Snapshot) (ladder.PlayerID, Reporter) {
	if a.origin.Sender == nil {
		return 0, Reporter{}
	}
	name := snap.senderName()
	return name.Player, Reporter{Name: &name}
}

// amended replays the match's season from the match on, with the match as modified by change. The
// snapshot must have the History of that season. amended returns the effect, and a MatchUndone with
// the facts that the notices of all amendments share.
func (a amendOperation) amended(
	snap *Snapshot, m *StoredMatch, reason ladder.Reason, change func(*ladder.Match),
) (Amended, MatchUndone, error) {
	var changed ladder.Match
	rewrite, err := snap.History.Replay(reason, func(p *ladder.Match) {
		if p.ID == m.ID {
			change(p)
			changed = *p
		}
	})
	if err == nil && changed.ID == 0 {
		err = fmt.Errorf("%w: match %d has no players", ladder.ErrInconsistent, m.Number)
	}
	if err != nil {
		return Amended{}, MatchUndone{}, err
	}
	by, reporter := a.by(snap)
	card := cardOf(m.RecentMatch, changed.Result, m.swappedFor(changed.Result), changed.Parts, rewrite.EntriesOf(changed))
	card.Changes, card.Season = m.Changes+1, snap.History.Over
	said := MatchUndone{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, By: reporter,
		Moved: moved(*snap.History, rewrite, slices.Concat(card.players(), m.players())),
	}
	return Amended{Match: m.ID, Changes: m.Changes, By: by, Rewrite: rewrite, Card: card}, said, nil
}
