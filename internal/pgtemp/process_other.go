//go:build !unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// executable ends the file name of a program.
const executable = ".exe"

// sharedMemory is the only kind that there is on Windows.
const sharedMemory = "windows"

// How a server is asked to end.
const (
	fast        = "fast"
	immediately = "immediate"
)

// launch starts the server on its port and waits until it answers. On Windows only pg_ctl can start it for an
// administrator.
func (p *programs) launch(ctx context.Context) (version string, err error) {
	args := []string{"start", "--no-wait", "--pgdata", p.path("data"), "--log", p.path("log")}
	for _, arg := range p.arguments()[2:] {
		args = append(args, "--options", `"`+arg+`"`)
	}
	if err = p.control(ctx, args...); err == nil {
		version, err = waitReady(ctx, p.url, p.alive)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, immediately))
	}
	p.process = p.recordedProcess()
	return version, nil
}

func (p *programs) control(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, p.program("pg_ctl"), args...)
	p.prepareCommand(cmd)
	cmd.Dir = p.home
	if err := cmd.Run(); err != nil { // without its output, which the server inherits and keeps open
		return fmt.Errorf("run pg_ctl %s: %w", args[0], err)
	}
	return nil
}

// recordedProcess is the process in the file that is there exactly while the server runs, or 0.
func (p *programs) recordedProcess() int {
	content, err := os.ReadFile(p.path("data/postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return pid
}

// alive returns why the server has ended, if it has.
func (p *programs) alive(ctx context.Context) error {
	if p.control(ctx, "status", "--pgdata", p.path("data")) == nil {
		return nil
	}
	output, err := os.ReadFile(p.path("log"))
	if err != nil {
		return fmt.Errorf("it ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("it ended: %s", lastLines(string(output)))
}

// halt ends the server, immediately when it takes too long otherwise.
func (p *programs) halt(ctx context.Context, mode string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTimeout)
	defer cancel()
	for _, m := range []string{mode, immediately} {
		if p.recordedProcess() == 0 {
			break
		}
		err := p.control(ctx, "stop", "--wait", "--timeout", strconv.Itoa(int(stopTimeout.Seconds())), "--mode", m,
			"--pgdata", p.path("data"))
		if err != nil && m == immediately {
			return err
		}
	}
	p.process = 0
	return p.watcher.Tell("")
}
