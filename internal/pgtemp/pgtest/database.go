package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5" // for URLs with pgx5
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/migrations"
)

const (
	namePrefix = "elobot_test_"
	nameTime   = "20060102150405"
)

// databaseName returns a name that contains a time, see dropStale.
func databaseName(at time.Time, suffix string) string {
	return namePrefix + at.UTC().Format(nameTime) + "_" + suffix
}

// cloneName returns a unique name for a new database.
func cloneName() string { return databaseName(time.Now(), strings.ToLower(rand.Text()[:12])) }

// databaseURL returns the URL of another database on the same server.
func databaseURL(server, name string) (string, error) {
	parsed, err := url.Parse(server)
	if err != nil {
		return "", errors.New("it is not a URL") // url.Parse quotes the URL, including the password
	}
	if parsed.Scheme != "postgres" && parsed.Scheme != "postgresql" {
		return "", errors.New("it must begin with postgres://")
	}
	parsed.Path = "/" + name
	query := parsed.Query()
	query.Del("dbname") // it overrides the path
	parsed.RawQuery = query.Encode()
	return parsed.String(), nil
}

// execute runs do on a new connection.
func execute(ctx context.Context, server string, do func(*pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(conn)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// operationTimeout limits creating or dropping one database. It is long enough for a busy machine.
const operationTimeout = time.Minute

// administrator creates and drops databases for the tests of this process. It uses one connection, because opening one
// costs more than creating a database.
type administrator struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// execute runs do on the connection to the server. It reconnects if the connection is broken.
func (a *administrator) execute(server string, do func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil || a.conn.IsClosed() {
		if a.conn, err = pgx.Connect(ctx, server); err != nil {
			return err
		}
	}
	return do(ctx, a.conn)
}

// close closes the connection. Otherwise its reader in the background, which a slow write starts, outlives the tests.
func (a *administrator) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil {
		return nil
	}
	return a.conn.Close(context.Background())
}

func dropDatabase(server, name string) error {
	return admin.execute(server, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name)+" WITH (FORCE)")
		return err
	})
}

// isInUse reports whether a statement has failed because the database has connections.
func isInUse(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == pgerrcode.ObjectInUse
}

// retryWhileInUse executes a statement until it does not fail because the database has connections. The server notices with a delay that
// a client has gone.
func retryWhileInUse(ctx context.Context, conn *pgx.Conn, statement string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := conn.Exec(ctx, statement)
		if !isInUse(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

const (
	// unfinishedSuffix is the end of a template's name until all migrations have run.
	unfinishedSuffix = "_unfinished"
	// templateLock is the advisory lock for creating templates and dropping old databases.
	templateLock = 0x656c6f626f74
	// staleAge is the age at which databases that other processes have left behind are dropped.
	staleAge = 48 * time.Hour
)

// templateName returns a name that changes whenever a migration changes, and every day.
func templateName(files fs.FS, now time.Time) (string, error) {
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
	return databaseName(now.Truncate(24*time.Hour), fmt.Sprintf("template_%x", sha256.Sum256(all))[:20]), nil
}

func makeSharedTemplate() (string, error) {
	s, err := sharedServer()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*operationTimeout)
	defer cancel()
	return makeTemplate(ctx, s.url, migrations.FS)
}

// makeTemplate creates the migrated database from which others are cloned, unless another process has created it.
func makeTemplate(ctx context.Context, server string, files fs.FS) (name string, err error) {
	if name, err = templateName(files, time.Now()); err != nil {
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
	// Forbid connections from now on, because a connection would prevent cloning.
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+quoted(partial)+" WITH ALLOW_CONNECTIONS false"); err != nil {
		return err
	}
	return retryWhileInUse(ctx, conn, "ALTER DATABASE "+quoted(partial)+" RENAME TO "+quoted(name))
}

// migrateUp applies all migrations and closes all its connections.
func migrateUp(address string, files fs.FS) (err error) {
	source, err := iofs.New(files, ".")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	_, rest, _ := strings.Cut(address, "://")
	migrator, err := migrate.NewWithSourceInstance("iofs", source, "pgx5://"+rest)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare migrations: %w", err), source.Close())
	}
	defer func() {
		sourceErr, databaseErr := migrator.Close()
		err = errors.Join(err, sourceErr, databaseErr)
	}()
	if err := migrator.Up(); err != nil {
		return fmt.Errorf("run migrations: %w", err)
	}
	return nil
}

// dropStale drops databases of this package that killed processes have left on a server that outlives them. It skips databases with
// connections and databases of roles that the current role is not a member of. The caller holds templateLock, so no process is working on
// an unfinished template.
func dropStale(ctx context.Context, conn *pgx.Conn, now time.Time) error {
	rows, err := conn.Query(ctx, `
		SELECT datname FROM pg_database d
		WHERE datname ~ ('^' || $1 || '[0-9]{14}_') AND pg_has_role(datdba, 'USAGE')
		  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid) -- DROP would wait for seconds
		  AND (substr(datname, 1 + length($1), 14) < $2 OR datname LIKE '%' || $3)`,
		namePrefix, now.Add(-staleAge).UTC().Format(nameTime), unfinishedSuffix)
	if err != nil {
		return fmt.Errorf("look for old databases: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for old databases: %w", err)
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name)); err != nil && !isInUse(err) {
			return fmt.Errorf("drop old database %s: %w", name, err)
		}
	}
	return nil
}
