package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgintake"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// writing is one kind of write by the leader.
type writing struct {
	method string // name of the method of ranking.Store, or a description
	do     func(ctx context.Context, lease *postgres.Lease) error
}

// writingsIn returns the writes of all methods of ranking.Store, and some other writes by the
// leader. In this order, each write changes something.
func writingsIn(t *testing.T, w *dbtest.World) []writing {
	t.Helper()
	by := func(change func(context.Context, *pgranking.Store) error) func(context.Context, *postgres.Lease) error {
		return func(ctx context.Context, l *postgres.Lease) error { return change(ctx, w.Store.WithLease(l)) }
	}
	return []writing{
		{"Apply", by(func(ctx context.Context, s *pgranking.Store) error {
			return s.Apply(ctx, dbtest.Match(w.Read(t, dbtest.Alice, dbtest.Bob), "2"))
		})},
		{"Apply to people", by(func(ctx context.Context, s *pgranking.Store) error {
			return dbtest.Upsert(ctx, s, dbtest.Club, []ranking.PlayerChange{dbtest.AsNew(dbtest.Carol)})
		})},
		{"Rewrite", by(func(ctx context.Context, s *pgranking.Store) error {
			standing := *w.Read(t, dbtest.Alice).People[0].Standing
			standing.Elo--
			return dbtest.InLock(ctx, s, func(l ranking.Locked, _ *ranking.Snapshot) error {
				return l.Rewrite(ctx, ladder.Rewrite{Standings: []ladder.Standing{standing}})
			})
		})},
		{"Lock", by(func(ctx context.Context, s *pgranking.Store) error {
			return dbtest.InLock(ctx, s, func(l ranking.Locked, _ *ranking.Snapshot) error {
				return l.Apply(ctx, dbtest.Match(w.Read(t, dbtest.Alice, dbtest.Bob), "3"))
			})
		})},
		{"Move", by(func(ctx context.Context, s *pgranking.Store) error {
			_, err := s.Move(ctx, dbtest.Club.ID, dbtest.Upgraded.ID)
			return err
		})},
		{"dead letters", func(ctx context.Context, l *postgres.Lease) error {
			letter := intake.DeadLetter{
				Update: intake.Update{ID: 7, Raw: []byte("{}")}, LastError: "why", Attempts: 1, FirstSeen: time.Now(),
			}
			letters := pgintake.NewDeadLetters(w.Pool)
			letters.Lease = l
			return letters.Save(ctx, letter)
		}},
		{"purge", func(ctx context.Context, l *postgres.Lease) error {
			_, err := postgres.Purge(ctx, w.Pool, l)
			return err
		}},
	}
}

// onBothDefaults runs a test on a database whose default isolation level is READ COMMITTED, and on
// one whose default is REPEATABLE READ. Connections to the second database set their own isolation
// level, as the bot's connections do. Neither database limits the wait for locks.
func onBothDefaults(t *testing.T, test func(*testing.T, *pgtest.Database)) {
	t.Helper()
	t.Run("read committed", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.Borrow(t))
	})
	t.Run("repeatable read", func(t *testing.T) {
		t.Parallel()
		address := pgtest.New(t)
		admin := dbtest.Open(t, address)
		dbtest.Exec(t, admin, "ALTER DATABASE "+pgx.Identifier{admin.Config().ConnConfig.Database}.Sanitize()+
			" SET default_transaction_isolation = 'repeatable read'")
		config := openAsBot(t, address).Config().ConnConfig
		test(t, &pgtest.Database{URL: address, Pool: dbtest.Open(t, address, func(c *pgxpool.Config) {
			c.ConnConfig = config
			c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, postgres.Planning)
				return err
			}
		})})
	})
}

// TestUnderLostLease checks that, under a lease that is lost or was never held, each write of
// writingsIn fails with outbox.ErrLeaseLost and changes nothing. The same writes succeed for the
// holder.
func TestUnderLostLease(t *testing.T) {
	t.Parallel()
	onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
		w := dbtest.NewWorldIn(t, d, dbtest.Alice, dbtest.Bob, command.Person{Username: "al", Name: "Al"})
		w.Play(t, "1", dbtest.Alice, dbtest.Bob)
		oldKeys(t, w.Pool, 1)
		writings := writingsIn(t, w)
		methods := map[string]bool{ // these methods change nothing
			"Read": true, "Gap": true, "MatchHistory": true, "SeasonAt": true, "LargestUpset": true, "PrivateChat": true, "ReportedSince": true, "AddedInADay": true, "Mapping": true, "DueTimers": true, "EnsureDurable": true,
			"Stage": true, "StageUndo": true, // before Apply
		}
		for _, wr := range writings {
			methods[wr.method] = true
		}
		store := reflect.TypeFor[ranking.Store]()
		for i := range store.NumMethod() {
			if name := store.Method(i).Name; !methods[name] {
				t.Errorf("%s is not tested under a lost lease", name)
			}
		}

		first, second := dbtest.Leader(w.Pool, "a"), dbtest.Leader(w.Pool, "b")
		none := dbtest.Leader(w.Pool, "c") // never had the lease
		dbtest.Acquire(t, first, true)
		dbtest.Exec(t, w.Pool, dbtest.RunsOut)
		dbtest.Acquire(t, second, true)
		w.Wakes.Store(0)
		before := w.Contents(t)
		for _, wr := range writings {
			for name, lease := range map[string]*postgres.Lease{"lost": first, "never held": none} {
				err := wr.do(t.Context(), lease)
				if !errors.Is(err, outbox.ErrLeaseLost) || !postgres.Unavailable(err) || !w.Store.RetryLater(err) {
					t.Errorf("%s under a lease %s: %v", wr.method, name, err)
				}
			}
		}
		ended := dbtest.Start(func() error {
			return postgres.KeepPurging(t.Context(), w.Pool, first, slog.New(slog.DiscardHandler))
		})
		if err := dbtest.Receive(t, ended); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, w.Contents(t)); diff != "" || w.Wakes.Load() != 0 {
			t.Errorf("something was changed, and woken %d times (-before +after):\n%s", w.Wakes.Load(), diff)
		}
		for _, wr := range writings {
			if err := wr.do(t.Context(), second); err != nil {
				t.Errorf("%s: %v", wr.method, err)
			}
			after := w.Contents(t)
			if cmp.Equal(before, after) {
				t.Errorf("%s changes nothing at all", wr.method)
			}
			before = after
		}
		if w.Wakes.Load() == 0 {
			t.Error("no lane was woken")
		}
	})
}

// TestTakeoverWaits checks that a takeover waits for a write that has begun under the lease,
// whether that is one batch or a transaction of several statements.
func TestTakeoverWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(ctx context.Context, s *pgranking.Store, c ranking.Changes) error{
		"batch": func(ctx context.Context, s *pgranking.Store, c ranking.Changes) error { return s.Apply(ctx, c) },
		"transaction": func(ctx context.Context, s *pgranking.Store, c ranking.Changes) error {
			return dbtest.InLock(ctx, s, func(l ranking.Locked, _ *ranking.Snapshot) error { return l.Apply(ctx, c) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
				w := dbtest.NewWorldIn(t, d, dbtest.Alice, dbtest.Bob)
				store, _ := w.AsLeader(t)
				changes := dbtest.Match(w.Read(t, dbtest.Alice, dbtest.Bob), "1")
				holder := dbtest.Begin(t, w.Pool)
				dbtest.Exec(t, holder, `SELECT FROM groups FOR UPDATE`)
				applied := dbtest.Start(func() error { return change(t.Context(), store, changes) })
				dbtest.Await(t, w.Pool, dbtest.Blocked)
				dbtest.Exec(t, w.Pool, dbtest.RunsOut) // does not wait
				next := dbtest.Leader(w.Pool, "b")
				taken := dbtest.Start(func() error {
					mine, err := next.Acquire(t.Context())
					if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); n != 1 {
						t.Errorf("the lease was taken over when there were %d matches", n)
					}
					if err == nil && !mine {
						err = errors.New("it was not to be had")
					}
					return err
				})
				dbtest.Await(t, w.Pool, `SELECT count(*) = 2 FROM pg_stat_activity
				WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
				if next.Remaining() > 0 {
					t.Error("the lease was taken over during a transaction")
				}
				dbtest.Must(t, holder.Rollback(t.Context()))
				if err := dbtest.Receive(t, applied); err != nil {
					t.Error(err)
				}
				if err := dbtest.Receive(t, taken); err != nil {
					t.Error(err)
				}
				mustHold(t, w.Pool, "leader b 2 true")
			})
		})
	}
}

// TestApplyAndTakeover checks that an Apply that begins during a takeover waits for the takeover.
// It fails with outbox.ErrLeaseLost if the takeover commits, and succeeds if it is rolled back.
func TestApplyAndTakeover(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]error{"COMMIT": outbox.ErrLeaseLost, "ROLLBACK": nil} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
				w := dbtest.NewWorldIn(t, d, dbtest.Alice, dbtest.Bob)
				store, _ := w.AsLeader(t)
				changes := dbtest.Match(w.Read(t, dbtest.Alice, dbtest.Bob), "1")
				takeover := dbtest.Begin(t, w.Pool)
				dbtest.Exec(t, takeover, takesLease)
				applied := dbtest.Start(func() error { return store.Apply(t.Context(), changes) })
				dbtest.Await(t, w.Pool, dbtest.Blocked)
				dbtest.Exec(t, takeover, end)
				if err := dbtest.Receive(t, applied); !errors.Is(err, want) {
					t.Errorf("error is %v, want %v", err, want)
				}
			})
		})
	}
}

// TestHolderStalls checks that, if a process stalls during a transaction under the lease, another
// holder gets the lease after the idle timeout. The stalled transaction writes nothing.
func TestHolderStalls(t *testing.T) {
	t.Parallel()
	onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
		w := dbtest.NewWorldIn(t, dbtest.ShortWait(t, d), dbtest.Alice, dbtest.Bob)
		store, lease := w.AsLeader(t)
		lease.SetIdleTimeout(250 * time.Millisecond)
		dbtest.Exec(t, w.Pool, dbtest.RunsOut)
		changes := dbtest.Match(w.Read(t, dbtest.Alice, dbtest.Bob), "1")
		standing, resume := make(chan struct{}), make(chan struct{})
		stand := sync.OnceFunc(func() { close(standing) })
		frozen := dbtest.Start(func() error {
			defer stand() // on a slow machine, the session may have ended already
			return dbtest.InLock(t.Context(), store, func(l ranking.Locked, _ *ranking.Snapshot) error {
				stand()
				<-resume
				return l.Apply(t.Context(), changes)
			})
		})
		dbtest.Receive(t, standing)
		next, over := dbtest.Leader(w.Pool, "b"), time.Now().Add(dbtest.MaxWait)
		for mine := false; !mine; {
			var err error
			if mine, err = next.Acquire(t.Context()); err != nil || time.Now().After(over) {
				t.Fatalf("the lease is taken over: %t, %v", mine, err)
			}
		}
		close(resume)
		if err := dbtest.Receive(t, frozen); err == nil || !w.Store.RetryLater(err) {
			t.Errorf("the stalled transaction: %v", err)
		}
		if err := store.Apply(t.Context(), changes); !errors.Is(err, outbox.ErrLeaseLost) {
			t.Errorf("the next transaction: %v", err)
		}
		if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); n != 0 {
			t.Errorf("there are %d matches", n)
		}
	})
}

// TestIdleTimeoutOfALease checks that a transaction under the lease may be idle for 5 s. The limit
// does not apply to the session afterward.
func TestIdleTimeoutOfALease(t *testing.T) {
	t.Parallel()
	const sql = `SELECT current_setting('idle_in_transaction_session_timeout')`
	pool := pgtest.Borrow(t).Pool
	lease := dbtest.Leader(pool, "a")
	dbtest.Acquire(t, lease, true)
	var session *pgx.Conn
	var under, later string
	err := postgres.Transact(t.Context(), pool, lease, func(tx pgx.Tx) error {
		session = tx.Conn()
		return tx.QueryRow(t.Context(), sql).Scan(&under)
	})
	dbtest.Must(t, err)
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		if conn.Conn() == session {
			err = conn.QueryRow(t.Context(), sql).Scan(&later)
		}
		conn.Release()
	}
	if err != nil || under != "5s" || later != "0" {
		t.Errorf("the idle timeout is %q and then %q, want 5s and then 0 for none (%v)", under, later, err)
	}
}
