package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// engineTimeout limits how long the Docker engine may take to respond.
const engineTimeout = 15 * time.Second

// size measures how much a user must download to run the bot.
func size() scenario {
	return scenario{
		name:        "size",
		description: "the sizes of the program and the image",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			program, err := os.Stat(env.elobot)
			if err != nil {
				return nil, fmt.Errorf("measure the program: %w", err)
			}
			figures := []figure{{Name: "size.binary", Value: megabytes(float64(program.Size())), Unit: "MB", Better: lower}}
			image, err := measureImage(ctx, env)
			switch {
			case ctx.Err() != nil:
				return figures, ctx.Err()
			case err != nil: // Docker is optional
				env.progress.log("skipping the image: %v", err)
				return figures, nil
			}
			return append(figures, figure{Name: "size.image", Value: megabytes(image), Unit: "MB", Better: lower}), nil
		},
	}
}

// measureImage builds the image from the sources, returns its size in bytes, and removes it.
func measureImage(ctx context.Context, env *environment) (_ float64, err error) {
	if !env.sizes.image {
		return 0, errors.New("building it may take minutes")
	}
	module, err := outputOf(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "elobot")
	if err != nil {
		return 0, err
	}
	answering, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	if _, err := outputOf(answering, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return 0, err
	}
	env.progress.log("building the image")
	// a unique name, so that removing it does not affect other elobot images
	name := filepath.Base(env.folder)
	if _, err := outputOf(ctx, "docker", "build", "--quiet", "--tag", name, module); err != nil {
		return 0, err
	}
	defer func() {
		_, left := outputOf(context.WithoutCancel(ctx), "docker", "image", "rm", name)
		err = errors.Join(err, left)
	}()
	bytes, err := outputOf(ctx, "docker", "image", "inspect", "--format", "{{.Size}}", name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(bytes, 64)
}

// outputOf runs a program and returns its output.
func outputOf(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		var stderr string
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			stderr = string(failed.Stderr[max(0, len(failed.Stderr)-tailBytes):])
		}
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
