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

// executable is the suffix of a program's file name.
const executable = ".exe"

// sharedMemory is the only kind that Windows has.
const sharedMemory = "windows"

// Modes of stopping a server.
const (
	fast        = "fast"
	immediately = "immediate"
)

// launch starts the server on its port and waits until it answers. It uses pg_ctl, because on Windows an administrator
// cannot start the server directly.
func (p *programs) launch(ctx context.Context) (version string, err error) {
	if err := p.keepLog(); err != nil {
		return "", err
	}
	args := []string{"start", "--no-wait", "--pgdata", p.path("data"), "--log", p.path("log")}
	for _, arg := range p.arguments()[2:] {
		args = append(args, "--options", `"`+arg+`"`)
	}
	if err = p.control(ctx, args...); err == nil {
		version, err = waitReady(ctx, p.url, p.checkAlive, p.report)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, immediately))
	}
	p.process, p.oldLog = p.recordedProcess(), true
	return version, nil
}

func (p *programs) control(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, p.program("pg_ctl"), args...)
	p.prepareCommand(cmd)
	cmd.Dir = p.home
	if err := cmd.Run(); err != nil { // not CombinedOutput: the server inherits the output and keeps it open
		return fmt.Errorf("run pg_ctl %s: %w", args[0], err)
	}
	return nil
}

// recordedProcess returns the process id in postmaster.pid, which exists only while the server runs, or 0.
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

// checkAlive returns an error with the reason if the server has ended.
func (p *programs) checkAlive(ctx context.Context) error {
	if p.control(ctx, "status", "--pgdata", p.path("data")) == nil {
		return nil
	}
	output, err := os.ReadFile(p.path("log"))
	if err != nil {
		return fmt.Errorf("the server ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("the server ended: %s", lastLines(string(output)))
}

// halt stops the server, and escalates to an immediate stop after stopTimeout.
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
	return p.watcher.Report("")
}

// syncFolder does nothing: this system cannot sync a folder.
func syncFolder(string) error { return nil }
