package pgtemp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const image = "postgres:17"

// containerScript runs the server until its standard input ends. That happens as soon as this
// process or the docker command ends, even by SIGKILL. The script then stops process 1 with
// SIGQUIT. While process 1 initializes the data, it ignores SIGQUIT, so the script also kills all
// other processes: process 1 fails when the program that it waits for is killed.
const containerScript = `exec 3<&0
{ cat <&3; while kill -QUIT 1; do kill -KILL -1; sleep 0.1; done; } >/dev/null &
exec docker-entrypoint.sh postgres "$@"`

// container is a server in a container. Both end with the docker command that runs them.
type container struct {
	name   string
	input  io.Closer
	output bytes.Buffer  // of the docker command and the server; complete once ended is closed
	ended  chan struct{} // closed when the command has ended
}

func (s *Server) startDocker(ctx context.Context, o Options) error {
	if s.home.named() {
		return errors.New("a container keeps no data")
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("the docker command is not in PATH")
	}
	asking, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if _, err := docker(asking, "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("no Docker engine answers: %w", err)
	}
	if _, err := docker(ctx, "image", "inspect", image); err != nil {
		o.log("fetching the image %s", image)
		if _, err := docker(ctx, "pull", "--quiet", image); err != nil {
			return err
		}
	}
	password := newPassword()
	return onFreePort(func(port int) error {
		c := &container{name: "elobot-postgres-" + strings.ToLower(newPassword()), ended: make(chan struct{})}
		o.log("starting the container %s of %s", c.name, image)
		s.engine, s.url = c, serverURL(port, password)
		if err := c.begin(o, port, password); err != nil {
			return err
		}
		version, err := waitReady(ctx, s.url, c.checkAlive)
		if err != nil {
			return errors.Join(err, c.stop(ctx))
		}
		s.kind = "PostgreSQL " + version + " in a container of " + image
		return nil
	})
}

// docker runs a docker command to completion and returns its output.
func docker(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, lastLines(string(output)))
	}
	return strings.TrimSpace(string(output)), nil
}

// begin starts the docker command that creates the container, runs it, and removes it when it ends.
func (c *container) begin(o Options, port int, password string) (err error) {
	cmd := exec.Command("docker", slices.Concat([]string{
		"run", "--rm", "--interactive", "--name", c.name,
		// The label tells users which process owns the container.
		"--label", "elobot.pid=" + strconv.Itoa(os.Getpid()), "--publish", "127.0.0.1:" + strconv.Itoa(port) + ":5432",
		"--env", "POSTGRES_PASSWORD", "--env", "POSTGRES_INITDB_ARGS=--no-sync", image, "sh", "-c", containerScript, "sh",
	}, o.arguments())...)
	// Pass the password in the environment, because all users can read a process's arguments.
	cmd.Env = append(os.Environ(), "POSTGRES_PASSWORD="+password)
	cmd.Stdout, cmd.Stderr = &c.output, &c.output
	detach(cmd)
	if c.input, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait() // checkAlive reports the output instead
		close(c.ended)
	}()
	return nil
}

// checkAlive returns an error if the container has ended: errPortTaken if its output says that the
// port is taken, and otherwise an error with the last lines of the output.
func (c *container) checkAlive() error {
	select {
	case <-c.ended:
	default:
		return nil
	}
	output := c.output.String()
	if strings.Contains(output, "already allocated") || strings.Contains(output, "already in use") {
		return errPortTaken
	}
	return fmt.Errorf("the container ended: %s", lastLines(output))
}

// stop ends the container, by force if necessary, even if ctx is already done.
func (c *container) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	_ = c.input.Close() // the command may have ended
	select {
	case <-c.ended:
	case <-time.After(stopTimeout):
	}
	err := pollUntil(ctx, func() (bool, error) {
		left, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "name="+c.name)
		if err == nil && left != "" {
			// This fails if Docker is already removing the container.
			_, _ = docker(ctx, "rm", "--force", "--volumes", c.name)
		}
		return left == "", err
	})
	if err != nil {
		return fmt.Errorf("remove the container %s: %w", c.name, err)
	}
	return nil
}

var errContainer = errors.New("the server of a container is not started twice")

func (*container) pid() int { return 0 }

func (*container) pause(context.Context, bool) error { return errContainer }

func (*container) resume(context.Context) error { return errContainer }
