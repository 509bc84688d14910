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

// superuser is the only role of a new server.
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

// onFreePort calls start with an unused loopback port, and with another one if it returns errPortTaken: another process can take a port
// before the server does.
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

const (
	// startTimeout is how long a server may say nothing. The first start in a container can take long on a slow disk.
	startTimeout = 90 * time.Second
	// recoveryReport is after how long a recovery is reported.
	recoveryReport = 5 * time.Second
)

// waitReady queries the server for its version until it succeeds. A server that accepts connections may not be ready: it
// may be recovering, or it may be the temporary server with which a container initialises its data. checkAlive returns an
// error if there is no point in waiting any longer.
//
// A server may take any time to recover its data: to break that off would only make it start over.
func waitReady(ctx context.Context, serverURL string, checkAlive func(context.Context) error, log func(string, ...any)) (string, error) {
	config, err := parseURL(serverURL)
	if err != nil {
		return "", err
	}
	return waitFor(ctx, config, checkAlive, log)
}

func waitFor(ctx context.Context, config *pgx.ConnConfig, checkAlive func(context.Context) error, log func(string, ...any)) (string, error) {
	// Another process may listen on the port and never respond. checkAlive then detects that the server has ended, so keep
	// the first attempts short.
	timeout := 250 * time.Millisecond
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	begun, reported := time.Now(), false
	deadline := begun.Add(startTimeout)
	for {
		version, err := askVersion(ctx, config, timeout)
		if err == nil {
			return version, nil
		}
		timeout = min(2*timeout, 5*time.Second)
		looking, cancel := context.WithTimeout(ctx, startTimeout)
		aliveErr := checkAlive(looking)
		cancel()
		if aliveErr != nil {
			return "", aliveErr
		}
		now := time.Now()
		if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) && answer.Code == pgerrcode.CannotConnectNow {
			deadline = now.Add(startTimeout)
			if !reported && now.Sub(begun) >= recoveryReport {
				log("the server is recovering its data, which may take long")
				reported = true
			}
		}
		if now.After(deadline) {
			return "", fmt.Errorf("wait for the server: it was not ready in time (%w)", err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the server: %w (%w)", context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// parseURL returns the configuration for a server of this package. The password goes only to a server that knows it.
func parseURL(serverURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(serverURL)
	if err != nil {
		return nil, fmt.Errorf("parse the server's URL: %w", err)
	}
	config.RequireAuth = requiredAuth
	delete(config.RuntimeParams, "options") // from this process's PGOPTIONS, which is for another server
	return config, nil
}

// requiredAuth is the only method of authentication of the servers of this package.
const requiredAuth = "scram-sha-256"

// answers reports whether a server with this URL answers now.
func answers(ctx context.Context, serverURL string) bool {
	config, err := parseURL(serverURL)
	if err != nil {
		return false
	}
	_, err = askVersion(ctx, config, time.Second)
	return err == nil
}

func askVersion(ctx context.Context, config *pgx.ConnConfig, timeout time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
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

// UnsetVariables unsets all variables of PostgreSQL's programs in this process. They refer to the user's own server, and would
// otherwise complete the URL of a server of this package. Connections of this process then demand that the server knows the
// password without being told: another process may listen where the server was.
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
