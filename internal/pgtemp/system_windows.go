package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// On Windows, servers run in containers only, and nothing cleans up after a killed process: there is no shell.

func wayOf(s Source) way {
	if s == Docker {
		return startDocker
	}
	return func(context.Context, Options, *folder) (started, error) {
		return started{}, errors.New("on Windows, PostgreSQL runs only in a container")
	}
}

// PreferPrograms does nothing on this system.
func PreferPrograms(context.Context, Options) error { return nil }

// Enterable returns true: the folder belongs to this user.
func Enterable(string) (bool, error) { return true, nil }

// Watcher does nothing on this system.
type Watcher struct{}

// AtExit does nothing on this system.
func AtExit(string, ...string) (*Watcher, error) { return &Watcher{}, nil }

func watch(*os.File, string, ...string) (*Watcher, error) { return &Watcher{}, nil }

// Report does nothing on this system.
func (*Watcher) Report(string) error { return nil }

// Dismiss does nothing on this system.
func (*Watcher) Dismiss() error { return nil }

// run runs cmd to its end and returns its output.
func (*Watcher) run(cmd *exec.Cmd) (string, error) {
	output, err := cmd.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("run %s: %w: %s", cmd.Args[0], err, lastLines(string(output)))
	}
	return string(output), nil
}

// lockFile opens or creates a file without locking it: this system has no lock that a child process inherits.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

func unlockFile(file *os.File) error { return file.Close() }

func processAlive(int) bool { return false }

// syncFile does nothing: this system cannot sync a folder.
func syncFile(string) error { return nil }
