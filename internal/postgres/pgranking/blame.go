package pgranking

import (
	"context"
	"errors"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/intake"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Blame classifies an error by its likely cause: the database, other transactions, or the update
// itself. After a timeout without an answer from the server, it pings the database, which takes up
// to postgres.PingTimeout.
func (s *Store) Blame(err error) intake.Blame {
	var pg *pgconn.PgError
	answered := errors.As(err, &pg)
	switch {
	case postgres.Unavailable(err):
		return intake.Unavailable
	case errors.Is(err, ranking.ErrTimeout) && !answered && s.unresponsive():
		return intake.Unavailable
	case errors.Is(err, ranking.ErrConflict), errors.Is(err, ranking.ErrLocked), errors.Is(err, ranking.ErrTimeout):
		return intake.Locked
	case answered && pgerrcode.IsIntegrityConstraintViolation(pg.Code):
		return intake.Permanent
	default:
		return intake.Failed
	}
}

// RetryLater reports whether an operation that failed with err should be retried later, because the
// database was unavailable or other transactions may have been in the way. Like Blame, it may ping
// the database.
func (s *Store) RetryLater(err error) bool {
	blame := s.Blame(err)
	return blame == intake.Unavailable || blame == intake.Locked
}

func (s *Store) unresponsive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), postgres.PingTimeout)
	defer cancel()
	return s.Auxiliary.Ping(ctx) != nil
}
