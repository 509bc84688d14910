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

// Package-level state, because Go has no other place for what all tests of a process share. The first test that needs the
// server, the template or the connection sets it up; they last until the process ends. They need no cleanup, so that
// packages need no TestMain.
var (
	sharedServer     = sync.OnceValues(findServer)
	migratedTemplate = sync.OnceValues(makeSharedTemplate)
	admin            administrator
)

// server is the server with the databases of this process's tests.
type server struct {
	url string
	// hold keeps the server alive for this process. It may be nil. The kernel closes it when the process ends.
	hold io.Closer
}

// startTimeout includes fetching an image or programs.
const startTimeout = 10 * time.Minute

// Environment variables for users who run the tests.
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

// startServer starts a server that ends with this process. log receives progress messages about fetches.
func startServer(ctx context.Context, log func(msg string)) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	switch os.Getenv(choiceVariable) {
	case "programs":
		return startLocal(ctx, pgtemp.Options{Sources: []pgtemp.Source{pgtemp.Programs}})
	case "container":
		return startContainer(ctx)
	}
	url, programsErr := startLocal(ctx, pgtemp.Options{Sources: []pgtemp.Source{pgtemp.Programs}})
	if programsErr == nil {
		return url, nil
	}
	url, containerErr := startContainer(ctx)
	if containerErr == nil {
		return url, nil
	}
	url, fetchedErr := startLocal(ctx, pgtemp.Options{Sources: []pgtemp.Source{pgtemp.Archive, pgtemp.Packages}, Log: log})
	if fetchedErr == nil {
		return url, nil
	}
	return "", errors.Join(errors.New("set TEST_DATABASE_URL, install PostgreSQL 15 or newer, or start Docker"),
		programsErr, containerErr, fetchedErr)
}

// startLocal starts a server with pgtemp, whose watcher stops it when this process ends.
func startLocal(ctx context.Context, o pgtemp.Options) (url string, err error) {
	o.Settings, o.InMemory = settings(), true
	server, err := pgtemp.Start(ctx, o)
	if err != nil {
		return "", err
	}
	return server.URL(), nil
}

// settings returns server settings that trade durability for speed. Autovacuum is off, so that query plans do not depend on
// its timing.
func settings() map[string]string {
	return map[string]string{
		"autovacuum":         "off",
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		// as many parallel packages as processors; no more, because listing sessions takes time for each possible one
		"max_connections": strconv.Itoa(200 + 50*runtime.NumCPU()),
		"jit":             "off",
		"shared_buffers":  "128MB",
		"max_wal_size":    "256MB", // the data may be in memory
	}
}
