package dbtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// Service returns a service on a store, with retries as in production and without a limit on
// results. It cannot answer questions.
func Service(store ranking.Store) *ranking.Service { return Answering(store, nil) }

// Answering is like Service, but the service answers questions with answerer.
func Answering(store ranking.Store, answerer ranking.Answerer) *ranking.Service {
	return ranking.NewService(store, answerer, Admins{}, slog.New(slog.DiscardHandler),
		ranking.Settings{ResultsPerMinute: -1})
}

// IsAdmin reports whether a sender is an admin.
type IsAdmin func(context.Context) (bool, error)

// Admins implements ranking.Admins with the IsAdmin in the context of the call; see WithAdmin.
// Without an IsAdmin, no sender is an admin.
type Admins struct{}

type adminKey struct{}

// WithAdmin returns a context in which Admins calls isAdmin to decide whether a sender is an admin.
func WithAdmin(ctx context.Context, isAdmin IsAdmin) context.Context {
	return context.WithValue(ctx, adminKey{}, isAdmin)
}

// AsAdmin returns a context in which every sender is an admin.
func AsAdmin(ctx context.Context) context.Context {
	return WithAdmin(ctx, func(context.Context) (bool, error) { return true, nil })
}

// IsAdmin implements ranking.Admins.
func (Admins) IsAdmin(ctx context.Context, _ ranking.ExternalChatID, _ ladder.UserID) (bool, error) {
	if isAdmin, ok := ctx.Value(adminKey{}).(IsAdmin); ok {
		return isAdmin(ctx)
	}
	return false, nil
}

// SentAt is the time at which the commands of By are sent. It is recent enough for the commands to
// get answers.
var SentAt = time.Now().Truncate(time.Second)

// By returns the origin of a command that a person sends in the club, with the given idempotency
// key.
func By(key string, sender command.Person) ranking.Origin {
	return ranking.Origin{Key: key, Chat: Club, Sender: &sender, SentAt: SentAt,
		Place: ranking.Place{ReplyTo: 7, Thread: 8}}
}

// Number returns an amendment that refers to match n by its number.
func Number(n int) ranking.Amendment {
	return ranking.Amendment{Match: ranking.MatchRef{Number: n}}
}

// Singles returns a report of a match of one against one.
func Singles(a, b command.Person, scores ...ladder.Score) command.Match {
	return command.Match{A: []command.Person{a}, B: []command.Person{b}, Scores: scores}
}

// Reported returns the operation for a message that reports matches.
func Reported(reports ...command.Match) ranking.ReadReport {
	return ranking.ReadReport{Parsed: &ranking.Parsed{Reports: reports}}
}

// Record makes Bob report a match between a and b in the club. key is the command's idempotency
// key.
func (w *World) Record(t *testing.T, key string, a, b command.Person, scoreA, scoreB int) {
	t.Helper()
	report := Singles(a, b, ladder.Score{A: scoreA, B: scoreB})
	Must(t, Service(w.Store).Do(t.Context(), By(key, Bob), Reported(report)))
}

// Undo undoes match n of the club, by a command of the sender with the given idempotency key.
func (w *World) Undo(t *testing.T, key string, sender command.Person, n int) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.UndoMatch{Amendment: Number(n)}))
	if !Value[bool](t, w.Pool, `SELECT undone_at IS NOT NULL FROM matches WHERE number = $1 AND group_id = 1`, n) {
		t.Fatalf("match %d is not undone", n)
	}
}

// Restore is like Undo, but restores match n, which was undone.
func (w *World) Restore(t *testing.T, key string, sender command.Person, n int) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.RestoreMatch{Amendment: Number(n)}))
	if !Value[bool](t, w.Pool, `SELECT undone_at IS NULL FROM matches WHERE number = $1 AND group_id = 1`, n) {
		t.Fatalf("match %d is not restored", n)
	}
}

// Fix is like Undo, but corrects the scores of match n.
func (w *World) Fix(t *testing.T, key string, sender command.Person, n int, scores ...ladder.Score) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.FixMatch{Amendment: Number(n), Scores: scores}))
	if !Value[bool](t, w.Pool, `
		SELECT EXISTS (SELECT FROM match_fixes f JOIN matches m ON m.id = f.match_id WHERE m.number = $1)`, n) {
		t.Fatalf("match %d is not fixed", n)
	}
}

// Answer answers a command with a refusal. This also stores what the command shows about its
// sender.
func (w *World) Answer(t *testing.T, key string, sender command.Person) {
	t.Helper()
	err := Service(w.Store).Do(t.Context(), By(key, sender), ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}})
	Must(t, err)
}
