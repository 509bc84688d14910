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
	"github.com/jackc/pgx/v5"
)

const (
	namePrefix = "elobot_test_"
	nameTime   = "20060102150405"
)

// databaseName returns a name that contains a time, by which dropStale finds old databases.
func databaseName(at time.Time, suffix string) string {
	return namePrefix + at.UTC().Format(nameTime) + "_" + suffix
}

func cloneName() string { return databaseName(time.Now(), strings.ToLower(rand.Text()[:12])) }

// databaseURL returns the URL of another database on the same server.
func databaseURL(server, name string) (string, error) {
	parsed, err := url.Parse(server)
	if err != nil {
		// err quotes the URL, including the password.
		return "", errors.New("it is not a URL")
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

// execute runs do on a new connection, and then closes the connection.
func execute(ctx context.Context, server string, do func(*pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(conn)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// operationTimeout limits an operation on a database, such as creating or dropping it. It is long
// enough for a busy machine.
const operationTimeout = time.Minute

// administrator creates and drops databases for the tests of this process. It uses a single
// connection, because opening one costs more than creating a database.
type administrator struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// execute runs a statement on the server. It reconnects if the connection is broken.
func (a *administrator) execute(server, statement string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil || a.conn.IsClosed() {
		if a.conn, err = pgx.Connect(ctx, server); err != nil {
			return err
		}
	}
	_, err = a.conn.Exec(ctx, statement)
	return err
}

// close closes the connection. Otherwise the background reader that pgx starts during a slow write
// could outlive the tests.
func (a *administrator) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil {
		return nil
	}
	return a.conn.Close(context.Background())
}

func dropDatabase(server, name string) error {
	return admin.execute(server, "DROP DATABASE IF EXISTS "+quoted(name)+" WITH (FORCE)")
}

const (
	// templateLock is the advisory lock for creating templates and dropping old databases.
	templateLock int64 = 0x656c6f626f74
	// staleAge is the age at which a database is considered left behind by another process, and
	// dropped.
	staleAge = 48 * time.Hour
)

// templateName returns a name that changes whenever the migrations change, and every day.
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

// makeTemplate creates the migrated database from which others are cloned, unless it exists
// already. When it creates the template, it also drops databases that killed processes have left
// behind: the server may outlive test runs.
func makeTemplate(ctx context.Context, server string, files fs.FS) (name string, err error) {
	if name, err = templateName(files, time.Now()); err != nil {
		return "", err
	}
	return name, execute(ctx, server, func(conn *pgx.Conn) error {
		// The lock is released when the connection closes.
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
			return fmt.Errorf("wait for other test processes: %w", err)
		}
		var exists bool
		if err := conn.QueryRow(ctx,
			"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil || exists {
			return err
		}
		dropStale(ctx, conn, time.Now())
		return fillTemplate(ctx, conn, server, name, files)
	})
}

// fillTemplate creates the template under another name, and renames it once all migrations have
// been applied.
func fillTemplate(ctx context.Context, conn *pgx.Conn, server, name string, files fs.FS) error {
	partial := cloneName()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+quoted(partial)+" TEMPLATE template0"); err != nil {
		return fmt.Errorf("create an empty database: %w", err)
	}
	address, err := databaseURL(server, partial)
	if err == nil {
		err = migrateUp(address, files)
	}
	if err == nil { // a connection would prevent cloning
		_, err = conn.Exec(ctx, "ALTER DATABASE "+quoted(partial)+" WITH ALLOW_CONNECTIONS false")
	}
	if err == nil {
		_, err = conn.Exec(ctx, "ALTER DATABASE "+quoted(partial)+" RENAME TO "+quoted(name))
	}
	if err != nil {
		_, dropErr := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(partial)+" WITH (FORCE)")
		err = errors.Join(err, dropErr)
	}
	return err
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

// dropStale drops old databases of this package, except those that have connections or that the
// current role may not drop.
func dropStale(ctx context.Context, conn *pgx.Conn, now time.Time) {
	rows, _ := conn.Query(ctx, `
		SELECT datname FROM pg_database d WHERE datname ~ $1 AND datname < $2
		AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)`, // DROP would wait
		"^"+namePrefix+"[0-9]{14}_", databaseName(now.Add(-staleAge), ""))
	// The tests do not depend on this, so errors are ignored.
	names, _ := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		_, _ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name))
	}
}
