package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// envFile is the file from which Compose reads the settings, as in the README.
const envFile = ".env"

// project is a Compose project with a unique name, so that it does not affect a real bot on the same engine.
type project struct {
	program []string
	upArgs  []string
	env     []string
}

func newProject(program, upArgs []string) project {
	return project{
		program: program,
		upArgs:  upArgs,
		env:     append(environment(), fmt.Sprintf("COMPOSE_PROJECT_NAME=elobot-composetest-%d", os.Getpid())),
	}
}

// environment returns the environment of this process without the variables that would override the .env file.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		for _, prefix := range []string{"TELEGRAM_", "LOG_", "COMPOSE_"} {
			if strings.HasPrefix(variable, prefix) {
				return true
			}
		}
		return false
	})
}

// writeEnv writes the settings for the simulator. It never overwrites a file.
func writeEnv(url, token string) error {
	file, err := os.OpenFile(envFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	_, err = fmt.Fprintf(file, "TELEGRAM_BOT_TOKEN=%s\nTELEGRAM_API_URL=%s\nLOG_LEVEL=debug\n", token, url)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// up runs the README's command unchanged.
func (p project) up(ctx context.Context) error { return p.run(ctx, p.upArgs) }

// compose runs another Compose command on the project.
func (p project) compose(ctx context.Context, args ...string) error {
	return p.run(ctx, append(slices.Clone(p.upArgs[:slices.Index(p.upArgs, "up")]), args...))
}

func (p project) run(ctx context.Context, args []string) error {
	words := slices.Concat(p.program, args)
	fmt.Println("+", strings.Join(words, " "))
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = p.env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return nil
}
