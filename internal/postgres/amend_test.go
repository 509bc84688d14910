package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/ranking"
)

// service returns a service on a store, with retries as in production.
func service(store ranking.Store) *ranking.Service {
	return ranking.NewService(store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})
}

// sentAt is when the commands here were sent: recent enough to be answered.
var sentAt = time.Now().Truncate(time.Second)

// by is the origin of a command that a person sends in the club.
func by(key string, sender ranking.Person) ranking.Origin {
	return ranking.Origin{Key: key, Chat: club, Sender: &sender, SentAt: sentAt, ReplyTo: 7, Thread: 8}
}

// number is an amendment of the match with that number, by a person who is no admin.
func number(n int) ranking.Amendment {
	return ranking.Amendment{
		Match:   ranking.MatchRef{Number: n},
		IsAdmin: func(context.Context) (bool, error) { return false, nil },
	}
}

func singles(a, b ranking.Person, scores ...ranking.Score) ranking.Report {
	return ranking.Report{A: []ranking.Person{a}, B: []ranking.Person{b}, Scores: scores}
}

// record makes Bob report a match.
func (w *world) record(t *testing.T, key string, a, b ranking.Person, scoreA, scoreB int) {
	t.Helper()
	report := singles(a, b, ranking.Score{A: scoreA, B: scoreB})
	if err := service(w.store).RecordMatch(t.Context(), by(key, bob), report); err != nil {
		t.Fatal(err)
	}
}

func (w *world) undo(t *testing.T, key string, sender ranking.Person, n int) {
	t.Helper()
	if err := service(w.store).UndoMatch(t.Context(), by(key, sender), number(n)); err != nil {
		t.Fatal(err)
	}
	if !value[bool](t, w.pool, `SELECT undone_at IS NOT NULL FROM matches WHERE number = $1 AND group_id = 1`, n) {
		t.Fatalf("match %d is not undone", n)
	}
}

func (w *world) fix(t *testing.T, key string, sender ranking.Person, n int, scores ...ranking.Score) {
	t.Helper()
	if err := service(w.store).FixMatch(t.Context(), by(key, sender), number(n), scores); err != nil {
		t.Fatal(err)
	}
	if !value[bool](t, w.pool, `SELECT EXISTS (SELECT FROM match_fixes f JOIN matches m ON m.id = f.match_id WHERE m.number = $1)`, n) {
		t.Fatalf("match %d is not fixed", n)
	}
}

// answer answers a command, which records the profile of the sender.
func (w *world) answer(t *testing.T, key string, sender ranking.Person) {
	t.Helper()
	err := service(w.store).Answer(t.Context(), by(key, sender), ranking.Refusal{Code: ranking.NoDraws})
	if err != nil {
		t.Fatal(err)
	}
}

var errPlanned = errors.New("only planned")

// planner is a store that keeps the first changes it is asked to apply, and applies nothing.
type planner struct {
	ranking.Store
	changes *ranking.Changes
}

func (p planner) Apply(_ context.Context, c ranking.Changes) error {
	*p.changes = c
	return errPlanned
}

func (p planner) WithGroupLock(ctx context.Context, chat ranking.ExternalChatID,
	fn func(context.Context, ranking.Store) error,
) error {
	return p.Store.WithGroupLock(ctx, chat, func(ctx context.Context, inside ranking.Store) error {
		return fn(ctx, planner{inside, p.changes})
	})
}

// plan returns what a command would change now.
func (w *world) plan(t *testing.T, command func(*ranking.Service) error) ranking.Changes {
	t.Helper()
	var c ranking.Changes
	if err := command(service(planner{w.store, &c})); !errors.Is(err, errPlanned) {
		t.Fatalf("error is %v", err)
	}
	return c
}

// commands amend the matches of newAmendable.
var commands = map[string]func(context.Context, *ranking.Service) error{
	"match": func(ctx context.Context, s *ranking.Service) error {
		return s.RecordMatch(ctx, by("k", carol), aliceBeatsBob)
	},
	"undo": func(ctx context.Context, s *ranking.Service) error {
		return s.UndoMatch(ctx, by("k", alice), number(2))
	},
	"fix": func(ctx context.Context, s *ranking.Service) error {
		return s.FixMatch(ctx, by("k", alice), number(2), []ranking.Score{{A: 11, B: 7}, {A: 7, B: 11}, {A: 8, B: 11}})
	},
}

// newAmendable returns a world with four matches; later ones depend on the second.
func newAmendable(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, alice, bob, carol)
	w.record(t, "m1", alice, carol, 3, 1)
	w.record(t, "m2", alice, bob, 3, 1)
	w.record(t, "m3", bob, alice, 2, 2)
	w.record(t, "m4", bob, carol, 3, 1)
	return w
}
