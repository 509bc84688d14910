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

// databases are the connection pools of a running bot.
type databases struct {
	pool      *pgxpool.Pool // for commands
	auxiliary *pgxpool.Pool // for work that must go on while all connections for commands wait
}

// openDatabases opens both pools and migrates the database.
func openDatabases(ctx context.Context, url string, log *slog.Logger) (db databases, err error) {
	db.pool, err = openDatabase(ctx, url, log)
	if err != nil {
		return databases{}, err
	}
	if db.auxiliary, err = postgres.AuxiliaryPool(ctx, db.pool); err != nil {
		postgres.Close(db.pool)
		return databases{}, err
	}
	return db, nil
}

func (db databases) close() { postgres.Close(db.pool, db.auxiliary) }

// Open opens the database for a command that uses it next to the running bot. It returns a *ConfigError if the
// configuration has faults, and an error if the schema is not that of this version.
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

// connectDatabase opens the database without migrating it.
func connectDatabase(ctx context.Context, url string, log *slog.Logger) (*pgxpool.Pool, error) {
	pool, err := postgres.Open(ctx, url, databaseTimeout, log)
	switch {
	case errors.Is(err, postgres.ErrTransactionPooling): // its text already says what to do
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w\nIs PostgreSQL running, and are host, user, password and database in DATABASE_URL correct?", err)
	}
	return pool, nil
}

// openDatabase opens the database and migrates it.
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
