package main

import "github.com/alecthomas/kong"

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain, such as verify or dead retry."`
}

// Run prints what --help prints for the command, and exits. It returns an error for an unknown
// command.
func (h helpCommand) Run(k *kong.Kong) error {
	_, err := k.Parse(append(h.Command, "--help"))
	return err
}
