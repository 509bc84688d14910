package pgranking_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestRoundTrips checks that each command takes the expected number of round trips to the server.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	t.Run("under no lease", func(t *testing.T) {
		t.Parallel()
		countRoundTrips(t, func(s *pgranking.Store, _ *pgxpool.Pool) *pgranking.Store { return s }, 1+1)
	})
	t.Run("under a lease", func(t *testing.T) {
		t.Parallel()
		countRoundTrips(t, func(s *pgranking.Store, pool *pgxpool.Pool) *pgranking.Store {
			lease := postgres.NewLease(pool, postgres.LeaderLease, "a", time.Hour)
			dbtest.Acquire(t, lease, true)
			return s.WithLease(lease)
		}, 1+2)
	})
}

// countRoundTrips checks how many round trips each command takes in the store that under returns
// for a new store and its pool. After a failed write, pgx no longer trusts its prepared statements.
// The parameter again is the number of round trips that pgx needs to drop them and prepare them
// again.
func countRoundTrips(t *testing.T, under func(*pgranking.Store, *pgxpool.Pool) *pgranking.Store, again int64) {
	t.Helper()
	d := pgtest.Borrow(t)
	p := dbtest.NewProxy(t, d.URL)
	pool := dbtest.Open(t, p.URL, func(c *pgxpool.Config) {
		c.MaxConns = 1
		// Disable pings: on a slow machine, the connection may be idle for so long that pgx would
		// ping it.
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	})
	store := under(pgranking.NewStore(pool, dbtest.Ignore), pool)
	questions := stats.NewService(pgstats.NewStore(pool, pool))
	service := ranking.NewService(store, questions, dbtest.Admins{}, slog.New(slog.DiscardHandler), ranking.Settings{})
	origin := func(key string) ranking.Origin {
		return ranking.Origin{Key: key, Chat: club, Sender: &carol, SentAt: time.Unix(1_700_000_000, 0)}
	}
	record := func(key string) error {
		return service.Do(t.Context(), origin(key), dbtest.Reported(aliceBeatsBob))
	}
	ids := int64(1000)
	newcomer := func() command.Person {
		ids++
		return command.Person{ID: ladder.UserID(ids), Username: fmt.Sprint("user_", ids), Name: fmt.Sprint("User ", ids)}
	}
	var settings int // number of settings changed so far
	commands := []struct {
		name string
		run  func(key string) error
		want int64
	}{
		{"match", record, 2},
		{"edited match", func(key string) error {
			o := origin(key)
			o.Message, o.Trigger = "m:"+key, ranking.ByEdit
			return service.Do(t.Context(), o, dbtest.Reported(aliceBeatsBob))
		}, 2},
		{"match of new people", func(key string) error {
			return service.Do(t.Context(), origin(key), dbtest.Reported(dbtest.Singles(newcomer(), newcomer(), won)))
		}, 2 + 1},
		{"match under another name", func(key string) error {
			renamed := alice
			renamed.Name = newcomer().Name
			return service.Do(t.Context(), origin(key), dbtest.Reported(dbtest.Singles(renamed, bob, won)))
		}, 2},
		{"match in a new chat", func(key string) error {
			o := origin(key)
			ids++
			o.Chat = ranking.Chat{ID: ranking.ExternalChatID(-ids), Kind: ranking.Group, Title: key}
			return service.Do(t.Context(), o, dbtest.Reported(aliceBeatsBob))
		}, 2},
		{"match after a conflict", func(key string) error {
			foreign := func() { dbtest.Exec(t, d.Pool, `UPDATE group_players SET version = version + 1 WHERE name = 'Bob'`) }
			return dbtest.Service(meddler{store, foreign}).Do(t.Context(), origin(key), dbtest.Reported(aliceBeatsBob))
		}, 2 + 2 + again},
		{"undo", func(key string) error {
			return service.Do(t.Context(), origin(key), ranking.UndoMatch{Amendment: ranking.Amendment{}})
		}, 3},
		{"page", func(key string) error {
			o := origin(key)
			o.Button, o.Pressed = key, 7
			return service.Do(t.Context(), o, ranking.Ask{Question: stats.RankingQuestion{Page: 1, Asker: carol.ID}})
		}, 2 + 1},
		{"ranking", func(key string) error {
			return service.Do(t.Context(), origin(key), ranking.Ask{Question: stats.RankingQuestion{Page: 1}})
		}, 2 + 1},
		{"join", func(key string) error { return service.Do(t.Context(), origin(key), ranking.Join{}) }, 2},
		{"answer", func(key string) error {
			return service.Do(t.Context(), origin(key), ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}})
		}, 2},
		{"setting", func(key string) error {
			o := origin(key)
			o.Button, o.Pressed = key, 7
			k, _ := ranking.FindSetting("k")
			value := k.Choices[settings%len(k.Choices)]
			settings++
			return service.Do(dbtest.AsAdmin(t.Context()), o, ranking.ChangeSetting{Setting: k, Value: value})
		}, 2},
		{"delivered again", func(string) error { return record("warm match 1") }, 2},
	}
	for _, warm := range []string{"warm ", "warmer "} { // a first match uses other statements
		for _, c := range commands {
			for _, n := range []string{" 1", " 2"} {
				dbtest.Must(t, c.run(warm+c.name+n))
			}
		}
	}
	dbtest.Must(t, record("under her own name again"))
	for _, c := range commands {
		before := p.Syncs.Load()
		dbtest.Must(t, c.run("counted "+c.name))
		if got := p.Syncs.Load() - before; got != c.want {
			t.Errorf("%s takes %d round trips, want %d", c.name, got, c.want)
		}
	}
	if got := dbtest.Value[int](t, pool, `SELECT count(*) FROM matches`); got != 31 {
		t.Errorf("there are %d matches, want 31", got)
	}
}
