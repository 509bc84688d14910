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

// Blame returns what an error means for the update that caused it. After a timeout without an
// answer it checks whether the database answers at all, which takes up to a second.
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

// RetryLater reports whether an error says nothing against the operation itself, so that it
// should be done later.
func (s *Store) RetryLater(err error) bool {
	blame := s.Blame(err)
	return blame == intake.Unavailable || blame == intake.Locked
}

func (s *Store) unresponsive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), postgres.PingTimeout)
	defer cancel()
	return s.Auxiliary.Ping(ctx) != nil
}
