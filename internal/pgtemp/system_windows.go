package pgtemp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// startPrograms always fails: on Windows, servers run only in containers.
func (*Server) startPrograms(context.Context, Options, Source) error {
	return errors.New("on Windows, PostgreSQL runs only in a container")
}

// detach protects cmd from Ctrl-C.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// PreferPrograms does nothing on Windows.
func PreferPrograms(context.Context, Options) error { return nil }

// Enterable always returns true: on Windows, no server keeps its data in a folder.
func Enterable(string) (bool, error) { return true, nil }

// Watcher does nothing on Windows, which has no /bin/sh.
type Watcher struct{}

// AtExit does nothing on Windows.
func AtExit(string, ...string) (*Watcher, error) { return &Watcher{}, nil }

// Dismiss does nothing on Windows.
func (*Watcher) Dismiss() error { return nil }

// lockFile opens or creates a file without locking it: Windows has no lock that a child process
// inherits.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

func unlockFile(file *os.File) error { return file.Close() }

func processAlive(int) bool { return false }

// syncFile does nothing: on Windows, no server keeps its data in a folder.
func syncFile(string) error { return nil }
