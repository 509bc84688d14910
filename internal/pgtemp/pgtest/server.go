package pgtest

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"elobot/internal/pgtemp"
	"elobot/migrations"
)

// State that all tests of the process share. The first test that needs the server, the template or
// the connection sets it up. None of the three is cleaned up before the process ends, so packages
// need no TestMain. Only Main closes the connection earlier.
var (
	sharedServer     = sync.OnceValues(findServer)
	migratedTemplate = sync.OnceValues(func() (string, error) {
		server, err := sharedServer()
		if err != nil {
			return "", err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*operationTimeout)
		defer cancel()
		return makeTemplate(ctx, server, migrations.FS)
	})
	admin administrator
)

// startTimeout limits the start of a server, including fetching an image or programs.
const startTimeout = 10 * time.Minute

// Environment variables for users who run the tests.
const (
	urlVariable    = "TEST_DATABASE_URL"
	choiceVariable = "ELOBOT_TEST_POSTGRES"
)

// findServer returns the URL of the server for this process's tests, and starts a server if
// necessary.
func findServer() (string, error) {
	if url := os.Getenv(urlVariable); url != "" {
		if _, err := databaseURL(url, "x"); err != nil {
			return "", fmt.Errorf("%s: %w", urlVariable, err)
		}
		return url, nil
	}
	if choice := os.Getenv(choiceVariable); choice != "" && choice != "programs" && choice != "container" {
		return "", fmt.Errorf("%s is %q, which is neither programs nor container", choiceVariable, choice)
	}
	return share()
}

// startServer starts a server that ends with this process, or when stop is called.
func startServer() (url string, stop func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	choice, reasons := os.Getenv(choiceVariable),
		errors.New("set TEST_DATABASE_URL, install PostgreSQL 15 or newer, or start Docker")
	for _, way := range []struct {
		choice string
		start  func(context.Context) (string, func() error, error)
	}{
		{"programs", local(pgtemp.Programs)}, {"container", startContainer}, {"", local(pgtemp.Archive, pgtemp.Packages)},
	} {
		if choice != "" && choice != way.choice {
			continue
		}
		if url, stop, err = way.start(ctx); err == nil {
			if err := hashPasswordOnce(ctx, url); err != nil {
				return "", nil, errors.Join(fmt.Errorf("hash the password of the server: %w", err), stop())
			}
			return url, stop, nil
		}
		reasons = errors.Join(reasons, err)
	}
	return "", nil, reasons
}

// hashPasswordOnce makes the server keep a hash of its password after one iteration of PBKDF2. The
// password is random, so the usual 4096 iterations protect nothing, and they take most of the time
// of a new connection, on both sides. The hash has the format of pg_authid.rolpassword; RFC 5802
// explains its keys.
func hashPasswordOnce(ctx context.Context, server string) error {
	return execute(ctx, server, func(conn *pgx.Conn) error {
		config, salt := conn.Config(), []byte(rand.Text())
		salted, err := pbkdf2.Key(sha256.New, config.Password, salt, 1, sha256.Size)
		if err != nil {
			return err
		}
		key := func(name string) []byte {
			mac := hmac.New(sha256.New, salted)
			mac.Write([]byte(name))
			return mac.Sum(nil)
		}
		stored, base64 := sha256.Sum256(key("Client Key")), base64.StdEncoding.EncodeToString
		hash := fmt.Sprintf("SCRAM-SHA-256$1:%s$%s:%s", base64(salt), base64(stored[:]), base64(key("Server Key")))
		_, err = conn.Exec(ctx, fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", quoted(config.User), hash))
		return err
	})
}

// local returns a function that starts a server with pgtemp.
func local(sources ...pgtemp.Source) func(context.Context) (address string, stop func() error, err error) {
	return func(ctx context.Context) (string, func() error, error) {
		options := pgtemp.Options{Sources: sources, Settings: settings()}
		sockets := len(os.TempDir()) <= maxTempDir
		if sockets {
			options.Settings["unix_socket_directories"] = "." // the data folder
		}
		server, err := pgtemp.Start(ctx, options)
		if err != nil {
			return "", nil, err
		}
		address, stop := server.URL(), func() error { return server.Stop(context.Background()) }
		if sockets {
			if address, err = bySocket(ctx, address); err != nil {
				return "", nil, errors.Join(fmt.Errorf("find the server's socket: %w", err), stop())
			}
		}
		return address, stop, nil
	}
}

// maxTempDir is the maximum length, in bytes, that the path of the folder for temporary files may
// have if the server is to listen on a socket in its data folder. With a longer path, the socket's
// path could exceed 103 bytes, the limit of macOS.
const maxTempDir = 40

// bySocket returns a URL that reaches the server through the Unix socket in its data folder. A
// query through the socket costs client and server less processor time than a query over TCP.
func bySocket(ctx context.Context, server string) (address string, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("its address is not a URL") // err quotes the password
	}
	err = execute(ctx, server, func(conn *pgx.Conn) error {
		var folder string
		err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&folder)
		query := u.Query()
		query.Set("host", folder)
		query.Set("port", u.Port())
		u.Host, u.RawQuery = "", query.Encode()
		return err
	})
	return u.String(), err
}

// settings returns server settings that trade durability for speed. Autovacuum is off, so that
// query plans do not depend on its timing.
func settings() map[string]string {
	return map[string]string{
		"autovacuum":         "off",
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		// This is enough for as many parallel packages as processors. It is not larger, because
		// listing sessions takes time for each possible session.
		"max_connections": strconv.Itoa(200 + 50*runtime.NumCPU()),
		"jit":             "off",
		"shared_buffers":  "128MB",
		"max_wal_size":    "256MB", // small, because the data may be in memory
	}
}

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
	// The engine may still be creating the container when this process dies, so try more than once.
	watcher, err := pgtemp.AtExit(`for wait in 0 1 2; do sleep "$wait"; docker rm --force --volumes "$1"; done`, name)
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
	// The server accepts no connections before its data is initialized.
	err = pool.Retry(func() error {
		return execute(ctx, address.String(), func(conn *pgx.Conn) error { return conn.Ping(ctx) })
	})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("wait for the container: %w", err), stop())
	}
	return address.String(), stop, nil
}
