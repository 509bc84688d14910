package pgtally

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const (
	// maxAttempts is how often a step is tried if another transaction changes the same rows meanwhile, which is rare.
	maxAttempts = 4
	// marksAtOnce is how many marks a step takes.
	marksAtOnce = 2_000
	// marksApart is how many marks a step takes that counts a ladder by itself, because a larger one has failed. It may have taken too long.
	marksApart = 100
	// recountAtOnce is about how many matches of players a step of a recount counts.
	recountAtOnce = 5_000
)

// Store implements stats.TallyStore.
type Store struct {
	pool  *pgxpool.Pool
	lease *postgres.Lease // every transaction requires it; nil: no lease is needed
	marks int             // how many marks a step takes
	parts int             // about how many matches of players a step of a recount counts
}

var _ stats.TallyStore = (*Store)(nil)

// NewStore returns a store on the pool's database.
func NewStore(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, marks: marksAtOnce, parts: recountAtOnce}
}

// WithLease returns a store that fails with outbox.ErrLeaseLost once somebody else has taken over the lease.
func (s *Store) WithLease(l *postgres.Lease) *Store {
	clone := *s
	clone.lease = l
	return &clone
}

// transact runs a step.
func (s *Store) transact(ctx context.Context, step func(pgx.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := s.lease.TransactOnSnapshot(ctx, s.pool, step)
		if err = postgres.Translate(err); !errors.Is(err, ranking.ErrConflict) || attempt == maxAttempts {
			return err
		}
	}
}

// Survey implements stats.TallyStore.
func (s *Store) Survey(ctx context.Context) (found stats.TallySurvey, err error) {
	// ordered, so that no plan reads what earlier marks have left in the table
	const sql = `
		SELECT (SELECT count(*) FROM (SELECT FROM tally_marks ORDER BY id LIMIT $1) AS m),
		       coalesce((SELECT greatest(extract(epoch FROM clock_timestamp() - created_at), 0) FROM tally_marks ORDER BY id LIMIT 1), 0)::float8,
		       (SELECT count(*) FROM (SELECT FROM ladder_tallies WHERE recounting LIMIT $1) AS t)`
	if err := s.pool.QueryRow(ctx, sql, stats.MaxSurveyed).Scan(&found.Marks, &found.OldestMark, &found.Recounting); err != nil {
		return found, fmt.Errorf("survey the marks: %w", err)
	}
	return found, nil
}

// IsCurrent reports whether there is nothing to do: all matches are counted, and the places of some days ago are calculated.
func (s *Store) IsCurrent(ctx context.Context, now time.Time) (current bool, err error) {
	const sql = `
		SELECT NOT EXISTS (SELECT FROM tally_marks)
		   AND NOT EXISTS (SELECT FROM ladder_tallies WHERE recounting OR week_due_at <= $1)`
	if err := s.pool.QueryRow(ctx, sql, now).Scan(&current); err != nil {
		return false, fmt.Errorf("read whether all matches are counted: %w", err)
	}
	return current, nil
}
