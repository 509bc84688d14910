package app

import (
	"context"
	"elobot/internal/postgres"
	"elobot/migrations"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
)

// databases are the connections of a running bot: the pool of the commands, and the one beside it.
type databases struct {
	pool, auxiliary *pgxpool.Pool
}

// openDatabases opens the database twice, and brings it up to date.
func openDatabases(ctx context.Context, url string, log *slog.Logger) (databases, error) {
	pool, err := openDatabase(ctx, url, log)
	if err != nil {
		return databases{}, err
	}
	auxiliary, err := postgres.Beside(ctx, pool)
	if err != nil {
		postgres.Close(pool)
		return databases{}, err
	}
	return databases{pool, auxiliary}, nil
}

// Open opens the database for a command that uses it beside the running bot. Its tables must be those of this version.
func (c DatabaseConfig) Open(ctx context.Context) (*pgxpool.Pool, error) {
	if faults := c.Faults(); len(faults) > 0 {
		return nil, &ConfigError{faults}
	}
	pool, err := connectDatabase(ctx, c.DatabaseURL, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return nil, err
	}
	if err := postgres.CheckSchema(ctx, pool, migrations.FS); err != nil {
		postgres.Close(pool)
		return nil, err
	}
	return pool, nil
}

// connectDatabase opens the database as it is.
func connectDatabase(ctx context.Context, url string, log *slog.Logger) (*pgxpool.Pool, error) {
	pool, err := postgres.Open(ctx, url, databasePatience, log)
	switch {
	case errors.Is(err, postgres.ErrTransactionPooling): // says itself what to do
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w\nIs PostgreSQL running, and does DATABASE_URL say where, with the right user, password and database?", err)
	}
	return pool, nil
}

// openDatabase opens the database and brings it up to date.
func openDatabase(ctx context.Context, url string, log *slog.Logger) (*pgxpool.Pool, error) {
	pool, err := connectDatabase(ctx, url, log)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool, migrations.FS); err != nil {
		postgres.Close(pool)
		return nil, err
	}
	return pool, nil
}
