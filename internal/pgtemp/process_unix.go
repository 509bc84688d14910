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

// executable is the suffix of a program's file name.
const executable = ""

// sharedMemory makes the server keep its shared memory as files in its data folder, so that they are removed together
// with the folder even if the server is killed.
const sharedMemory = "mmap"

// Modes of stopping a server.
const (
	fast        = syscall.SIGINT
	immediately = syscall.SIGQUIT
)

// launch starts the server on its port and waits until it answers.
func (p *programs) launch(ctx context.Context) (version string, err error) {
	if err := p.keepLog(); err != nil {
		return "", err
	}
	log, err := os.OpenFile(p.path("log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("open log: %w", err)
	}
	cmd := exec.Command(p.program("postgres"), p.arguments()...)
	p.prepareCommand(cmd)
	cmd.Dir = p.path("data")
	cmd.Stdout, cmd.Stderr = log, log
	if p.lock != nil {
		cmd.ExtraFiles = []*os.File{p.lock}
	}
	err = errors.Join(p.watcher.begin(cmd, "QUIT"), log.Close())
	if cmd.Process != nil {
		p.process = cmd.Process.Pid
		err = errors.Join(err, cmd.Process.Release())
	}
	if err == nil {
		version, err = waitReady(ctx, p.url, p.checkAlive, p.report)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, immediately))
	}
	p.oldLog = true
	return version, nil
}

// checkAlive returns an error with the reason if the server has ended.
func (p *programs) checkAlive(context.Context) error {
	if p.process == 0 {
		return errors.New("the server is not running")
	}
	ended, err := waitFor(p.process, syscall.WNOHANG)
	if err != nil || !ended {
		return err
	}
	p.process = 0
	output, err := os.ReadFile(p.path("log"))
	if err != nil {
		return fmt.Errorf("the server ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("the server ended: %s", lastLines(string(output)))
}

// halt stops the server with the signal, and escalates to more forceful signals after stopTimeout.
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
		// Only the wait after the first signal ends with the caller's ctx. The others must run to their end.
		ctx = context.WithoutCancel(ctx)
		switch {
		case err == nil:
			p.process = 0
		case wait.Err() == nil:
			return err
		}
	}
	if p.process != 0 {
		return fmt.Errorf("the server, process %d, does not stop", p.process)
	}
	return p.watcher.Report("")
}

// syncFolder makes sure that the names in a folder are on the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
