package main

import (
	"fmt"

	"elobot/internal/release"

	"github.com/alecthomas/kong"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(k *kong.Kong) error {
	_, err := fmt.Fprintln(k.Stdout, "elobot", release.Version)
	return err
}
