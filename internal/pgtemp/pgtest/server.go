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
	return share()
}

// startServer starts a server that ends with this process, or when stop is called.
func startServer() (url string, stop func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	switch os.Getenv(choiceVariable) {
	case "programs":
		return startLocal(ctx, pgtemp.Programs)
	case "container":
		return startContainer(ctx)
	}
	reasons := errors.New("set TEST_DATABASE_URL, install PostgreSQL 15 or newer, or start Docker")
	for _, start := range []func() (string, func() error, error){
		func() (string, func() error, error) { return startLocal(ctx, pgtemp.Programs) },
		func() (string, func() error, error) { return startContainer(ctx) },
		func() (string, func() error, error) { return startLocal(ctx, pgtemp.Archive, pgtemp.Packages) },
	} {
		if url, stop, err = start(); err == nil {
			return url, stop, nil
		}
		reasons = errors.Join(reasons, err)
	}
	return "", nil, reasons
}

// startLocal starts a server with pgtemp.
func startLocal(ctx context.Context, sources ...pgtemp.Source) (url string, stop func() error, err error) {
	server, err := pgtemp.Start(ctx, pgtemp.Options{Sources: sources, Settings: settings(), InMemory: true})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), func() error { return server.Stop(context.Background()) }, nil
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
