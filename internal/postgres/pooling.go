package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrTransactionPooling means that a pooler between bot and database may run each transaction of a
// connection in another server session.
var ErrTransactionPooling = errors.New("the server session behind DATABASE_URL changes between transactions: " +
	"elobot needs a direct connection to PostgreSQL or a pooler in session mode (PgBouncer: pool_mode = session)")

// poolingOrder is the order in which checkPooling asks two connections for their server session.
// The first two questions detect a pooler that hands out the last used session. The next two detect
// a pooler that hands out all its sessions in turn. The last two are for a busy pooler, which may
// hand out the same sessions again by chance.
var poolingOrder = [...]int{0, 1, 1, 0, 0, 1}

// checkPooling returns ErrTransactionPooling unless each of two connections has a server session of
// its own and keeps it. It returns another error if a connection breaks or cannot be opened.
func checkPooling(ctx context.Context, pool *pgxpool.Pool) error {
	one, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer one.Release()
	two, err := connect(ctx, pool) // outside the pool, which may allow only one connection
	if err != nil {
		return err
	}
	defer closeConn(ctx, two)
	conns := [2]*pgx.Conn{one.Conn(), two}
	var sessions [2]string
	for _, i := range poolingOrder {
		now, err := serverSession(ctx, conns[i])
		if err != nil {
			return fmt.Errorf("read the server session: %w", err)
		}
		sessions[i] = cmp.Or(sessions[i], now)
		if now != sessions[i] || sessions[0] == sessions[1] {
			return ErrTransactionPooling
		}
	}
	return nil
}

// serverSession returns a name for the server session that currently serves the connection. The
// start time of the server distinguishes servers whose processes have the same PID. The query is
// not prepared, because another session would not have the prepared statement.
func serverSession(ctx context.Context, conn *pgx.Conn) (name string, err error) {
	const sql = `SELECT concat_ws(' ', pg_backend_pid(), pg_postmaster_start_time())`
	return name, conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&name)
}
