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

// startContainer starts a server in a container.
func startContainer(ctx context.Context) (serverURL string, stop func() error, err error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return "", nil, fmt.Errorf("find the Docker engine: %w", err)
	}
	defer pool.Client.HTTPClient.CloseIdleConnections()
	if err := pool.Client.PingWithContext(ctx); err != nil {
		return "", nil, fmt.Errorf("no Docker engine answers: %w", err)
	}
	name, password := "elobot-test-"+strings.ToLower(rand.Text()), rand.Text()
	watcher, err := pgtemp.AtExit(`docker rm --force --volumes "$1"`, name)
	if err != nil {
		return "", nil, err
	}
	command := []string{"postgres"}
	for name, value := range settings() {
		command = append(command, "-c", name+"="+value)
	}
	container, err := pool.RunWithOptions(&dockertest.RunOptions{
		Name:         name,
		Repository:   "postgres",
		Tag:          "17",
		Env:          []string{"POSTGRES_PASSWORD=" + password, "POSTGRES_INITDB_ARGS=--no-sync"},
		Cmd:          command,
		PortBindings: map[docker.Port][]docker.PortBinding{"5432/tcp": {{HostIP: "127.0.0.1"}}},
	}, func(config *docker.HostConfig) { config.AutoRemove = true })
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("run a container of postgres:17: %w", err), watcher.Dismiss())
	}
	stop = func() error { return errors.Join(container.Close(), watcher.Dismiss()) }
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", password), Host: container.GetHostPort("5432/tcp"),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	pool.MaxWait = 90 * time.Second
	// The server accepts no connections before its data is initialised.
	err = pool.Retry(func() error {
		return execute(ctx, address.String(), func(conn *pgx.Conn) error { return conn.Ping(ctx) })
	})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("wait for the container: %w", err), stop())
	}
	return address.String(), stop, nil
}
