package main

import (
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"

	"elobot/internal/release"
)

type versionCommand struct{}

func (versionCommand) Run(k *kong.Kong) error {
	_, err := fmt.Fprintln(k.Stdout, version())
	return err
}

// version returns one line for bug reports: the release, the Go version and the platform.
func version() string {
	return fmt.Sprintf("elobot %s (%s, %s/%s)", release.Name(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
