package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Names of domains in the schema. Casting a boolean to one of them fails unless the value is true.
const (
	unchanged = "unchanged"
	leaseHeld = "lease_held"
)

// transactionTimeout is the error code for exceeding the setting transaction_timeout.
const transactionTimeout = "25P04"

// errNoSession means that a pool could not set up a new session.
var errNoSession = errors.New("begin a session")

// codeOf returns the SQLSTATE of an error from the server, or an empty string for any other error.
func codeOf(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// hasNoSession reports whether an error means that no session could be opened. Such an error says
// nothing about a statement, whatever the server's code is: for example, the password is being
// changed, or a pooler has no session left.
func hasNoSession(err error) bool {
	_, failed := errors.AsType[*pgconn.ConnectError](err)
	return failed || errors.Is(err, errNoSession)
}

// isWrongAddress reports whether an error means that the server refused the user, the password or
// the database of DATABASE_URL.
func isWrongAddress(err error) bool {
	return hasNoSession(err) && slices.Contains([]string{
		pgerrcode.InvalidPassword, pgerrcode.InvalidAuthorizationSpecification, pgerrcode.InvalidCatalogName,
	}, codeOf(err))
}

func violates(err error, domain string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == pgerrcode.CheckViolation && pg.ConstraintName == domain
}

// Translate wraps errors that mean the same for every statement. A conflict with another
// transaction becomes ranking.ErrConflict, a lock timeout ranking.ErrLocked, and any other timeout
// of a statement, or its cancellation by the server, ranking.ErrTimeout. A lost lease becomes
// outbox.ErrLeaseLost. Translate returns any other error unchanged, including nil and each error
// for which hasNoSession returns true.
func Translate(err error) error {
	var meaning error
	switch code := codeOf(err); {
	case hasNoSession(err):
		return err
	case violates(err, unchanged), code == pgerrcode.SerializationFailure, code == pgerrcode.DeadlockDetected:
		meaning = ranking.ErrConflict
	case violates(err, leaseHeld):
		meaning = outbox.ErrLeaseLost
	case code == pgerrcode.LockNotAvailable:
		meaning = ranking.ErrLocked
	case code == pgerrcode.QueryCanceled, code == transactionTimeout,
		code == "" && errors.Is(err, context.DeadlineExceeded):
		meaning = ranking.ErrTimeout
	default:
		return err
	}
	return fmt.Errorf("%w: %w", meaning, err)
}

// Unavailable reports whether an error says nothing about the operation that failed: for example,
// the database cannot be reached or cannot work at the moment, its schema is missing or too new,
// the role lacks a privilege, or another instance has taken over the lease. The same operation may
// succeed later, or on another instance. A timeout of a statement does not count; see
// pgranking.Store.Blame.
func Unavailable(err error) bool {
	switch code := codeOf(err); {
	case hasNoSession(err), errors.Is(err, ErrTooNew), errors.Is(err, ErrNoSchema):
		return true
	case code != "":
		return endsSession(code) ||
			code == pgerrcode.InsufficientPrivilege || // not the fault of a single update
			pgerrcode.IsInsufficientResources(code) ||
			pgerrcode.IsOperatorIntervention(code) && code != pgerrcode.QueryCanceled ||
			code == pgerrcode.IdleInTransactionSessionTimeout || // this process was stalled
			violates(err, leaseHeld)
	case errors.Is(err, context.DeadlineExceeded): // also a net.Error, so exclude it first
		return false
	default:
		_, network := errors.AsType[net.Error](err)
		return network ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
			err != nil && strings.Contains(err.Error(), "conn closed") // not exported by pgx
	}
}
