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

// schemaInterval is how often an instance checks whether a newer release has upgraded the database.
const schemaInterval = 10 * time.Second

// watchSchema waits until a newer release has upgraded the database and returns postgres.ErrTooNew,
// or nil if the context ends first.
func watchSchema(ctx context.Context, pool *pgxpool.Pool) error {
	tick := time.NewTicker(schemaInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		checking, cancel := context.WithTimeout(ctx, leaseTimeout)
		err := postgres.CheckNotNewer(checking, pool, migrations.FS)
		cancel()
		if errors.Is(err, postgres.ErrTooNew) {
			return err
		}
	}
}

// guardedLetters stores a dead letter only after checking that no newer release has upgraded the
// schema, because that release might be able to handle the update.
type guardedLetters struct {
	intake.DeadLetters
	pool *pgxpool.Pool
}

// Save implements intake.DeadLetters.
func (g guardedLetters) Save(ctx context.Context, letter intake.DeadLetter) error {
	if err := postgres.CheckNotNewer(ctx, g.pool, migrations.FS); err != nil {
		return fmt.Errorf("check the schema before an update is given up: %w", err)
	}
	return g.DeadLetters.Save(ctx, letter)
}
