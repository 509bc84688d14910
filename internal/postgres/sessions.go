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

// A session ends at a random age between the two, so that sessions do not keep old settings for
// long and do not all end together.
const (
	minSessionLifetime = 25 * time.Minute
	maxSessionLifetime = 30 * time.Minute
)

// everySession sets what elobot relies on in each session, whatever the settings of server,
// database, role and URL. At READ COMMITTED, a statement that follows a lock sees what the lock's
// last holder has committed, such as another epoch of a lease. Without warnings, a commit whose
// wait for the standby was canceled looks like any other.
const everySession = "SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning"

// standbyWait is the routine of the server in which a commit waits for the synchronous standby. If
// the wait is canceled, the commit takes effect on this server and succeeds with a warning from
// there. Unlike the text of the warning, the name of the routine is the same in all languages;
// unlike its code, no other warning has it.
const standbyWait = "SyncRepWaitForLSN"

// endsSession reports whether an error with this code means that the session must not be used any
// more: the server is shutting down, starting up or read-only, the connection is broken, or
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

// sessionWatch closes each session that gets an error for which endsSession returns true. It
// distrusts all sessions that began before: they may be just as bad, and some errors show only when
// a session writes, while reads and pings still succeed.
type sessionWatch struct {
	log   *slog.Logger
	hosts hosts
	fault atomic.Pointer[time.Time] // sessions that began before are unused from now on; nil: none
}

const begunKey = "begun"

// watch makes connections with this configuration begin with everySession, and report their errors
// to s. Migrations and LISTEN use it too, outside the pools. It sends a statement, because a pooler
// would refuse a startup parameter.
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
		// A waiting caller gets the error of a connection that breaks during the commit:
		// both mean the same.
		_ = conn.Close(context.Background()) // no error matters here
	}
	reusable := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		switch {
		case conn.CustomData()[begunKey] == nil:
			// The server refuses the connection, and names the user. This says nothing about other
			// connections: one of several hosts may be down for days. A very short user name stays,
			// because it may be part of any word.
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

// distrust keeps every session that has begun by now from being used again, but not those that are
// just being opened. If a silent host comes first and these were discarded too, a pool could stay
// empty forever.
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
