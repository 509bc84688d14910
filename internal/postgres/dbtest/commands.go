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

// Service returns a service on a store, with retries as in production.
func Service(store ranking.Store) *ranking.Service {
	return ranking.NewService(store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})
}

// SentAt is when the commands here were sent: recent enough to be answered.
var SentAt = time.Now().Truncate(time.Second)

// By is the origin of a command that a person sends in the club.
func By(key string, sender command.Person) ranking.Origin {
	return ranking.Origin{Key: key, Chat: Club, Sender: &sender, SentAt: SentAt, ReplyTo: 7, Thread: 8}
}

// Number is an amendment of the match with that number, by a person without admin rights.
func Number(n int) ranking.Amendment {
	return ranking.Amendment{
		Match:   ranking.MatchRef{Number: n},
		IsAdmin: func(context.Context) (bool, error) { return false, nil },
	}
}

// Singles is a report of a match of one against one.
func Singles(a, b command.Person, scores ...ladder.Score) command.Match {
	return command.Match{A: []command.Person{a}, B: []command.Person{b}, Scores: scores}
}

// Reported is a message that reports matches.
func Reported(reports ...command.Match) ranking.ReadReport {
	return ranking.ReadReport{Read: func([]command.Person) ranking.Reading { return ranking.Reading{Reports: reports} }}
}

// Record makes Bob report a match.
func (w *World) Record(t *testing.T, key string, a, b command.Person, scoreA, scoreB int) {
	t.Helper()
	report := Singles(a, b, ladder.Score{A: scoreA, B: scoreB})
	Must(t, Service(w.Store).Do(t.Context(), By(key, Bob), Reported(report)))
}

// Undo undoes the match with that number.
func (w *World) Undo(t *testing.T, key string, sender command.Person, n int) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.UndoMatch{Amendment: Number(n)}))
	if !Value[bool](t, w.Pool, `SELECT undone_at IS NOT NULL FROM matches WHERE number = $1 AND group_id = 1`, n) {
		t.Fatalf("match %d is not undone", n)
	}
}

// Restore takes the undo of the match with that number back.
func (w *World) Restore(t *testing.T, key string, sender command.Person, n int) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.RestoreMatch{Amendment: Number(n)}))
	if !Value[bool](t, w.Pool, `SELECT undone_at IS NULL FROM matches WHERE number = $1 AND group_id = 1`, n) {
		t.Fatalf("match %d is not restored", n)
	}
}

// Fix corrects the scores of the match with that number.
func (w *World) Fix(t *testing.T, key string, sender command.Person, n int, scores ...ladder.Score) {
	t.Helper()
	Must(t, Service(w.Store).Do(t.Context(), By(key, sender), ranking.FixMatch{Amendment: Number(n), Scores: scores}))
	if !Value[bool](t, w.Pool, `SELECT EXISTS (SELECT FROM match_fixes f JOIN matches m ON m.id = f.match_id WHERE m.number = $1)`, n) {
		t.Fatalf("match %d is not fixed", n)
	}
}

// Answer answers a command, which records the profile of the sender.
func (w *World) Answer(t *testing.T, key string, sender command.Person) {
	t.Helper()
	err := Service(w.Store).Do(t.Context(), By(key, sender), ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}})
	Must(t, err)
}
