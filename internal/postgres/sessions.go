package postgres

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A pooled session ends at a random age between these two, unless the URL sets another lifetime. So
// sessions do not keep old settings for long, and do not all end at the same time.
const (
	minSessionLifetime = 25 * time.Minute
	maxSessionLifetime = 30 * time.Minute
)

// everySession sets what elobot relies on in each session, whatever the settings of server,
// database, role and URL are. READ COMMITTED is needed because a statement after a lock must see
// what the previous holder of the lock has committed, such as another epoch of a lease. Warnings
// are needed because only a warning shows that the wait of a commit for the standby was canceled.
const everySession = "SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning"

// standbyWait is the routine of the server in which a commit waits for the synchronous standby. If
// the wait is canceled, the commit takes effect on this server and succeeds with a warning from
// that routine. The routine identifies the warning: its text depends on the language, and its code
// is shared by other warnings.
const standbyWait = "SyncRepWaitForLSN"

// endsSession reports whether an error with this code means that the session must not be used
// again: the server is shutting down, starting up or read-only, the connection is broken, or
// statements reach another session than before.
func endsSession(code string) bool {
	switch code {
	case pgerrcode.ReadOnlySQLTransaction,
		pgerrcode.AdminShutdown, pgerrcode.CrashShutdown, pgerrcode.CannotConnectNow,
		pgerrcode.InvalidSQLStatementName, pgerrcode.DuplicatePreparedStatement:
		return true
	}
	return pgerrcode.IsConnectionException(code)
}

// sessionWatch closes each session that gets an error for which endsSession returns true. It also
// distrusts all sessions that began before, because they may have the same fault without showing
// it: some errors occur only when a session writes, while reads and pings still succeed.
type sessionWatch struct {
	log   *slog.Logger
	hosts hosts
	fault atomic.Pointer[time.Time] // sessions that began before this time must not be used; nil if all may be
}

const begunKey = "begun"

// watch makes connections with this configuration execute everySession first, and report their
// errors to s. This includes connections outside the pools. The settings are not startup
// parameters, because a pooler would refuse them.
func (s *sessionWatch) watch(config *pgconn.Config) {
	s.hosts.addresses = make(map[string][]string)
	s.hosts.limit(config)
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if err := conn.Exec(ctx, everySession).Close(); err != nil {
			return err
		}
		conn.CustomData()[begunKey] = time.Now()
		return s.hosts.began(conn)
	}
	config.OnNotice = func(conn *pgconn.PgConn, notice *pgconn.Notice) {
		if notice.Routine != standbyWait {
			return
		}
		s.log.Warn("a commit may not have reached the synchronous standby, its outcome is unknown", "warning", notice.Message)
		// With the connection closed, the caller gets the same error as for a connection that
		// breaks during the commit: in both cases the outcome is unknown.
		_ = conn.Close(context.Background()) // no error matters here
	}
	reusable := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		switch {
		case conn.CustomData()[begunKey] == nil:
			// The server refuses the connection, which says nothing about other connections: one of
			// several hosts may be down for days. The message may name the user. A very short name
			// is not replaced, because it may be part of any word.
			if len(config.User) >= 3 {
				err.Message = strings.ReplaceAll(err.Message, config.User, hidden)
			}
			return false
		case !endsSession(err.Code):
			return reusable(conn, err)
		default:
			s.distrust()
			return false
		}
	}
}

// distrust keeps every session that has begun by now from being used again. It does not affect
// sessions that are still being opened: if the first host is silent, such sessions take so long
// that a pool might never get a session it may use.
func (s *sessionWatch) distrust() {
	now := time.Now()
	s.fault.Store(&now)
}

// trusts reports whether a session may be used.
func (s *sessionWatch) trusts(conn *pgx.Conn) bool {
	begun, _ := conn.PgConn().CustomData()[begunKey].(time.Time)
	fault := s.fault.Load()
	return fault == nil || begun.After(*fault)
}
