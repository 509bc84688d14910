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

// databases are the connections of a running bot.
type databases struct {
	pool      *pgxpool.Pool // of commands
	auxiliary *pgxpool.Pool // of what must go on while all of those wait
	reading   *pgxpool.Pool // of questions
}

// openDatabases opens the database and brings it up to date.
func openDatabases(ctx context.Context, url string, log *slog.Logger) (db databases, err error) {
	db.pool, err = openDatabase(ctx, url, log)
	if err != nil {
		return databases{}, err
	}
	if db.auxiliary, err = postgres.AuxiliaryPool(ctx, db.pool); err == nil {
		db.reading, err = postgres.ReadPool(ctx, db.pool)
	}
	if err != nil {
		db.close()
		return databases{}, err
	}
	return db, nil
}

func (db databases) close() {
	var all []*pgxpool.Pool
	for _, pool := range []*pgxpool.Pool{db.pool, db.auxiliary, db.reading} {
		if pool != nil {
			all = append(all, pool)
		}
	}
	postgres.Close(all...)
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
