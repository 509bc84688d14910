package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

// onDial returns a function that changes a pool's configuration: called then runs before each
// connection is made, with the number of earlier connection attempts. If called fails, the
// connection fails too.
func onDial(called func(before int64) error) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) {
		var count atomic.Int64
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if err := called(count.Add(1) - 1); err != nil {
				return nil, err
			}
			return dial(ctx, network, address)
		}
	}
}

// once is a function for onDial that allows only the first connection.
func once(before int64) error {
	if before > 0 {
		return errors.New("another connection")
	}
	return nil
}

func holdMigrationLock(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	driver, err := migratepgx.WithInstance(stdlib.OpenDBFromPool(pool), &migratepgx.Config{})
	dbtest.Must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(driver.Unlock(), driver.Close()); err != nil {
			t.Error(err)
		}
	})
	dbtest.Must(t, driver.Lock())
}

// TestMigrateUpToDate checks that, if the database is up to date, Migrate uses only one connection
// of the pool, and does not wait for the migration lock.
func TestMigrateUpToDate(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	holdMigrationLock(t, d.Pool)
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait)
	defer cancel()
	if err := postgres.Migrate(ctx, dbtest.Open(t, d.URL, onDial(once)), migrations.FS, silent); err != nil {
		t.Error(err)
	}
}

// TestMigrateCannotReadVersion checks that, if the version cannot be read, Migrate returns the
// reason.
func TestMigrateCannotReadVersion(t *testing.T) {
	t.Parallel()
	errAway := errors.New("away")
	pool := dbtest.Open(t, dbtest.ClosedPort(t), onDial(func(before int64) error { return cmp.Or(once(before), errAway) }))
	if err := postgres.Migrate(t.Context(), pool, migrations.FS, silent); !errors.Is(err, errAway) {
		t.Errorf("no connection: %v", err)
	}
	pool = dbtest.Open(t, pgtest.Borrow(t).URL, onDial(once), func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE schema_migrations (version bigint)")
			return err
		}
	})
	err := postgres.Migrate(t.Context(), pool, migrations.FS, silent)
	if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != pgerrcode.UndefinedColumn {
		t.Errorf("another table of the name: %v", err)
	}
}

// TestMigrateWaitsForVersion checks that, if another instance locks the version for longer than the
// lock timeout, Migrate waits.
func TestMigrateWaitsForVersion(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	writing := dbtest.Begin(t, d.Pool)
	dbtest.Exec(t, writing, `LOCK TABLE schema_migrations`)
	migrates := make(chan struct{}) // closed when Migrate opens a second connection
	pool := dbtest.Open(t, d.URL, onDial(func(before int64) error {
		if before == 1 {
			close(migrates)
		}
		return nil
	}), func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET lock_timeout = '10ms'")
			return err
		}
	})
	migrated := dbtest.Start(func() error { return postgres.Migrate(t.Context(), pool, migrations.FS, silent) })
	select {
	case <-migrates:
	case err := <-migrated:
		t.Fatalf("Migrate does not wait: %v", err)
	}
	dbtest.Await(t, d.Pool, dbtest.Blocked)
	dbtest.Must(t, writing.Rollback(t.Context()))
	if err := dbtest.Receive(t, migrated); err != nil {
		t.Error(err)
	}
}
