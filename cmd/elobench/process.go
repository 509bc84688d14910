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
	// stopPatience is how long a bot may take to end once it is told to.
	stopPatience = 30 * time.Second
	// tailBytes is how much of the output of a process an error shows.
	tailBytes = 4000
)

// noLimits has the bot send as fast as it can, and take results from people who report more than people do. All else is as
// it is by default.
var noLimits = []string{"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "RESULT_LIMIT=off"}

// process is a program that runs beside this one.
type process struct {
	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed when it has ended, with err
	err    error
}

// launch starts a program with nothing in its environment but the given variables. It dies with ctx.
func launch(ctx context.Context, folder string, env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, args...), output: new(output), ended: make(chan struct{})}
	p.cmd.Dir = folder // where no .env lies
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

// launchBot starts `elobot run` between a simulator and a database.
func (e *environment) launchBot(ctx context.Context, sim *botsim.Server, databaseURL string, env ...string) (*process, error) {
	common := []string{"TELEGRAM_BOT_TOKEN=" + sim.Token(), "TELEGRAM_API_URL=" + sim.URL(), "DATABASE_URL=" + databaseURL}
	return launch(ctx, e.folder, slices.Concat(common, e.profiles.next(), env), e.elobot, "run")
}

// verify has the bot itself verify a database, which must be right.
func (e *environment) verify(ctx context.Context, databaseURL string) error {
	e.progress.say("verifying")
	p, err := launch(ctx, e.folder, []string{"DATABASE_URL=" + databaseURL}, e.elobot, "verify")
	if err != nil {
		return err
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for told := ""; ; {
		select {
		case <-tick.C:
			if line := p.output.lastLine(); line != told {
				e.progress.say("verified: %s", line)
				told = line
			}
		case <-p.ended:
			if p.err != nil {
				return fmt.Errorf("verify: %w: %s", p.err, p.output.tail())
			}
			return nil
		}
	}
}

// during returns a context that ends also when the process does, because what it should do will not happen then.
func (p *process) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.ended:
			cancel(fmt.Errorf("the bot has ended: %w: %s", errors.Join(p.err, errEnded), p.output.tail()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

var errEnded = errors.New("before it was told to")

// stop has the process end in peace, and returns an error if it does not.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(fmt.Errorf("stop the bot: %w", err), p.kill())
	}
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-p.ended:
	case <-patience.C:
		return errors.Join(errors.New("stop the bot: it does not end"), p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("stop the bot: %w: %s", p.err, p.output.tail())
	}
	return nil
}

// kill ends the process at once, if it has not ended, and waits for its end.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// await waits until the process has said something, and returns the match and its groups.
func (p *process) await(ctx context.Context, said *regexp.Regexp) ([]string, error) {
	ctx, cancel := p.during(ctx)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := said.FindStringSubmatch(p.output.String()); found != nil {
			return found, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until the bot says %s: %w", said, context.Cause(ctx))
		}
	}
}

// output collects what a process says, while it is read.
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

// String returns everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// lastLine returns the last line that is complete, or the first one as far as it is there.
func (o *output) lastLine() string {
	lines := strings.Split(o.String(), "\n")
	return lines[max(0, len(lines)-2)]
}

func (o *output) tail() string {
	s := o.String()
	return s[max(0, len(s)-tailBytes):]
}
