package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"elobot/internal/app"
	"elobot/internal/pgtemp"
)

type databaseCommand struct {
	app.DatabaseConfig
	Program []string `arg:"" passthrough:"" help:"The program and its arguments, such as: pg_dump --format=custom --file=elobot.dump"`
}

// Run runs a program on the bot's own database. It passes the connection parameters in the
// environment variables that PostgreSQL's programs read, such as PGHOST. If the machine has
// PostgreSQL programs that fit the database, they come first in PATH.
func (d *databaseCommand) Run(ctx context.Context) error {
	return d.WithOwn(ctx, func(address, dir string) error {
		u, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("parse the server's URL: %w", err)
		}
		password, _ := u.User.Password()
		if err := pgtemp.PreferPrograms(ctx, pgtemp.Options{DataDir: dir}); err != nil {
			return err
		}
		cmd := exec.CommandContext(context.WithoutCancel(ctx), d.Program[0], d.Program[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(),
			"PGPASSWORD="+password, "PGDATABASE="+u.Path[1:])
		if err := runInCharge(ctx, cmd); err != nil {
			return fmt.Errorf("run %s: %w", d.Program[0], err)
		}
		return nil
	})
}

// runInCharge runs a program and lets it decide what a signal means. Ctrl-C reaches the program
// directly, and this process passes SIGTERM on. In both cases, this process waits for the program
// to end.
func runInCharge(ctx context.Context, cmd *exec.Cmd) error {
	interrupts, terminations := make(chan os.Signal, 1), make(chan os.Signal, 1)
	// Catch interrupts, so that they do not end this process. signal.Ignore would not work, because
	// the program would inherit the ignored signal.
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	signal.Notify(terminations, syscall.SIGTERM)
	defer func() {
		signal.Stop(terminations)
		close(terminations)
	}()
	if err := ctx.Err(); err != nil { // a signal arrived before Notify
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := range terminations {
			_ = cmd.Process.Signal(s) // the program may have ended
		}
	}()
	return cmd.Wait()
}
