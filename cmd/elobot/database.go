package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"

	"elobot/internal/app"
)

type databaseCommand struct {
	app.DatabaseConfig
	Program []string `arg:"" passthrough:"" help:"The program and its arguments, such as: pg_dump --format=custom --file=elobot.dump"`
}

// Run runs a program on the bot's own database. The program gets the address in the variables that PostgreSQL's programs know.
func (d *databaseCommand) Run(ctx context.Context) error {
	return d.WithOwn(ctx, func(address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("parse the server's URL: %w", err)
		}
		password, _ := u.User.Password()
		cmd := exec.CommandContext(ctx, d.Program[0], d.Program[1:]...)
		cmd.Cancel = func() error { return nil } // Ctrl-C reaches the program too, which may want to go on
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(),
			"PGPASSWORD="+password, "PGDATABASE="+u.Path[1:])
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %s: %w", d.Program[0], err)
		}
		return nil
	})
}
