package pgranking_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestCommitAfterItsTimeout checks that if a stalled server commits a command after the command's
// caller has given up, a retry finds the command handled when it reads or writes, and wakes the
// lanes of the command's chat.
func TestCommitAfterItsTimeout(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]bool{"found when it is read": false, "found when it is written": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice)
			dbtest.Define(t, w.Pool, "wait", `
				CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
				    AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NULL; END';
				CREATE TRIGGER wait BEFORE INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION wait();
				ALTER FUNCTION wait() SET lock_timeout = 0`)
			holder := dbtest.Begin(t, w.Pool)
			if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_xact_lock(77)`); err != nil {
				t.Fatal(err)
			}
			p := dbtest.NewProxy(t, w.Pool.Config().ConnString())
			pool, err := postgres.Open(t.Context(), p.URL, time.Minute, slog.New(slog.DiscardHandler))
			dbtest.Must(t, err)
			t.Cleanup(pool.Close)
			// Open a session now, because none can be opened later.
			if err := pool.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.Away.Store(true) // the cancel request must not arrive either
			ask := func(ctx context.Context, store ranking.Store) error {
				return dbtest.Service(store).Do(ctx, dbtest.By("m:-100:7", alice), ranking.Say{Notice: stats.RankingPage{}})
			}
			ctx, giveUp := context.WithCancel(t.Context())
			first := dbtest.Start(func() error { return ask(ctx, pgranking.NewStore(pool, dbtest.Ignore)) })
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			giveUp()
			if err := dbtest.Receive(t, first); err == nil {
				t.Fatal("the first attempt was not given up")
			}
			var woken []outbox.Lane
			again := pgranking.NewStore(w.Pool, func(l outbox.Lane) { woken = append(woken, l) })
			var second <-chan error
			if meanwhile {
				second = dbtest.Start(func() error { return ask(t.Context(), again) })
				dbtest.Await(t, w.Pool, `SELECT count(*) = 2 FROM pg_stat_activity
					WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
			}
			dbtest.Must(t, holder.Rollback(t.Context()))
			if !meanwhile {
				dbtest.Await(t, w.Pool, `SELECT EXISTS (SELECT FROM handled_commands)`)
				second = dbtest.Start(func() error { return ask(t.Context(), again) })
			}
			dbtest.Must(t, dbtest.Receive(t, second))
			if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM outbox`); n != 1 {
				t.Errorf("%d answers", n)
			}
			dbtest.Equal(t, "woken", []outbox.Lane{
				dbtest.Chat(1), dbtest.Answers(1), dbtest.Pages(1), {Chat: 1, Kind: outbox.Boards},
			}, woken)
		})
	}
}
