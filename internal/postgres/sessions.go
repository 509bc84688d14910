package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A session ends at a random age between the two, so that sessions do not keep old settings for long and do not all
// end together.
const (
	minSessionLifetime = 25 * time.Minute
	maxSessionLifetime = 30 * time.Minute
)

// endsSession reports whether an error with this code means that the session must not be used any more: the server is
// shutting down, starting up or read-only, the connection is broken, or statements reach another session than before.
func endsSession(code string) bool {
	switch code {
	case pgerrcode.ReadOnlySQLTransaction,
		pgerrcode.AdminShutdown, pgerrcode.CrashShutdown, pgerrcode.CannotConnectNow,
		pgerrcode.InvalidSQLStatementName, pgerrcode.DuplicatePreparedStatement:
		return true
	}
	return pgerrcode.IsConnectionException(code)
}

// sessions closes each session that gets an error for which endsSession is true, and all idle sessions of the pools
// with it. The idle ones may be just as bad, and some errors show only when a session writes: reads and pings still
// succeed.
type sessions struct {
	mu    sync.Mutex
	pools []*pgxpool.Pool
	// generation counts how often the idle sessions were closed. Only a session of the current generation closes them
	// again, so that many simultaneous failures close them only once.
	generation atomic.Int64
}

// generationKey is where a connection stores the generation in which its session began.
const generationKey = "generation"

// watch makes connections with this configuration report their errors to s.
func (s *sessions) watch(config *pgconn.Config) {
	config.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		conn.CustomData()[generationKey] = s.generation.Load()
		return nil
	}
	reusable := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if !endsSession(err.Code) {
			return reusable(conn, err)
		}
		// A connection that fails before its session begins says nothing about the others: one of several hosts may
		// be down for days.
		if g, begun := conn.CustomData()[generationKey].(int64); begun && s.generation.CompareAndSwap(g, g+1) {
			s.reset()
		}
		return false
	}
}

// add adds a pool whose connections report to s.
func (s *sessions) add(pool *pgxpool.Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools = append(s.pools, pool)
}

func (s *sessions) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pool := range s.pools {
		pool.Reset()
	}
}

// ErrTransactionPooling means that a pooler between bot and database gives each transaction any server session that
// is free.
var ErrTransactionPooling = errors.New("the server session behind DATABASE_URL changes between transactions: " +
	"elobot needs a direct connection to PostgreSQL or a pooler in session mode (PgBouncer: pool_mode = session)")

// poolingOrder is the order in which two connections are asked for their server session. The first round detects a
// pooler that hands out the session used last. The second detects one that hands out all sessions in turn, however
// many it has. A busy pooler may hand out the same sessions again by chance, hence the third.
var poolingOrder = [...][2]int{{0, 1}, {1, 0}, {0, 1}}

// checkPooling returns ErrTransactionPooling unless each of two connections has a server session of its own and keeps
// it. It returns another error if a connection breaks.
func checkPooling(ctx context.Context, pool *pgxpool.Pool) error {
	one, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer one.Release()
	two, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig) // outside the pool, which may allow one connection only
	if err != nil {
		return err
	}
	defer closeConn(ctx, two)
	conns := [2]*pgx.Conn{one.Conn(), two}
	var first [2]string
	for round, order := range poolingOrder {
		var now [2]string
		for _, i := range order {
			if now[i], err = serverSession(ctx, conns[i]); err != nil {
				return fmt.Errorf("read the server session: %w", err)
			}
		}
		if round == 0 {
			first = now
		}
		if now != first || now[0] == now[1] {
			return ErrTransactionPooling
		}
	}
	return nil
}

// serverSession identifies the server session that runs statements of the connection. The start time distinguishes
// servers whose processes have the same number. It uses no prepared statement, because the session may not have it.
func serverSession(ctx context.Context, conn *pgx.Conn) (name string, err error) {
	const sql = `SELECT concat_ws(' ', pg_backend_pid(), pg_postmaster_start_time())`
	return name, conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&name)
}
