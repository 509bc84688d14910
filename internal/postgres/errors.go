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

// The domains that fail a cast when a condition does not hold.
const (
	unchanged = "unchanged"
	leaseHeld = "lease_held"
)

// transactionTimeout is the error code for exceeding the setting transaction_timeout.
const transactionTimeout = "25P04"

// errNoSession means that a session failed while a pool was making it.
var errNoSession = errors.New("begin a session")

// hasNoSession reports whether an error means that no session could be made. Then it says nothing
// about any statement, whatever the server's reason: the password is being changed, or a pooler has
// no session left.
func hasNoSession(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, errNoSession)
}

// isWrongAddress reports whether the server refuses the user, the password or the database of
// DATABASE_URL.
func isWrongAddress(err error) bool {
	var pg *pgconn.PgError
	return hasNoSession(err) && errors.As(err, &pg) && slices.Contains([]string{
		pgerrcode.InvalidPassword, pgerrcode.InvalidAuthorizationSpecification, pgerrcode.InvalidCatalogName,
	}, pg.Code)
}

// Translate wraps errors that mean something to the domain whatever the statement: a clash of two
// transactions is a conflict. A lost lease becomes outbox.ErrLeaseLost.
func Translate(err error) error {
	var pg *pgconn.PgError
	switch {
	case hasNoSession(err):
		return err
	case !errors.As(err, &pg):
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%w: %w", ranking.ErrTimeout, err)
		}
		return err
	}
	switch pg.Code {
	case pgerrcode.CheckViolation:
		switch pg.ConstraintName {
		case unchanged:
			return fmt.Errorf("%w: %w", ranking.ErrConflict, err)
		case leaseHeld:
			return fmt.Errorf("%w: %w", outbox.ErrLeaseLost, err)
		}
	case pgerrcode.SerializationFailure, pgerrcode.DeadlockDetected:
		return fmt.Errorf("%w: %w", ranking.ErrConflict, err)
	case pgerrcode.LockNotAvailable:
		return fmt.Errorf("%w: %w", ranking.ErrLocked, err)
	case pgerrcode.QueryCanceled, transactionTimeout:
		return fmt.Errorf("%w: %w", ranking.ErrTimeout, err)
	}
	return err
}

// Unavailable is true if an error means that the database cannot be reached or cannot work at the moment, so that the same operation will
// succeed later, or that another instance has to do it now. In short, the error says nothing about the operation itself. A statement
// timeout alone does not count, see pgranking.Store.Blame.
func Unavailable(err error) bool {
	var pg *pgconn.PgError
	switch {
	case hasNoSession(err), errors.Is(err, ErrTooNew), errors.Is(err, ErrNoSchema):
		return true
	case errors.As(err, &pg):
		return endsSession(pg.Code) ||
			pg.Code == pgerrcode.InsufficientPrivilege || // rights that are gone are gone for all updates
			pgerrcode.IsInsufficientResources(pg.Code) ||
			pgerrcode.IsOperatorIntervention(pg.Code) && pg.Code != pgerrcode.QueryCanceled ||
			pg.Code == pgerrcode.IdleInTransactionSessionTimeout || // this process was stalled
			pg.Code == pgerrcode.CheckViolation && pg.ConstraintName == leaseHeld
	}
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded): // it is a net.Error too
		return false
	default:
		return errors.As(err, &network) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
			err != nil && strings.Contains(err.Error(), "conn closed") // pgx does not export this one
	}
}
