package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"elobot/internal/pgtemp"
)

// removeContainer is the command that the watcher runs after this process has ended.
const removeContainer = `docker rm --force --volumes "$1"`

// lifetime is the maximum lifetime of a container in seconds. It is longer than any test run.
const lifetime = "10800"

// expiringEntrypoint ends the container after the seconds in $0, in case no process is left to remove it. The server is
// process 1, which SIGQUIT stops immediately.
const expiringEntrypoint = `(sleep "$0"; kill -QUIT 1) & exec docker-entrypoint.sh "$@"`

// startContainer starts a container that is removed when this process ends.
func startContainer(ctx context.Context) (serverURL string, err error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return "", fmt.Errorf("find the Docker engine: %w", err)
	}
	defer pool.Client.HTTPClient.CloseIdleConnections()
	if err := pool.Client.PingWithContext(ctx); err != nil {
		return "", fmt.Errorf("no Docker engine answers: %w", err)
	}
	name, password := "elobot-test-"+strings.ToLower(rand.Text()), rand.Text()
	watcher, err := pgtemp.AtExit(removeContainer, name)
	if err != nil {
		return "", err
	}
	command := []string{lifetime, "postgres"}
	for name, value := range settings() {
		command = append(command, "-c", name+"="+value)
	}
	container, err := pool.RunWithOptions(&dockertest.RunOptions{
		Name:         name,
		Repository:   "postgres",
		Tag:          "17",
		Env:          []string{"POSTGRES_PASSWORD=" + password, "POSTGRES_INITDB_ARGS=--no-sync"},
		Entrypoint:   []string{"sh", "-c", expiringEntrypoint},
		Cmd:          command,
		PortBindings: map[docker.Port][]docker.PortBinding{"5432/tcp": {{HostIP: "127.0.0.1"}}},
	}, func(config *docker.HostConfig) { config.AutoRemove = true })
	if err != nil {
		return "", errors.Join(fmt.Errorf("run a container of postgres:17: %w", err), watcher.Dismiss())
	}
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", password),
		Host:     container.GetHostPort("5432/tcp"),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	if err := waitForQuery(ctx, address.String()); err != nil {
		return "", errors.Join(fmt.Errorf("wait for the container: %w", err), container.Close(), watcher.Dismiss())
	}
	return address.String(), nil
}

// waitForQuery retries until the server answers a query. The server accepts no connections before its data is initialised.
func waitForQuery(ctx context.Context, serverURL string) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := execute(ctx, serverURL, ping(ctx))
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

func ping(ctx context.Context) func(*pgx.Conn) error {
	return func(conn *pgx.Conn) error { return conn.Ping(ctx) }
}
