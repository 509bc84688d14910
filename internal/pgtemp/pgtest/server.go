package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"elobot/internal/pgtemp"
)

// These are the state of the package, and the reason is that Go has no other place for what all tests of a process
// share: a server, a template and a connection are found once, by the test that needs them first, and last until the
// process ends.
// Nobody has to clean up then, so that packages need no TestMain for it.
var (
	sharedServer     = sync.OnceValues(findServer)
	migratedTemplate = sync.OnceValues(makeSharedTemplate)
	admin            administrator
)

// server is where the tests of this process have their databases.
type server struct {
	url string
	// hold is what keeps the server for this process, if anything does. The kernel releases it at the end of the process.
	hold io.Closer
}

// startTimeout includes fetching an image or programs.
const startTimeout = 10 * time.Minute

// These are settings for those who run the tests.
const (
	urlVariable    = "TEST_DATABASE_URL"
	choiceVariable = "ELOBOT_TEST_POSTGRES"
)

func findServer() (server, error) {
	if url := os.Getenv(urlVariable); url != "" {
		if _, err := databaseURL(url, "x"); err != nil {
			return server{}, fmt.Errorf("%s: %w", urlVariable, err)
		}
		return server{url: url}, nil
	}
	if choice := os.Getenv(choiceVariable); choice != "" && choice != "programs" && choice != "container" {
		return server{}, fmt.Errorf("%s is %q, which is neither programs nor container", choiceVariable, choice)
	}
	return share(func(msg string) { fmt.Fprintln(os.Stderr, "PostgreSQL for the tests:", msg) })
}

// startServer starts a server that ends with this process. log is told what is fetched.
func startServer(ctx context.Context, log func(msg string)) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	switch os.Getenv(choiceVariable) {
	case "programs":
		return startLocal(ctx, pgtemp.Options{Ways: []pgtemp.Way{pgtemp.Programs}})
	case "container":
		return startContainer(ctx)
	}
	url, programsErr := startLocal(ctx, pgtemp.Options{Ways: []pgtemp.Way{pgtemp.Programs}})
	if programsErr == nil {
		return url, nil
	}
	url, containerErr := startContainer(ctx)
	if containerErr == nil {
		return url, nil
	}
	url, fetchedErr := startLocal(ctx, pgtemp.Options{Ways: []pgtemp.Way{pgtemp.Archive, pgtemp.Packages}, Log: log})
	if fetchedErr == nil {
		return url, nil
	}
	return "", errors.Join(errors.New("set TEST_DATABASE_URL, install PostgreSQL 15 or newer, or start Docker"),
		programsErr, containerErr, fetchedErr)
}

// startLocal starts a server by pgtemp, whose watcher ends it with this process.
func startLocal(ctx context.Context, o pgtemp.Options) (url string, err error) {
	o.Settings, o.InMemory = settings(), true
	server, err := pgtemp.Start(ctx, o)
	if err != nil {
		return "", err
	}
	return server.URL(), nil
}

// settings trade the safety of data, which nobody needs after the test, for speed. Nothing is vacuumed by itself, so that
// the plans of queries do not depend on when that was.
func settings() map[string]string {
	return map[string]string{
		"autovacuum":         "off",
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		// as many packages at once as there are processors; looking at all sessions takes time for each that there may be
		"max_connections": strconv.Itoa(200 + 50*runtime.NumCPU()),
		"jit":             "off",
		"shared_buffers":  "128MB",
		"max_wal_size":    "256MB", // it may be in memory
	}
}
