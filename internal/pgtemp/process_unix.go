//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// executable ends the file name of a program.
const executable = ""

// sharedMemory makes the server's shared memory files in its data folder. They go with it, even when the server is
// killed.
const sharedMemory = "mmap"

// How a server is asked to end.
const (
	fast        = syscall.SIGINT
	immediately = syscall.SIGQUIT
)

// launch starts the server on its port and waits until it answers.
func (p *programs) launch(ctx context.Context) (version string, err error) {
	log, err := os.OpenFile(p.path("log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("open log: %w", err)
	}
	cmd := exec.Command(p.program("postgres"), p.arguments()...)
	p.prepareCommand(cmd)
	cmd.Dir = p.path("data")
	cmd.Stdout, cmd.Stderr = log, log
	err = errors.Join(p.watcher.begin(cmd, "QUIT"), log.Close())
	if cmd.Process != nil {
		p.process = cmd.Process.Pid
		err = errors.Join(err, cmd.Process.Release())
	}
	if err == nil {
		version, err = waitReady(ctx, p.url, p.alive)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, immediately))
	}
	return version, nil
}

// alive returns why the server has ended, if it has.
func (p *programs) alive(context.Context) error {
	ended, err := waitFor(p.process, syscall.WNOHANG)
	if err != nil || !ended {
		return err
	}
	p.process = 0
	output, err := os.ReadFile(p.path("log"))
	if err != nil {
		return fmt.Errorf("it ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("it ended: %s", lastLines(string(output)))
}

// halt ends the server process by the signal, and by more forceful ones when that does not help in time.
func (p *programs) halt(ctx context.Context, signal syscall.Signal) error {
	for _, s := range []syscall.Signal{signal, syscall.SIGQUIT, syscall.SIGKILL} {
		if p.process == 0 {
			break
		}
		if err := syscall.Kill(p.process, s); err != nil {
			return fmt.Errorf("send %v to the server: %w", s, err)
		}
		wait, cancel := context.WithTimeout(ctx, stopTimeout)
		err := pollUntil(wait, func() (bool, error) { return waitFor(p.process, syscall.WNOHANG) })
		cancel()
		// The first signal alone is given up early when the caller has no time; the others must be seen through.
		ctx = context.WithoutCancel(ctx)
		switch {
		case err == nil:
			p.process = 0
		case wait.Err() == nil:
			return err
		}
	}
	if p.process != 0 {
		return fmt.Errorf("the server, process %d, does not end", p.process)
	}
	return p.watcher.Tell("")
}
