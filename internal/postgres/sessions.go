package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A session ends at some time between the two, so that no session keeps old settings for long and the sessions do not all
// end together.
const (
	minSessionLifetime = 25 * time.Minute
	maxSessionLifetime = 30 * time.Minute
)

// endsSession says whether an error with this code means that the session must not be used any more: the server shuts
// down, starts up or accepts no writes, the connection is broken, or statements go to another session than before.
func endsSession(code string) bool {
	switch code {
	case pgerrcode.ReadOnlySQLTransaction,
		pgerrcode.AdminShutdown, pgerrcode.CrashShutdown, pgerrcode.CannotConnectNow,
		pgerrcode.InvalidSQLStatementName, pgerrcode.DuplicatePreparedStatement:
		return true
	}
	return pgerrcode.IsConnectionException(code)
}

// sessions closes each session that meets an error of endsSession, and with it all idle sessions of the pool. The idle
// ones may be just as bad, and some errors show only when a session writes: reads and pings still succeed.
type sessions struct {
	pool atomic.Pointer[pgxpool.Pool]
	// generation counts how often the idle sessions were closed. Only a session of the current generation closes them
	// again, so that many failures at once close them once.
	generation atomic.Int64
}

// generationKey is where a connection keeps the generation in which its session began.
const generationKey = "generation"

// watch has connections with this configuration report their errors here.
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
		// A connection that fails before its session has begun says nothing about the others: of several hosts, one may
		// be down for days.
		if g, begun := conn.CustomData()[generationKey].(int64); begun && s.generation.CompareAndSwap(g, g+1) {
			if pool := s.pool.Load(); pool != nil {
				pool.Reset()
			}
		}
		return false
	}
}

// ErrTransactionPooling says that something between the bot and the database gives each transaction whichever server
// session is free.
var ErrTransactionPooling = errors.New("the server session behind DATABASE_URL changes between transactions: " +
	"elobot needs a direct connection to PostgreSQL or a pooler in session mode (PgBouncer: pool_mode = session)")

// poolingOrder is the order in which two connections are asked for their server session. The first shows a pooler that
// hands out the session that was used last, the second one that hands out all sessions in turn, however many it has. A
// pooler that is busy may hand out the same sessions again by chance, hence the others.
var poolingOrder = [...][2]int{{0, 1}, {1, 0}, {0, 1}}

// checkPooling returns ErrTransactionPooling unless two connections have a server session each and keep it. A connection
// that breaks meanwhile is an error of another kind.
func checkPooling(ctx context.Context, pool *pgxpool.Pool) error {
	one, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer one.Release()
	two, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig) // beside the pool, which may allow one connection only
	if err != nil {
		return err
	}
	defer hangUp(ctx, two)
	conns := [2]*pgx.Conn{one.Conn(), two}
	var first [2]string
	for round, order := range poolingOrder {
		var now [2]string
		for _, i := range order {
			if now[i], err = serverSession(ctx, conns[i]); err != nil {
				return fmt.Errorf("ask for the server session: %w", err)
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

// serverSession names the server session that a statement on the connection runs in. The start time tells apart servers
// whose processes have the same number. It goes without a prepared statement, which the session may not have.
func serverSession(ctx context.Context, conn *pgx.Conn) (name string, err error) {
	const sql = `SELECT concat_ws(' ', pg_backend_pid(), pg_postmaster_start_time())`
	return name, conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&name)
}
