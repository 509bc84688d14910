package postgres_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// openAsBot opens a database as the bot does, and closes it when the test ends.
func openAsBot(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), url, dbtest.MaxWait, slog.New(slog.DiscardHandler))
	dbtest.Must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// acquireSessions takes n sessions from the pool, all of which are then in use at the same time.
func acquireSessions(t *testing.T, pool *pgxpool.Pool, n int) (all []*pgxpool.Conn) {
	t.Helper()
	for range n {
		conn, err := pool.Acquire(t.Context())
		dbtest.Must(t, err)
		t.Cleanup(conn.Release)
		all = append(all, conn)
	}
	return all
}

// release returns sessions to the pool, and their process ids to the caller.
func release(all ...*pgxpool.Conn) (ids []uint32) {
	for _, conn := range all {
		ids = append(ids, conn.Conn().PgConn().PID())
		conn.Release()
	}
	return ids
}

// fail makes the server report an error with the code in a session.
func fail(t *testing.T, conn *pgxpool.Conn, code string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '`+code+`'; END $$`)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != code {
		t.Errorf("the session reports %v, want %s", err, code)
	}
}

// TestSessionsEnd checks that, after an error for which endsSession returns true, neither that
// session nor an idle one is used again. After any other error, the session is used again.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	pool := openAsBot(t, pgtest.Borrow(t).URL)
	for code, end := range map[string]bool{
		"25006": true, "57P01": true, "57P02": true, "57P03": true, "08006": true, "08P01": true, "26000": true, "42P05": true,
		"22012": false, "40001": false, "53200": false, "57014": false,
	} {
		sessions := 1
		if code == "25006" { // idle sessions are handled alike for all codes
			sessions = 2
		}
		before := release(acquireSessions(t, pool, sessions)...)
		failing := acquireSessions(t, pool, 1)
		fail(t, failing[0], code)
		release(failing...)
		for _, id := range release(acquireSessions(t, pool, sessions)...) {
			if kept := slices.Contains(before, id); kept == end {
				t.Errorf("%s: a session has ended: %t, want %t", code, !kept, end)
			}
		}
	}
}

// TestOneOfSeveralHostsIsDown checks that a host that accepts no sessions does not affect the
// sessions on another host.
func TestOneOfSeveralHostsIsDown(t *testing.T) {
	t.Parallel()
	down, _ := fakeHost(t, refusing("57P03")) // it is starting up
	pool := openAsBot(t, strings.Replace(dbtest.NewProxy(t, pgtest.Borrow(t).URL).URL, "@", "@"+down+",", 1))
	sessions := acquireSessions(t, pool, 2)
	before := release(sessions...)
	after := release(acquireSessions(t, pool, 2)...)
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("sessions %v are used, want %v again", after, before)
	}
}

// TestSessionLifetime checks that sessions live for at most half an hour, and end at different
// ages. The URL can set another lifetime.
func TestSessionLifetime(t *testing.T) {
	t.Parallel()
	url := dbtest.NewProxy(t, pgtest.Borrow(t).URL).URL // this URL ends with parameters
	config := openAsBot(t, url).Config()
	if lifetime := config.MaxConnLifetime + config.MaxConnLifetimeJitter; lifetime > 30*time.Minute ||
		config.MaxConnLifetimeJitter == 0 {
		t.Errorf("sessions live for %v, with a jitter of %v", lifetime, config.MaxConnLifetimeJitter)
	}
	config = openAsBot(t, pgtest.WithParameter(url, "pool_max_conn_lifetime", "2h")).Config()
	if config.MaxConnLifetime != 2*time.Hour || config.MaxConnLifetimeJitter != 0 {
		t.Errorf("sessions live for %v + %v, want what the URL says", config.MaxConnLifetime, config.MaxConnLifetimeJitter)
	}
}

// TestTransactionPoolingIsRefused checks that Open refuses a pooler in transaction mode, however
// many server sessions the pooler has. It does so without prepared statements, which other sessions
// would not have.
func TestTransactionPoolingIsRefused(t *testing.T) {
	t.Parallel()
	for _, sessions := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			t.Parallel()
			p := dbtest.NewProxy(t, pgtest.Pooled(t, sessions))
			var prepared atomic.Bool
			p.OnMessage(func(kind byte, _ []byte) bool {
				prepared.CompareAndSwap(false, kind == 'P')
				return false
			})
			url := pgtest.WithParameter(p.URL, "search_path", "public,pg_catalog")
			pool, err := postgres.Open(t.Context(), url, 4*dbtest.MaxWait, slog.New(slog.DiscardHandler))
			if err == nil {
				pool.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "needs a direct connection") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the database is opened with %v", err)
			}
			if prepared.Load() {
				t.Error("a statement is prepared")
			}
		})
	}
}

// TestConnectionBreaksWhileOpening checks that, if a connection breaks while Open is using it, Open
// continues with another connection.
func TestConnectionBreaksWhileOpening(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{1, 2, 4, 6, 8} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			p := dbtest.NewProxy(t, pgtest.Borrow(t).URL)
			var messages atomic.Int64
			p.OnMessage(func(byte, []byte) bool { return messages.Add(1) == at })
			openAsBot(t, p.URL)
			if messages.Load() <= at {
				t.Errorf("there were only %d messages", messages.Load())
			}
		})
	}
}

// TestSessionsOfAllPoolsEnd checks that, if a session of one pool finds that the server has become
// read-only, the sessions of the other pools are not used again either.
func TestSessionsOfAllPoolsEnd(t *testing.T) {
	t.Parallel()
	pools := dbtest.OpenPools(t, pgtest.Borrow(t).URL)
	others := []*pgxpool.Pool{pools.Auxiliary, pools.Questions}
	var before []uint32
	for _, pool := range others {
		before = append(before, release(acquireSessions(t, pool, 1)...)...)
	}
	writer := acquireSessions(t, pools.Commands, 1)[0]
	fail(t, writer, "25006")
	release(writer)
	for i, pool := range others {
		if now := release(acquireSessions(t, pool, 1)...); now[0] == before[i] {
			t.Errorf("pool %d keeps its session", i)
		}
	}
}

// TestQuestionsOnlyRead checks that sessions for questions are read-only. Unlike sessions for
// commands, they may plan a statement again for new arguments, and scan whole tables.
func TestQuestionsOnlyRead(t *testing.T) {
	t.Parallel()
	pools := dbtest.OpenPools(t, pgtest.Borrow(t).URL)
	for setting, want := range map[string][2]string{
		"default_transaction_read_only": {"off", "on"}, "plan_cache_mode": {"force_generic_plan", "auto"}, "enable_seqscan": {"off", "on"},
	} {
		got := [2]string{
			dbtest.Value[string](t, pools.Commands, `SELECT current_setting($1)`, setting),
			dbtest.Value[string](t, pools.Questions, `SELECT current_setting($1)`, setting),
		}
		if got != want {
			t.Errorf("%s is %s for commands and for questions, want %s", setting, got, want)
		}
	}
}

// TestCanceledStandbyWait checks that, if the wait of a commit for the synchronous standby was
// canceled, the commit fails as unavailable. That holds however the statement is sent, even if the
// server's messages are not in English. Other warnings have no effect.
func TestCanceledStandbyWait(t *testing.T) {
	t.Parallel()
	const sql = `INSERT INTO handled_commands (key) VALUES ('1')
		ON CONFLICT (key) DO UPDATE SET handled_at = now() RETURNING key`
	for name, commit := range map[string]func(pool *pgxpool.Pool, warn func()) error{
		"statement": func(pool *pgxpool.Pool, warn func()) error {
			warn()
			_, err := pool.Exec(t.Context(), sql)
			return err
		},
		"row": func(pool *pgxpool.Pool, warn func()) error {
			warn()
			return pool.QueryRow(t.Context(), sql).Scan(new(string))
		},
		"batch": func(pool *pgxpool.Pool, warn func()) error {
			warn()
			var batch pgx.Batch
			batch.Queue(sql)
			batch.Queue(sql)
			return pool.SendBatch(t.Context(), &batch).Close()
		},
		"script": func(pool *pgxpool.Pool, warn func()) error {
			warn()
			_, err := pool.Exec(t.Context(), sql+";"+sql, pgx.QueryExecModeSimpleProtocol)
			return err
		},
		"transaction": func(pool *pgxpool.Pool, warn func()) error {
			return postgres.Transact(t.Context(), pool, nil, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				warn()
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := dbtest.NewProxy(t, pgtest.Borrow(t).URL)
			pool := openAsBot(t, p.URL)
			for range 2 { // the second time, the statement is prepared
				session := release(acquireSessions(t, pool, 1)...)
				for _, notice := range []*pgproto3.NoticeResponse{nil, {
					Severity: "WARNUNG", SeverityUnlocalized: "WARNING", Code: "01000",
					Message: "eine andere", Routine: "exec_stmt_raise",
				}} {
					if err := commit(pool, func() { p.Add(t, notice) }); err != nil {
						t.Fatalf("with the notice %v: %v", notice, err)
					}
				}
				if now := release(acquireSessions(t, pool, 1)...); !slices.Equal(now, session) {
					t.Errorf("session %v is used after another warning, want %v again", now, session)
				}
				p.Add(t, nil)
				err := commit(pool, func() {
					p.Add(t, &pgproto3.NoticeResponse{
						Severity: "WARNUNG", SeverityUnlocalized: "WARNING", Code: "01000", Routine: "SyncRepWaitForLSN",
						Message: "storniere Warten auf synchrone Replikation wegen Benutzeraufforderung",
					})
				})
				p.Add(t, nil)
				if err == nil || !postgres.Unavailable(err) {
					t.Errorf("the commit has the error %v", err)
				}
			}
		})
	}
}
