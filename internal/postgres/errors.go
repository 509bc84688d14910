package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// The names of the domains that something which does not hold is cast to.
const (
	asRead    = "as_read"
	leaseHeld = "lease_held"
)

// translate puts the errors into the domain's terms that mean something there: a key that exists has been handled, and
// whatever comes of two transactions at once is a conflict. Of a lease that is lost the outbox has a word.
func translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case pgerrcode.CheckViolation:
		switch pg.ConstraintName {
		case asRead:
			return fmt.Errorf("%w: %w", ranking.ErrConflict, err)
		case leaseHeld:
			return fmt.Errorf("%w: %w", outbox.ErrLeaseLost, err)
		}
	case pgerrcode.SerializationFailure, pgerrcode.DeadlockDetected, pgerrcode.LockNotAvailable:
		return fmt.Errorf("%w: %w", ranking.ErrConflict, err)
	case pgerrcode.UniqueViolation:
		switch pg.ConstraintName {
		case "handled_commands_pkey", "matches_idempotency_key_key":
			return fmt.Errorf("%w: %w", ranking.ErrHandled, err)
		case "players_telegram_user_id_key", "players_username_key", "group_players_ladder_id_player_id_key":
			return fmt.Errorf("%w: %w", ranking.ErrConflict, err) // two have met the same person at once
		case "chats_telegram_chat_id_key", "chats_no_alias", "chat_aliases_pkey", "chat_aliases_no_chat":
			return fmt.Errorf("%w: %w", ranking.ErrConflict, err) // two have met the same chat at once, or it moves
		}
	case pgerrcode.ForeignKeyViolation:
		switch pg.ConstraintName {
		case "outbox_chat_id_fkey", "chat_aliases_chat_id_fkey", "groups_chat_id_fkey", "ladders_group_id_fkey",
			"group_players_ladder_id_fkey":
			return fmt.Errorf("%w: %w", ranking.ErrConflict, err) // the chat has become one with another one
		}
	}
	return err
}

// Unavailable says whether an error means that the database cannot be reached or cannot work at the moment, so that the
// same will succeed later, or that it is for another instance to do now: in short, that it says nothing of what was to
// be done. A statement that took too long says nothing of that kind by itself, see Store.Unavailable.
func Unavailable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return endsSession(pg.Code) ||
			pgerrcode.IsInsufficientResources(pg.Code) ||
			pgerrcode.IsOperatorIntervention(pg.Code) && pg.Code != pgerrcode.QueryCanceled ||
			pg.Code == pgerrcode.IdleInTransactionSessionTimeout || // this process has stood still
			pg.Code == pgerrcode.CheckViolation && pg.ConstraintName == leaseHeld
	}
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect):
		return true
	case errors.Is(err, context.DeadlineExceeded): // which is a net.Error too
		return false
	default:
		return errors.As(err, &network) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
			err != nil && strings.Contains(err.Error(), "conn closed") // pgx does not export this one
	}
}

// pingTimeout is how soon a database that is there answers.
const pingTimeout = time.Second

// Unavailable is the function of that name for errors of this store. Of something that took too long it finds out
// whether the database answers at all: if it does, it was that statement's own fault.
func (s *Store) Unavailable(err error) bool {
	if !errors.Is(err, context.DeadlineExceeded) {
		return Unavailable(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return s.pool.Ping(ctx) != nil
}
