package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Amendment says which match to undo, restore or fix. IsAdmin says whether the sender is an admin of the chat.
type Amendment struct {
	Match   MatchRef
	IsAdmin func(context.Context) (bool, error)
	// Changes is how often the match had changed when the pressed button was made, nil if no button was pressed. If it has changed since,
	// the press is refused.
	Changes *int
}

// amendOperation is the common part of undoOperation, restoreOperation, fixOperation and playersAnswer: how to find the match, and who may amend
// it.
type amendOperation struct {
	plain
	Amendment
	command string // its name
	origin  Origin
	window  time.Duration // how long players and the reporter may amend the match
	longest int           // number of later matches that may be replayed

	// What follows from the snapshot.
	found   *StoredMatch  // the match that is meant, nil if there is none
	several []StoredMatch // the matches of the message that is meant, if there are several; then found is nil
	history MatchHistory  // of its season from the match on
}

func (s *Service) amendment(o Origin, command string, a Amendment) amendOperation {
	return amendOperation{Amendment: a, command: command, origin: o, window: s.settings.UndoWindow, longest: s.settings.LongestReplay}
}

// amend handles an amendment.
func (s *Service) amend(ctx context.Context, name string, o Origin, a Amendment, op operation) error {
	return s.handle(ctx, o, job{name: name, bucket: RateResult, isAdmin: a.IsAdmin, locks: true, operation: op})
}

func (a amendOperation) needs() Needs {
	people := senderOf(a.origin)
	return Needs{People: people, New: len(people), Match: &a.Match, ReportedSince: a.origin.SentAt.Add(-a.window)}
}

// with returns the operation with the match that it finds in the snapshot.
func (a amendOperation) with(snap Snapshot) amendOperation {
	a.found, a.several = nil, nil
	if len(snap.Matches) == 1 {
		a.found = &snap.Matches[0]
	} else {
		a.several = snap.Matches
	}
	return a
}

// refusal returns a refusal if the match cannot be found or changed, is already undone, or is the sender's last one but too old.
func (a amendOperation) refusal() Notice {
	ref, m := a.Match, a.found
	last := ref == MatchRef{}
	switch {
	case last && a.origin.Sender == nil:
		return Refusal{Code: WhichMatch}
	case a.isGone():
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
	return a.cannotChange()
}

// cannotChange returns a refusal if the match has changed since the pressed button was made, or if its replay would take longer than an
// attempt may.
func (a amendOperation) cannotChange() Notice {
	m := a.found
	switch {
	case a.isStale():
		return Refusal{Code: ChangedSince, Number: m.Number}
	case m.Later > a.longest:
		return Refusal{Code: TooFarBack, Number: m.Number, Matches: m.Later}
	}
	return nil
}

// isGone is true if the match of a button cannot be found: there is none, or the one that is found is another one.
func (a amendOperation) isGone() bool {
	if a.found == nil {
		return a.Match.Tag != "" || a.Changes != nil
	}
	return a.Match.Tag != "" && a.Match.Tag != TagOf(a.found.Key)
}

// isStale is true if the match has changed since the pressed button was made.
func (a amendOperation) isStale() bool { return a.Changes != nil && *a.Changes != a.found.Changes }

// involved returns the permission of those who play in the match or reported it.
func (a amendOperation) involved(snap Snapshot) Permission {
	m, p := a.found, Permission{Who: Involved, Refusal: Refusal{Code: NotYours, Number: a.found.Number}}
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
	return a.origin.SentAt.Sub(m.PlayedAt) > a.window
}

func (a amendOperation) minutes() int { return int(a.window / time.Minute) }

// amended returns the part of the effect that is common to all amendments.
func (a amendOperation) amended(by PlayerID, rewrite Rewrite, card MatchRecorded) Amended {
	card.Tag, card.Season = TagOf(a.found.Key), a.history.Over
	return Amended{Match: a.found.ID, Changes: a.found.Changes, By: by, Rewrite: rewrite, Card: card}
}

// by returns who amends the match: the player, and the reporter that the notice names.
func (a amendOperation) by(snap Snapshot) (PlayerID, Reporter) {
	if a.origin.Sender == nil {
		return 0, Reporter{}
	}
	name := snap.senderName()
	return name.Player, Reporter{Name: &name}
}

// replay applies change to the match and replays the ladder from there. It returns the rewrite, and the match as it was before the change.
func (a amendOperation) replay(reason Reason, change func(*PlayedMatch)) (Rewrite, PlayedMatch, error) {
	played, err := a.played()
	if err != nil {
		return Rewrite{}, PlayedMatch{}, err
	}
	rewrite, err := a.history.replay(reason, func(m *PlayedMatch) {
		if m.ID == played.ID {
			change(m)
		}
	})
	return rewrite, played, err
}

// played returns the match in the history.
func (a amendOperation) played() (PlayedMatch, error) {
	i := slices.IndexFunc(a.history.Matches, func(m PlayedMatch) bool { return m.ID == a.found.ID })
	if i < 0 {
		return PlayedMatch{}, fmt.Errorf("%w: match %d has no players", ErrInconsistent, a.found.Number)
	}
	return a.history.Matches[i], nil
}
