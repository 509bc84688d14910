package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/migrations"
)

// openPools opens the database for a running bot and migrates it.
func openPools(ctx context.Context, url string, log *slog.Logger) (postgres.Pools, error) {
	pools, err := postgres.OpenPools(ctx, url, databaseTimeout, log)
	if err != nil {
		return postgres.Pools{}, withHint(err)
	}
	if err := postgres.Migrate(ctx, pools.Commands, migrations.FS); err != nil {
		pools.Close()
		return postgres.Pools{}, err
	}
	return pools, nil
}

// Open opens the database for a command that uses it next to the running bot. It returns a *ConfigError if the
// configuration has faults, and an error if the schema is not that of this version.
func (c DatabaseConfig) Open(ctx context.Context) (*pgxpool.Pool, error) {
	if faults := c.Faults(); len(faults) > 0 {
		return nil, &ConfigError{faults}
	}
	pool, err := postgres.Open(ctx, c.DatabaseURL, databaseTimeout, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return nil, withHint(err)
	}
	if err := postgres.CheckSchema(ctx, pool, migrations.FS); err != nil {
		postgres.Close(pool)
		return nil, err
	}
	return pool, nil
}

// withHint adds to an error of opening the database what to look at.
func withHint(err error) error {
	if errors.Is(err, postgres.ErrTransactionPooling) { // its text already says what to do
		return err
	}
	return fmt.Errorf("%w\nIs PostgreSQL running, and are host, user, password and database in DATABASE_URL correct?", err)
}
