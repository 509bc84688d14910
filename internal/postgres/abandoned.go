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

// Abandoned lists the server processes of closed connections. Such a process may still be running
// its last statement. If the server is stalled, the process may even start the statement later.
type Abandoned struct {
	mu        sync.Mutex
	processes []process
}

// process identifies a server process by its PID and its start time. The PID alone is not enough,
// because a later process may get the same PID.
type process struct {
	PID   int32
	Since time.Time
}

const processKey = "process"

// identify asks the server which process serves a connection, and stores the answer in the
// connection's custom data. The PID that a client receives when a session starts is unreliable: a
// pooler may have made it up.
func identify(ctx context.Context, conn *pgx.Conn) error {
	// pg_stat_activity would work too, but it joins all processes with their databases and roles,
	// which would slow down every new session.
	const sql = `SELECT pid, backend_start FROM pg_stat_get_activity(pg_backend_pid())`
	var p process
	if err := conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&p.PID, &p.Since); err != nil {
		return fmt.Errorf("read the server's process: %w", err)
	}
	conn.PgConn().CustomData()[processKey] = p
	return nil
}

var errAbandoned = errors.New("an abandoned statement is still running")

// Note adds the process of a closed connection. It ignores open connections, and connections whose
// process was never identified.
func (a *Abandoned) Note(conn *pgxpool.Conn) {
	p, known := conn.Conn().PgConn().CustomData()[processKey].(process)
	if !known || !conn.Conn().IsClosed() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.processes = append(a.processes, p)
}

// End terminates all noted processes, except one that a pooler has reused for conn. If it returns
// nil, none of the abandoned statements is still running, and the server has rolled back everything
// that was not committed. After an error, the processes remain noted.
func (a *Abandoned) End(ctx context.Context, conn *pgxpool.Conn) error {
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
	err := conn.QueryRow(ctx, sql, Column(a.processes, func(p process) int32 { return p.PID }),
		Column(a.processes, func(p process) time.Time { return p.Since })).Scan(&ended)
	if err != nil {
		return fmt.Errorf("terminate abandoned processes: %w", err)
	}
	if !ended {
		return errAbandoned
	}
	a.processes = nil
	return nil
}
