package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"elobot/internal/release"
)

type versionCommand struct{}

func (versionCommand) Run(k *kong.Kong) error {
	_, err := fmt.Fprintln(k.Stdout, "elobot", release.Name())
	return err
}
