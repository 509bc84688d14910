package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
