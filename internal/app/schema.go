package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/postgres"
	"elobot/migrations"
)

// schemaInterval is how often an instance looks whether a newer release has upgraded the database.
const schemaInterval = 10 * time.Second

// errSchemaNotOurs means that an update is not given up: a newer release may be able to handle it.
var errSchemaNotOurs = errors.New("the database may have the schema of a newer release")

// schemaWatch ends an instance when a newer release has upgraded the database.
type schemaWatch struct {
	pool  *pgxpool.Pool
	newer chan error // capacity 1: what a dead letter has found out
}

func newSchemaWatch(pool *pgxpool.Pool) schemaWatch { return schemaWatch{pool, make(chan error, 1)} }

// run returns postgres.ErrTooNew once a newer release has upgraded the database, and nil when the context ends.
func (s schemaWatch) run(ctx context.Context) error {
	tick := time.NewTicker(schemaInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-s.newer:
			return err
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		checking, cancel := context.WithTimeout(ctx, leaseTimeout)
		err := postgres.CheckNotNewer(checking, s.pool, migrations.FS)
		cancel()
		if errors.Is(err, postgres.ErrTooNew) {
			return err
		}
	}
}

// guard returns dead letters that are stored only while the schema is known not to be that of a newer release.
// Otherwise Save fails with errSchemaNotOurs.
func (s schemaWatch) guard(letters intake.DeadLetters) intake.DeadLetters {
	return guardedLetters{letters, s}
}

type guardedLetters struct {
	intake.DeadLetters
	schema schemaWatch
}

// Save implements intake.DeadLetters.
func (g guardedLetters) Save(ctx context.Context, letter intake.DeadLetter) error {
	err := postgres.CheckNotNewer(ctx, g.schema.pool, migrations.FS)
	if err == nil {
		return g.DeadLetters.Save(ctx, letter)
	}
	if errors.Is(err, postgres.ErrTooNew) {
		select {
		case g.schema.newer <- err:
		default: // another update was faster
		}
	}
	return fmt.Errorf("%w: %w", errSchemaNotOurs, err)
}
