package ranking

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// TakeBack says which match is to be undone or corrected, and how to find out whether the sender is an admin of the
// chat. That is asked only when it matters.
type Amendment struct {
	Match   MatchRef
	IsAdmin func(context.Context) (bool, error)
}

// takeBack is what undoing and correcting a match have in common: which match it is, and who may.
type amendment struct {
	Amendment
	origin Origin
	window time.Duration // how long those who played or reported may
	log    *slog.Logger
	admin  *bool // whether the sender is an admin, once it is known
}

func (s *Service) amendment(o Origin, t Amendment) *amendment {
	return &amendment{Amendment: t, origin: o, window: s.settings.UndoWindow, log: s.log}
}

// people are those whom the command concerns: the sender.
func (t *amendment) people() participants {
	if t.origin.Sender == nil {
		return nil
	}
	return participants{*t.origin.Sender}
}

// find refuses when there is no such match, or it does not count any more.
func (t *amendment) find(snap Snapshot) Notice {
	ref, m := t.Match, snap.Match
	last := ref == MatchRef{}
	switch {
	case last && t.origin.Sender == nil:
		return Refusal{Code: WhichMatch}
	case m == nil && ref.Number != 0:
		return Refusal{Code: NoSuchMatch, Number: ref.Number}
	case m == nil && !last:
		return Refusal{Code: NotAboutAMatch}
	case m == nil, last && t.expired(m):
		return Refusal{Code: NothingOfYours, Minutes: t.minutes()}
	case m.Undone:
		return Refusal{Code: UndoneAlready, Number: m.Number}
	}
	return nil
}

// permit refuses whoever may not.
func (t *amendment) permit(ctx context.Context, snap Snapshot) Notice {
	m, concerned := snap.Match, false
	if t.origin.Sender != nil && snap.People[0].Player != nil {
		sender := snap.People[0].Player.ID
		concerned = sender == m.ReportedBy || slices.Contains(m.players(), sender)
	}
	if concerned && !t.expired(m) {
		return nil
	}
	if t.admin == nil {
		admin, err := t.IsAdmin(ctx)
		if err != nil {
			t.log.WarnContext(ctx, "cannot find out who is an admin", "key", t.origin.Key, "chat_id", t.origin.Chat.ID,
				"error", err)
			return Refusal{Code: AdminsUnknown, Number: m.Number}
		}
		t.admin = &admin
	}
	switch {
	case *t.admin:
		return nil
	case concerned:
		return Refusal{Code: TooLate, Number: m.Number, Minutes: t.minutes()}
	default:
		return Refusal{Code: NotYours, Number: m.Number}
	}
}

func (t *amendment) expired(m *StoredMatch) bool { return t.origin.SentAt.Sub(m.PlayedAt) > t.window }

func (t *amendment) minutes() int { return int(t.window / time.Minute) }

// by returns who takes the match back, as the store knows them and as notices tell it.
func (t *amendment) by(snap Snapshot) (PlayerID, Reporter) {
	if t.origin.Sender == nil {
		return 0, Reporter{}
	}
	name := names(snap.People)[0]
	return snap.People[0].Player.ID, Reporter{Name: &name}
}

// replay plays the course again that begins with the match, the match itself changed. It returns what that changes, and
// the match as the course has it.
func (t *amendment) replay(snap Snapshot, reason Reason, change func(*PlayedMatch)) (Rewrite, PlayedMatch, error) {
	id := snap.Match.ID
	i := slices.IndexFunc(snap.MatchHistory.Matches, func(m PlayedMatch) bool { return m.ID == id })
	if i < 0 {
		return Rewrite{}, PlayedMatch{}, fmt.Errorf("%w: match %d has no players", ErrInconsistent, snap.Match.Number)
	}
	w, err := snap.MatchHistory.replay(reason, func(m *PlayedMatch) {
		if m.ID == id {
			change(m)
		}
	})
	return w, snap.MatchHistory.Matches[i], err
}

// cardOf returns what the card says of a match that has this result and these entries of the history, which are in the
// order of its parts.
func (c MatchHistory) cardOf(s *StoredMatch, r Result, parts []Part, entries []Entry) MatchRecorded {
	n := card(r, c.sides(parts, entries), s.Turned)
	n.Number = s.Number
	switch {
	case s.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(s.players(), s.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Name: s.Reporter}}
	}
	return n
}

// sides returns side A and side B of a match as cards tell them.
func (c MatchHistory) sides(parts []Part, entries []Entry) (sides [2]Side) {
	for i, p := range parts {
		var name Name
		if at := slices.IndexFunc(c.Standings, func(s RankedPlayer) bool { return s.Player == p.Player }); at >= 0 {
			name = c.Standings[at].Called()
		}
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{Name: name, Before: entries[i].Before, After: entries[i].After})
	}
	return sides
}
