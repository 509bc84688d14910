package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"elobot/internal/pgtemp"
)

// These two are the state of the package, and the reason is that Go has no other place for what all tests of a process
// share: a server and a template are made once, by the test that needs them first, and last until the process ends.
// The watchers of pgtemp clean up then, so that packages need no TestMain for it.
var (
	sharedServer     = sync.OnceValues(startServer)
	migratedTemplate = sync.OnceValues(makeSharedTemplate)
)

// startTimeout includes fetching an image or programs.
const startTimeout = 5 * time.Minute

func startServer() (url string, err error) {
	if url := os.Getenv("TEST_DATABASE_URL"); url != "" {
		if _, err := databaseURL(url, "x"); err != nil {
			return "", fmt.Errorf("TEST_DATABASE_URL: %w", err)
		}
		return url, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	switch choice := os.Getenv("ELOBOT_TEST_POSTGRES"); choice {
	case "programs":
		return startLocal(ctx, pgtemp.Programs)
	case "container":
		return startContainer(ctx)
	case "":
	default:
		return "", fmt.Errorf("ELOBOT_TEST_POSTGRES is %q, which is neither programs nor container", choice)
	}
	url, programsErr := startLocal(ctx, pgtemp.Programs)
	if programsErr == nil {
		return url, nil
	}
	url, containerErr := startContainer(ctx)
	if containerErr == nil {
		return url, nil
	}
	url, embeddedErr := startLocal(ctx, pgtemp.Embedded)
	if embeddedErr == nil {
		return url, nil
	}
	return "", errors.Join(errors.New("set TEST_DATABASE_URL, install PostgreSQL 15 or newer, or start Docker"),
		programsErr, containerErr, embeddedErr)
}

// startLocal starts a server by pgtemp, whose watcher ends it with this process.
func startLocal(ctx context.Context, way pgtemp.Way) (url string, err error) {
	server, err := pgtemp.Start(ctx, pgtemp.Options{Settings: settings(), Ways: []pgtemp.Way{way}})
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
		"max_connections":    "200",
		"shared_buffers":     "128MB",
	}
}
