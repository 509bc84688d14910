package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	clonePrefix = "elobot_test_"
	// cloneTime is the format of a clone's creation time in its name.
	cloneTime   = "20060102150405"
	cloneRandom = 12
	// objectInUse is the SQLSTATE for a database that still has connections.
	objectInUse = "55006"
)

// cloneName returns a unique name that contains the creation time of the database.
func cloneName(now time.Time) string {
	return clonePrefix + now.UTC().Format(cloneTime) + "_" + strings.ToLower(rand.Text()[:cloneRandom])
}

// madeAt returns the creation time of a clone from its name. It returns false if the name is not a clone's.
func madeAt(name string) (time.Time, bool) {
	rest, ours := strings.CutPrefix(name, clonePrefix)
	stamp, random, _ := strings.Cut(rest, "_")
	at, err := time.ParseInLocation(cloneTime, stamp, time.UTC)
	return at, ours && err == nil && len(random) == cloneRandom
}

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

// WithParameter returns the URL of a database with an additional parameter.
func WithParameter(database, name, value string) string {
	between := "?"
	if strings.Contains(database, "?") {
		between = "&"
	}
	return database + between + name + "=" + url.QueryEscape(value)
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

// administrator creates and drops databases for the tests of this process. It uses one connection, because opening one
// costs more than creating a database.
type administrator struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// execute runs do on the connection to the server. It reconnects if the connection is broken.
func (a *administrator) execute(ctx context.Context, server string, do func(*pgx.Conn) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil || a.conn.IsClosed() {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		a.conn = conn
	}
	return do(a.conn)
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

// clone creates a database from a template. Copying the template's files takes less processor time than copying through
// the WAL, but needs checkpoints, which are cheap only without fsync.
func clone(ctx context.Context, server, name, template string) error {
	strategy := "file_copy"
	if server == os.Getenv(urlVariable) {
		strategy = "wal_log"
	}
	return admin.execute(ctx, server, func(conn *pgx.Conn) error {
		return retryWhileInUse(ctx, func() error {
			_, err := conn.Exec(ctx, "CREATE DATABASE "+quoted(name)+" TEMPLATE "+quoted(template)+" STRATEGY "+strategy)
			return err
		})
	})
}

func drop(ctx context.Context, server, name string) error {
	return admin.execute(ctx, server, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name)+" WITH (FORCE)")
		return err
	})
}

// dropUnused drops a database unless it has connections.
func dropUnused(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name))
	if hasCode(err, objectInUse) {
		return nil
	}
	return err
}

func hasCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}

// retryWhileInUse retries do while it fails because the database has connections. The server notices with a delay that a
// client has gone.
func retryWhileInUse(ctx context.Context, do func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do()
		if !hasCode(err, objectInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}
