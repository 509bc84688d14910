package pgtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
)

const (
	templatePrefix = "elobot_template_"
	// unfinishedSuffix is the end of a template's name until all migrations have run.
	unfinishedSuffix = "_unfinished"
	// templateLock is the advisory lock for creating templates and dropping old databases.
	templateLock = 0x656c6f626f74
	// staleAge is the age at which databases that other processes have left behind are dropped.
	staleAge = 24 * time.Hour
)

// templateName returns a name that changes whenever a migration changes.
func templateName(files fs.FS) (string, error) {
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return "", fmt.Errorf("list migrations: %w", err)
	}
	var all []byte
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return "", fmt.Errorf("read migration: %w", err)
		}
		all = fmt.Appendf(all, "%q %q\n", name, content)
	}
	hash := sha256.Sum256(all)
	return templatePrefix + hex.EncodeToString(hash[:])[:12], nil
}

// makeTemplate creates the migrated database from which others are cloned, unless another process has created it.
func makeTemplate(ctx context.Context, server string, files fs.FS) (name string, err error) {
	if name, err = templateName(files); err != nil {
		return "", err
	}
	err = execute(ctx, server, func(conn *pgx.Conn) error {
		// The lock is released when the connection closes.
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
			return fmt.Errorf("wait for other test processes: %w", err)
		}
		if err := ensureTemplate(ctx, conn, server, name, files); err != nil {
			return err
		}
		if err := markUsed(ctx, conn, name); err != nil {
			return err
		}
		return dropStale(ctx, conn, time.Now())
	})
	return name, err
}

func ensureTemplate(ctx context.Context, conn *pgx.Conn, server, name string, files fs.FS) error {
	var exists bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the template: %w", err)
	}
	if exists {
		return nil
	}
	partial := name + unfinishedSuffix
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + quoted(partial) + " WITH (FORCE)", // left by a process that was killed
		"CREATE DATABASE " + quoted(partial) + " TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("create an empty database: %w", err)
		}
	}
	address, err := databaseURL(server, partial)
	if err != nil {
		return err
	}
	if err := migrateUp(address, files); err != nil {
		return err
	}
	if err := markUsed(ctx, conn, partial); err != nil {
		return err
	}
	// Forbid connections from now on, because a connection would prevent cloning.
	return retryWhileInUse(ctx, func() error {
		if _, err := conn.Exec(ctx, "ALTER DATABASE "+quoted(partial)+" WITH ALLOW_CONNECTIONS false"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "ALTER DATABASE "+quoted(partial)+" RENAME TO "+quoted(name))
		return err
	})
}

// markUsed stores the time of the last use of a template in its comment, for dropStale.
func markUsed(ctx context.Context, conn *pgx.Conn, name string) error {
	comment := fmt.Sprintf("COMMENT ON DATABASE %s IS '%d'", quoted(name), time.Now().Unix())
	if _, err := conn.Exec(ctx, comment); err != nil {
		return fmt.Errorf("mark the template as used: %w", err)
	}
	return nil
}

// migrateUp applies all migrations and closes all its connections.
func migrateUp(address string, files fs.FS) (err error) {
	source, err := iofs.New(files, ".")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	db, err := sql.Open("pgx/v5", address)
	if err != nil {
		return errors.Join(err, source.Close())
	}
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{})
	if err != nil {
		return errors.Join(fmt.Errorf("prepare migrations: %w", err), db.Close(), source.Close())
	}
	migrator, err := migrate.NewWithInstance("iofs", source, "pgx5", driver)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare migrations: %w", err), driver.Close(), source.Close())
	}
	defer func() {
		sourceErr, driverErr := migrator.Close()
		err = errors.Join(err, sourceErr, driverErr)
	}()
	if err := migrator.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
		return fmt.Errorf("run migrations: %w", err)
	}
	return nil
}

// dropStale drops old databases of this package on a server that outlives the tests: templates that have not been used for
// staleAge, and clones that are older than staleAge. It skips databases with connections and databases of roles that the
// current role is not a member of.
func dropStale(ctx context.Context, conn *pgx.Conn, now time.Time) error {
	rows, err := conn.Query(ctx, `
		SELECT datname, coalesce(shobj_description(oid, 'pg_database'), '')
		FROM pg_database d
		WHERE (starts_with(datname, $1) OR starts_with(datname, $2)) AND pg_has_role(d.datdba, 'USAGE')
		  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)`, templatePrefix, clonePrefix)
	if err != nil {
		return fmt.Errorf("look for old databases: %w", err)
	}
	type database struct{ Name, Comment string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[database])
	if err != nil {
		return fmt.Errorf("look for old databases: %w", err)
	}
	for _, d := range found {
		if !expired(d.Name, d.Comment, now) {
			continue
		}
		if err := dropUnused(ctx, conn, d.Name); err != nil {
			return fmt.Errorf("drop old database %s: %w", d.Name, err)
		}
	}
	return nil
}

// expired reports whether a database can be dropped. A database whose name only has our prefix belongs to somebody else and
// stays. An unfinished template can always be dropped: the caller holds templateLock, so no process is working on it.
func expired(name, comment string, now time.Time) bool {
	if strings.HasPrefix(name, templatePrefix) && strings.HasSuffix(name, unfinishedSuffix) {
		return true
	}
	if at, ok := madeAt(name); ok {
		return now.Sub(at) >= staleAge
	}
	seconds, err := strconv.ParseInt(comment, 10, 64)
	return err == nil && strings.HasPrefix(name, templatePrefix) && now.Sub(time.Unix(seconds, 0)) >= staleAge
}
