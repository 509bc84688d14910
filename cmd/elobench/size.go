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

// engineAnswer is how long an engine has to say that it is there.
const engineAnswer = 15 * time.Second

// size measures what has to be fetched to run the bot.
func size() scenario {
	return scenario{
		name:        "size",
		description: "the program, and the image",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			program, err := os.Stat(env.elobot)
			if err != nil {
				return nil, fmt.Errorf("weigh the program: %w", err)
			}
			figures := []figure{{Name: "size.binary", Value: megabytes(float64(program.Size())), Unit: "MB", Better: lower}}
			image, err := weighImage(ctx, env)
			switch {
			case ctx.Err() != nil:
				return figures, ctx.Err()
			case err != nil: // an engine that builds is not needed to measure all else
				env.progress.say("the image is left out: %v", err)
				return figures, nil
			}
			return append(figures, figure{Name: "size.image", Value: megabytes(image), Unit: "MB", Better: lower}), nil
		},
	}
}

// weighImage builds the image from the sources, returns its bytes, and removes it.
func weighImage(ctx context.Context, env *environment) (_ float64, err error) {
	if !env.sizes.image {
		return 0, errors.New("building it may take minutes")
	}
	module, err := answerOf(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "elobot")
	if err != nil {
		return 0, err
	}
	answering, cancel := context.WithTimeout(ctx, engineAnswer)
	defer cancel()
	if _, err := answerOf(answering, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return 0, err
	}
	env.progress.say("building the image")
	// a name of its own: what else is called elobot stays, even if it is the same
	name := filepath.Base(env.folder)
	if _, err := answerOf(ctx, "docker", "build", "--quiet", "--tag", name, module); err != nil {
		return 0, err
	}
	defer func() {
		_, left := answerOf(context.WithoutCancel(ctx), "docker", "image", "rm", name)
		err = errors.Join(err, left)
	}()
	bytes, err := answerOf(ctx, "docker", "image", "inspect", "--format", "{{.Size}}", name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(bytes, 64)
}

// answerOf runs a program and returns what it answers.
func answerOf(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		var said string
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			said = string(failed.Stderr[max(0, len(failed.Stderr)-tailBytes):])
		}
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, said)
	}
	return strings.TrimSpace(string(out)), nil
}
