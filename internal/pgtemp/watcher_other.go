//go:build !unix

package pgtemp

import "os"

// Watcher stands for a process that cleans up after this one. Here there is no shell that could: what a killed
// process leaves behind stays.
type Watcher struct{}

// AtExit does nothing on this system.
func AtExit(string, ...string) (*Watcher, error) { return &Watcher{}, nil }

func watch(*os.File, string, ...string) (*Watcher, error) { return &Watcher{}, nil }

// Tell does nothing on this system.
func (*Watcher) Tell(string) error { return nil }

// Dismiss does nothing on this system.
func (*Watcher) Dismiss() error { return nil }
