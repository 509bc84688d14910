package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// abandoned are the server's processes that were asked for something by a connection that was lost before the answer. They
// may be still at it, or come to it later: the server may have stood still.
type abandoned struct {
	mu        sync.Mutex
	processes []process
}

// process is a server's process. Its number alone may be another one's after a restart of the server.
type process struct {
	PID   int32
	Since time.Time
}

// processKey is where a connection keeps its process.
const processKey = "process"

// identify asks a connection for its process. What the server says of it at the start of the session may be made up by a
// pooler in between.
func identify(ctx context.Context, conn *pgx.Conn) error {
	// the view is this function for all processes, with their databases and roles: each new session would pay for reading it
	const sql = `SELECT pid, backend_start FROM pg_stat_get_activity(pg_backend_pid())`
	var p process
	if err := conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&p.PID, &p.Since); err != nil {
		return fmt.Errorf("ask for the server's process: %w", err)
	}
	conn.PgConn().CustomData()[processKey] = p
	return nil
}

var errAbandoned = errors.New("what was given up before is still under way")

// note takes note of a connection that has failed, if it was lost.
func (a *abandoned) note(conn *pgxpool.Conn) {
	if !conn.Conn().IsClosed() {
		return
	}
	p, known := conn.Conn().PgConn().CustomData()[processKey].(process)
	if !known {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.processes = append(a.processes, p)
}

// end ends all of these processes. When it returns without an error, whatever they have not committed comes to nothing.
func (a *abandoned) end(ctx context.Context, conn *pgxpool.Conn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.processes) == 0 {
		return nil
	}
	const sql = `
		SELECT coalesce(bool_and(pg_terminate_backend(a.pid, 2000)), true)
		FROM pg_stat_activity a JOIN unnest($1::integer[], $2::timestamptz[]) AS p (pid, since)
		     ON a.pid = p.pid AND a.backend_start = p.since
		WHERE a.pid <> pg_backend_pid()`
	var ended bool
	err := conn.QueryRow(ctx, sql, column(a.processes, func(p process) int32 { return p.PID }),
		column(a.processes, func(p process) time.Time { return p.Since })).Scan(&ended)
	if err != nil {
		return fmt.Errorf("end what was given up: %w", err)
	}
	if !ended {
		return errAbandoned
	}
	a.processes = nil
	return nil
}
