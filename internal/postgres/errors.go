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

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// The names of the domains that something which does not hold is cast to.
const (
	unchanged = "unchanged"
	leaseHeld = "lease_held"
)

// transactionTimeout is the code of a transaction that takes longer than the setting of that name allows.
const transactionTimeout = "25P04"

// translate puts the errors into the domain's terms that mean something there: a key that exists has been handled, and
// whatever comes of two transactions at once is a conflict. Of a lease that is lost the outbox has a word.
func translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
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
// be done. A statement that took too long says nothing of that kind by itself, see Store.Class.
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

// Class says what an error means for the update that it came of. Where an answer was waited for in vain it finds out whether
// the database answers anything at all, which takes up to a second.
func (s *Store) Class(err error) intake.Class {
	var pg *pgconn.PgError
	answered := errors.As(err, &pg)
	switch {
	case Unavailable(err):
		return intake.Away
	case errors.Is(err, ranking.ErrTimeout) && !answered && s.silent():
		return intake.Away
	case errors.Is(err, ranking.ErrConflict), errors.Is(err, ranking.ErrLocked), errors.Is(err, ranking.ErrTimeout):
		return intake.Busy
	case answered && pgerrcode.IsIntegrityConstraintViolation(pg.Code):
		return intake.Hopeless
	default:
		return intake.Failed
	}
}

// Unavailable says whether an error says nothing against what was to be done, so that it is to be done later.
func (s *Store) Unavailable(err error) bool {
	class := s.Class(err)
	return class == intake.Away || class == intake.Busy
}

// silent tells whether the database answers nothing.
func (s *Store) silent() bool {
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return s.auxiliary.Ping(ctx) != nil
}
