package postgres_test

import (
	"context"
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
