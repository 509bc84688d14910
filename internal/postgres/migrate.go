package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"elobot/internal/crashpoint"
)

// migrationLockTimeout is how long golang-migrate waits for another instance's migration. It does
// not limit the wait for the same lock when golang-migrate creates its own table.
const migrationLockTimeout = 5 * time.Minute

// waitsInSilence is how long an instance waits for another instance's migration before it logs that
// it is waiting.
const waitsInSilence = 3 * time.Second

// Migrate brings the database to the newest version of the files. If several instances call it at
// the same time, one of them migrates and the others wait. A step that a killed process left
// unfinished runs again. Migrate returns when the context ends, even while it waits; a running step
// is then applied as a whole or not at all. If the database is up to date, Migrate only reads its
// version, through a connection of the pool. It fails with ErrTooOld or ErrTooNew if the database's
// version is older or newer than all versions in the files.
func Migrate(ctx context.Context, pool *pgxpool.Pool, files fs.FS, log *slog.Logger) error {
	return migrateAfter(ctx, pool, files, log, time.AfterFunc)
}

func migrateAfter(ctx context.Context, pool *pgxpool.Pool, files fs.FS, log *slog.Logger, after afterFunc) (err error) {
	switch at, err := progressOf(ctx, pool, files); {
	case errors.Is(err, ErrTooOld):
		return err
	case errors.Is(err, ErrTooNew):
		return ErrTooNew
	case errors.Is(err, ErrNoSchema), codeOf(err) == pgerrcode.LockNotAvailable:
		// There is no schema yet, or another instance holds the lock on the version.
	case err != nil:
		return fmt.Errorf("migrate: %w", err)
	case at.version == at.newest && !at.dirty:
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := newMigration(ctx, pool, files, log, after)
	if err != nil {
		return fmt.Errorf("migrate: %w", errors.Join(ctx.Err(), err))
	}
	defer func() {
		sourceErr, databaseErr := m.Close()
		err = errors.Join(err, sourceErr, databaseErr)
	}()
	switch err := m.Up(); {
	case errors.Is(err, migrate.ErrNoChange):
	case errors.Is(err, fs.ErrNotExist): // a newer instance was faster
		return ErrTooNew
	case err != nil:
		return fmt.Errorf("migrate: %w", errors.Join(ctx.Err(), err))
	}
	return nil
}

type progress struct {
	version, newest uint // versions of the database and of the files
	dirty           bool // the step to this version is unfinished
}

// progressOf reads the progress of a database. It fails with ErrTooOld or ErrTooNew if the
// database's version is outside the range of the files, and with ErrNoSchema if the database has no
// version.
func progressOf(ctx context.Context, pool *pgxpool.Pool, files fs.FS) (p progress, err error) {
	first, newest, err := versions(files)
	if err != nil {
		return p, err
	}
	p.newest = newest
	err = pool.QueryRow(ctx, `SELECT version, dirty FROM schema_migrations`).Scan(&p.version, &p.dirty)
	switch {
	case errors.Is(err, pgx.ErrNoRows), codeOf(err) == pgerrcode.UndefinedTable:
		return p, ErrNoSchema
	case err != nil:
		return p, fmt.Errorf("read the version of the database: %w", err)
	case p.version < first:
		return p, ErrTooOld
	case p.version > newest:
		return p, fmt.Errorf("%w (the database is at version %d, and this elobot knows %d)", ErrTooNew, p.version, newest)
	}
	return p, nil
}

// CheckSchema returns an error unless the database is at exactly the newest version of the files
// and no migration is unfinished. It changes nothing.
func CheckSchema(ctx context.Context, pool *pgxpool.Pool, files fs.FS) error {
	switch at, err := progressOf(ctx, pool, files); {
	case err != nil:
		return err
	case at.dirty:
		return fmt.Errorf("the migration of the database to version %d is unfinished: `elobot run` finishes it", at.version)
	case at.version < at.newest:
		return fmt.Errorf("the database is at version %d and this elobot needs %d: `elobot run` brings it up to date",
			at.version, at.newest)
	}
	return nil
}

// CheckNotNewer fails with ErrTooNew if a newer release has upgraded the database or is upgrading
// it. It returns another error if the version of the database is missing, too old or unreadable.
func CheckNotNewer(ctx context.Context, pool *pgxpool.Pool, files fs.FS) error {
	_, err := progressOf(ctx, pool, files)
	return err
}

func versions(files fs.FS) (first, newest uint, err error) {
	src, err := iofs.New(files, ".")
	if err != nil {
		return 0, 0, fmt.Errorf("read migration files: %w", err)
	}
	first, err = src.First()
	for next := first; err == nil; next, err = src.Next(newest) {
		newest = next
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, fmt.Errorf("read migration files: %w", err)
	}
	return first, newest, nil
}

// ErrTooOld and ErrTooNew mean that this release cannot work with the database as it is.
var (
	ErrTooOld = errors.New(
		"the database was made by an elobot from before version 0.1.0, which cannot be brought up to date: " +
			"use a new database")
	ErrTooNew = errors.New(
		"the database was made by a newer elobot than this one: run that one, or restore the backup from before the upgrade")
)

// ErrNoSchema means that the database has no version of elobot's schema.
var ErrNoSchema = errors.New("there is nothing of elobot in this database yet: `elobot run` creates its tables")

// afterFunc is time.AfterFunc, except in tests.
type afterFunc func(time.Duration, func()) *time.Timer

func newMigration(
	ctx context.Context, pool *pgxpool.Pool, files fs.FS, log *slog.Logger, after afterFunc,
) (*migrate.Migrate, error) {
	src, err := iofs.New(files, ".")
	if err != nil {
		return nil, fmt.Errorf("read migration files: %w", err)
	}
	config, err := connectConfig(ctx, pool)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*closeOnDone(ctx, config))
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	waiting := after(waitsInSilence, func() {
		log.WarnContext(ctx, "another instance is migrating the database, waiting for it")
	})
	context.AfterFunc(ctx, func() { waiting.Stop() })
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m, err := migrate.NewWithInstance("iofs", src, "pgx5", atomicDriver{driver, src, waiting})
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	m.LockTimeout = migrationLockTimeout
	return m, nil
}

// closeOnDone changes the configuration so that its connections close when the context ends.
// golang-migrate does not pass a context to its statements, so it would otherwise wait for as long
// as another instance holds the lock.
func closeOnDone(ctx context.Context, config *pgx.ConnConfig) *pgx.ConnConfig {
	dial := config.DialFunc
	config.DialFunc = func(dialCtx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(dialCtx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() }) // the running statement fails
		}
		return conn, err
	}
	return config
}

// atomicDriver runs each migration as one transaction that also clears the dirty mark, which
// golang-migrate sets before the migration. So if a version is dirty while this process holds the
// lock, the transaction of that version was rolled back, and the migration can simply run again.
type atomicDriver struct {
	database.Driver
	files   source.Driver
	waiting *time.Timer // logs that another instance migrates; stopped once the lock is held
}

// Lock implements database.Driver.
func (d atomicDriver) Lock() error {
	err := d.Driver.Lock()
	if err == nil {
		d.waiting.Stop()
	}
	return err
}

// Run implements database.Driver. It sends the migration as one query, which the server runs as one
// transaction.
func (d atomicDriver) Run(migration io.Reader) error {
	done := "\n;UPDATE " + migratepgx.DefaultMigrationsTable + " SET dirty = false;"
	crashpoint.At(crashpoint.Migrating)
	if err := d.Driver.Run(io.MultiReader(migration, strings.NewReader(done))); err != nil {
		return err
	}
	crashpoint.At(crashpoint.Migrated)
	return nil
}

// Version implements database.Driver. It returns the version before a dirty one, or NilVersion if
// the first version is dirty. It fails for a dirty version that is not in the files, because its
// predecessor is unknown.
func (d atomicDriver) Version() (int, bool, error) {
	version, dirty, err := d.Driver.Version()
	if err != nil || !dirty || version < 0 {
		return version, dirty, err
	}
	first, err := d.files.First()
	if err != nil {
		return 0, false, fmt.Errorf("find the first version: %w", err)
	}
	if uint(version) == first {
		return database.NilVersion, false, nil
	}
	previous, err := d.files.Prev(uint(version))
	if err != nil {
		return 0, false, fmt.Errorf("find the version before %d: %w", version, err)
	}
	return int(previous), false, nil
}
