package pgtemp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// superuser is the only role that can log in to a new server.
const superuser = "postgres"

// newPassword returns a random password that needs no quoting.
func newPassword() string { return rand.Text() }

func serverURL(port int, password string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

var errPortTaken = errors.New("the port is taken")

// onFreePort calls start with an unused loopback port. Another process can take the port before the
// server does, so after errPortTaken, onFreePort tries another port. It tries at most five ports.
func onFreePort(start func(port int) error) error {
	for range 5 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			err = listener.Close()
		}
		if err != nil {
			return fmt.Errorf("choose a port: %w", err)
		}
		if err = start(listener.Addr().(*net.TCPAddr).Port); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return errPortTaken
}

// startTimeout limits the waits of waitFor and takeCharge. In waitFor, it begins anew with each
// answer that the server cannot accept sessions yet. The first start in a container can take a long
// time on a slow disk.
const startTimeout = 90 * time.Second

// waitReady asks the server for its version until the server answers or waitFor gives up. An
// accepted connection is not enough: the server may be recovering, or its container may still be
// initializing the data. checkAlive returns an error if further waiting is pointless.
func waitReady(ctx context.Context, serverURL string, checkAlive func() error) (version string, err error) {
	err = waitFor(ctx, checkAlive, func(timeout time.Duration) (err error) {
		version, err = askVersion(ctx, serverURL, timeout)
		return err
	})
	return version, err
}

// waitFor repeats ask until it succeeds, ctx ends, checkAlive fails, the server does not have the
// database, or startTimeout has passed since the call and since the last answer that the server
// cannot accept sessions yet. A server that is recovering its data may take any amount of time,
// because interrupting the recovery would only make it start over.
func waitFor(ctx context.Context, checkAlive func() error, ask func(timeout time.Duration) error) error {
	// Another process may listen on the port and never respond. Then only checkAlive detects that
	// the server has ended, so the first attempts are short.
	timeout := 250 * time.Millisecond
	deadline := time.Now().Add(startTimeout)
	err := pollUntil(ctx, func() (bool, error) {
		notYet := ask(timeout)
		if notYet == nil {
			return true, nil
		}
		timeout = min(2*timeout, 5*time.Second)
		switch answer := (*pgconn.PgError)(nil); {
		case !errors.As(notYet, &answer):
		case answer.Code == pgerrcode.CannotConnectNow:
			deadline = time.Now().Add(startTimeout)
		case answer.Code == pgerrcode.InvalidCatalogName:
			return false, notYet // somebody has dropped the database
		}
		if time.Now().After(deadline) {
			return false, fmt.Errorf("it was not ready in time (%w)", notYet)
		}
		return false, checkAlive()
	})
	if err != nil {
		return fmt.Errorf("wait for the server: %w", err)
	}
	return nil
}

// requiredAuth is the only authentication method that this package's servers offer to this process.
const requiredAuth = "scram-sha-256"

// askVersion asks the server for its version. It authenticates only with requiredAuth, so that the
// server never receives the password, and has to prove that it knows the password too.
func askVersion(ctx context.Context, serverURL string, timeout time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	config, err := pgx.ParseConfig(serverURL)
	if err != nil {
		return "", fmt.Errorf("parse the server's URL: %w", err)
	}
	config.RequireAuth = requiredAuth
	// pgx takes these options from PGOPTIONS, which is meant for another server.
	delete(config.RuntimeParams, "options")
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	version, _, _ = strings.Cut(version, " ")
	return version, nil
}

// UnsetVariables unsets all environment variables of this process whose names begin with PG. They
// refer to the user's own server, but would also apply to connections to this package's server.
// UnsetVariables then makes later connections of this process demand proof that the server knows
// the password, because another process may listen where the server was.
func UnsetVariables() error {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "PG") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("unset %s: %w", name, err)
		}
	}
	if err := os.Setenv("PGREQUIREAUTH", requiredAuth); err != nil {
		return fmt.Errorf("set PGREQUIREAUTH: %w", err)
	}
	return nil
}
