package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// abandoned are the server's processes that were asked for something by a connection that was lost before the answer. They
// may be still at it, or come to it later: the server may have stood still.
type abandoned struct {
	mu   sync.Mutex
	pids []uint32
}

var errAbandoned = errors.New("what was given up before is still under way")

// note takes note of a connection that has failed, if it was lost.
func (a *abandoned) note(conn *pgxpool.Conn) {
	if !conn.Conn().IsClosed() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pids = append(a.pids, conn.Conn().PgConn().PID())
}

// end ends all of these processes. When it returns without an error, whatever they have not committed comes to nothing. After
// a restart of the server another session may have such a number; it is ended only if it is one of the bot's, which connects
// anew.
func (a *abandoned) end(ctx context.Context, conn *pgxpool.Conn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pids) == 0 {
		return nil
	}
	const sql = `
		SELECT coalesce(bool_and(pg_terminate_backend(pid, 2000)), true)
		FROM pg_stat_activity
		WHERE pid = ANY ($1::bigint[]) AND pid <> pg_backend_pid() AND datname = current_database()
		  AND usename = current_user AND application_name = current_setting('application_name')`
	var ended bool
	if err := conn.QueryRow(ctx, sql, column(a.pids, func(pid uint32) int64 { return int64(pid) })).Scan(&ended); err != nil {
		return fmt.Errorf("end what was given up: %w", err)
	}
	if !ended {
		return errAbandoned
	}
	a.pids = nil
	return nil
}
