//go:build !unix

package pgtemp

import "os"

// Watcher does nothing on this system, which lacks a shell: nothing cleans up after a killed process.
type Watcher struct{}

// AtExit does nothing on this system.
func AtExit(string, ...string) (*Watcher, error) { return &Watcher{}, nil }

func watch(*os.File, string, ...string) (*Watcher, error) { return &Watcher{}, nil }

// Report does nothing on this system.
func (*Watcher) Report(string) error { return nil }

// Dismiss does nothing on this system.
func (*Watcher) Dismiss() error { return nil }
