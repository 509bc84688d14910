package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"elobot/internal/botsim"
)

const (
	// stopTimeout limits how long a bot may take to stop.
	stopTimeout = 30 * time.Second
	// tailBytes limits how much of a process's output an error contains.
	tailBytes = 4000
)

// noLimits makes the bot send as fast as it can and accept any number of results per player.
var noLimits = []string{"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "RESULT_LIMIT=off"}

// process is a child process.
type process struct {
	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed when the process has ended and err is set
	err    error
}

// launch starts a program. Its environment contains only the given variables, PATH and HOME. It is killed when ctx ends.
func launch(ctx context.Context, folder string, env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, args...), output: new(output), ended: make(chan struct{})}
	p.cmd.Dir = folder // contains no .env
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// launchBot starts `elobot run` with a simulator and a database.
func (e *environment) launchBot(ctx context.Context, sim *botsim.Server, databaseURL string, env ...string) (*process, error) {
	common := []string{"TELEGRAM_BOT_TOKEN=" + sim.Token(), "TELEGRAM_API_URL=" + sim.URL(), "DATABASE_URL=" + databaseURL, "ASK_UNUSUAL=off"}
	return launch(ctx, e.folder, slices.Concat(common, e.profiles.next(), env), e.elobot, "run")
}

// verify runs `elobot verify` on a database and returns an error unless the database is correct.
func (e *environment) verify(ctx context.Context, databaseURL string) error {
	e.progress.log("verifying")
	p, err := launch(ctx, e.folder, []string{"DATABASE_URL=" + databaseURL}, e.elobot, "verify")
	if err != nil {
		return err
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for shown := ""; ; {
		select {
		case <-tick.C:
			if line := p.output.lastLine(); line != shown {
				e.progress.log("verified: %s", line)
				shown = line
			}
		case <-p.ended:
			if p.err != nil {
				return fmt.Errorf("verify: %w: %s", p.err, p.output.tail())
			}
			return nil
		}
	}
}

// during returns a context that also ends when the process ends.
func (p *process) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.ended:
			cancel(fmt.Errorf("the bot ended: %w: %s", errors.Join(p.err, errEnded), p.output.tail()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

var errEnded = errors.New("before it was stopped")

// stop stops the process gracefully. It returns an error, and kills the process, if that takes longer than stopTimeout.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(fmt.Errorf("stop the bot: %w", err), p.kill())
	}
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.ended:
	case <-timeout.C:
		return errors.Join(errors.New("stop the bot: it does not stop in time"), p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("stop the bot: %w: %s", p.err, p.output.tail())
	}
	return nil
}

// kill kills the process, if it is still running, and waits for its end.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// await waits until the output of the process matches the pattern, and returns the match and its groups.
func (p *process) await(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	ctx, cancel := p.during(ctx)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := pattern.FindStringSubmatch(p.output.String()); found != nil {
			return found, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until the bot prints %s: %w", pattern, context.Cause(ctx))
		}
	}
}

// output collects a process's output. It is safe for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// lastLine returns the last complete line, or the beginning of the first line.
func (o *output) lastLine() string {
	lines := strings.Split(o.String(), "\n")
	return lines[max(0, len(lines)-2)]
}

func (o *output) tail() string {
	s := o.String()
	return s[max(0, len(s)-tailBytes):]
}
