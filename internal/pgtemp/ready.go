package pgtemp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the only role that a new server has.
const superuser = "postgres"

// startTimeout bounds the time from the start of a server to its first answer. A first start in a container, or a
// recovery after a crash, can take long on a slow disk.
const startTimeout = 90 * time.Second

// newPassword makes a password that needs no quoting anywhere.
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

// freePort is a loopback port that nobody uses at this moment. Somebody may take it before the server does.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("choose a port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("choose a port: %w", err)
	}
	return port, nil
}

// waitReady asks the server for its version until it answers. A server that accepts connections need not be ready:
// it may be recovering, or be the one that a container runs only to initialise its data. alive returns an error when
// there is no use in waiting on.
func waitReady(ctx context.Context, serverURL string, alive func(context.Context) error) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("it did not get ready in time"))
	defer cancel()
	config, err := pgx.ParseConfig(serverURL)
	if err != nil {
		return "", fmt.Errorf("read the server's URL: %w", err)
	}
	delete(config.RuntimeParams, "options") // comes from PGOPTIONS of this process, which means another server
	// Somebody else may listen on the port and never answer: then it is for alive to find out that the server has
	// ended, so that the first attempts are short.
	patience := 250 * time.Millisecond
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		version, err := askVersion(ctx, config, patience)
		if err == nil {
			return version, nil
		}
		patience = min(2*patience, 5*time.Second)
		if deadErr := alive(ctx); deadErr != nil {
			return "", deadErr
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the server: %w (%w)", context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

func askVersion(ctx context.Context, config *pgx.ConnConfig, patience time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
