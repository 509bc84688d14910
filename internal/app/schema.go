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

// guardedLetters stores dead letters only while the schema is known not to be that of a newer release, which may be
// able to handle the update.
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
	return fmt.Errorf("check the schema before an update is given up: %w", err)
}
