//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// mustUse calls do with the URL of the folder's server.
func mustUse(t *testing.T, folder string, do func(address string)) {
	t.Helper()
	address, release, err := Use(t.Context(), Options{DataDir: folder, Sources: []Source{Programs}, Log: func(msg string) { t.Log(msg) }})
	if err != nil {
		t.Fatal(err)
	}
	do(address)
	if err := release(t.Context()); err != nil {
		t.Error(err)
	}
}

// mustKeep checks that a server is started again after SIGKILL, with its data and at the same URL, but not while it is paused.
func mustKeep(t *testing.T, server *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	go func() { kept <- server.Keep(ctx) }()
	killed := server.PID()
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if pid := server.PID(); pid == killed || pid == 0 {
			return fmt.Errorf("the server is still process %d", pid)
		}
		return nil
	})
	checkValue(t, server.URL())
	if err := server.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := server.revive(t.Context()); err != nil || server.PID() != 0 {
		t.Errorf("a paused server is process %d: %v", server.PID(), err)
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}

// TestKeepGivesUp: a server that cannot be started again is an error, with the reason of its end.
func TestKeepGivesUp(t *testing.T) {
	t.Parallel()
	reason, broken := errors.New("the disk is full"), errors.New("no space for a lock file")
	server := &Server{started: started{engine: brokenEngine{reason, broken}}, log: func(string, ...any) {}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, reason)
	defer cancel()
	err := server.resumeWithin(ctx)
	if !errors.Is(err, reason) || !errors.Is(err, broken) {
		t.Errorf("resumeWithin: %v", err)
	}
}

// brokenEngine is a server that has ended and cannot be started again.
type brokenEngine struct{ ended, broken error }

func (brokenEngine) pid() int                           { return 0 }
func (brokenEngine) pause(context.Context, bool) error  { return nil }
func (e brokenEngine) resume(context.Context) error     { return e.broken }
func (brokenEngine) stop(context.Context) error         { return nil }
func (e brokenEngine) checkAlive(context.Context) error { return e.ended }

func TestEnterable(t *testing.T) {
	t.Parallel()
	open, closed := publicFolder(t), publicFolder(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{open: true, closed: os.Geteuid() != 0} {
		for _, path := range []string{folder, filepath.Join(folder, "not", "yet there")} {
			if got, err := Enterable(path); err != nil || got != want {
				t.Errorf("%s: %v, %v", path, got, err)
			}
		}
	}
}
