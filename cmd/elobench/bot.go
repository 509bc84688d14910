package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"elobot/internal/botsim"
)

const (
	// stopTimeout limits how long a bot may take to stop, and how long reading the counters may
	// take.
	stopTimeout = 30 * time.Second
	// tailBytes limits how much of a process's output an error contains.
	tailBytes     = 4000
	webhookSecret = "nobody_else_knows_it"
)

// process is an elobot program that runs or has ended.
type process struct {
	cmd       *exec.Cmd
	output    *output
	terminate context.CancelFunc
	ended     chan struct{} // closed when the process has ended and err is set
	err       error
}

// launch starts elobot, and stops it when ctx ends. Its environment contains only the given
// variables, PATH and HOME, and its folder has no .env file.
func (b *bench) launch(ctx context.Context, subcommand string, env ...string) (*process, error) {
	ctx, terminate := context.WithCancel(ctx)
	p := &process{cmd: exec.CommandContext(ctx, b.elobot, subcommand),
		output: new(output), terminate: terminate, ended: make(chan struct{})}
	p.cmd.Dir = b.folder
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopTimeout
	if err := p.cmd.Start(); err != nil {
		terminate()
		return nil, fmt.Errorf("start elobot: %w", err)
	}
	go func() {
		defer close(p.ended)
		defer terminate()
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// launcher starts a bot that sends as fast as it can and accepts any number of results.
type launcher func(ctx context.Context, sim *botsim.Server, databaseURL string) (*process, error)

func (b *bench) launchPolling(ctx context.Context, sim *botsim.Server, databaseURL string) (*process, error) {
	return b.launchBot(ctx, sim, databaseURL)
}

func (b *bench) launchWebhook(ctx context.Context, sim *botsim.Server, databaseURL string) (*process, error) {
	bot, _, err := b.launchServing(ctx, sim, databaseURL, "")
	return bot, err
}

func (b *bench) launchBot(
	ctx context.Context, sim *botsim.Server, databaseURL string, env ...string,
) (*process, error) {
	return b.launch(ctx, "run", append([]string{
		"TELEGRAM_BOT_TOKEN=" + sim.Token(), "TELEGRAM_API_URL=" + sim.URL(), "DATABASE_URL=" + databaseURL,
		"ASK_UNUSUAL=off", "SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "RESULT_LIMIT=off",
	}, env...)...)
}

var servingAt = regexp.MustCompile(`msg=serving addr=127\.0\.0\.1:\d+`)

// launchServing starts a bot with a webhook, waits until it serves, and returns its endpoint.
// public is the address for Telegram, which all instances of a bot share; empty means the bot's own
// endpoint. launchServing fails if the bot ends first, as it does if another process has taken the
// port.
func (b *bench) launchServing(
	ctx context.Context, sim *botsim.Server, databaseURL, public string,
) (bot *process, endpoint string, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	endpoint = "http://" + address + "/telegram"
	if public == "" {
		public = endpoint
	}
	bot, err = b.launchBot(ctx, sim, databaseURL,
		"LISTEN_ADDR="+address, "WEBHOOK_URL="+public, "WEBHOOK_SECRET="+webhookSecret)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := bot.during(ctx)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !servingAt.MatchString(bot.output.String()) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, "", errors.Join(fmt.Errorf("wait until the bot serves: %w", context.Cause(ctx)), bot.stop())
		}
	}
	return bot, endpoint, nil
}

// freeAddress returns an address of this machine with an unused port.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("release the port: %w", err)
	}
	return listener.Addr().String(), nil
}

// pauseWhileCareful waits for sizes.careful. In a full measurement, that is the minimum duration of
// careful mode, so each running bot with a webhook can leave the mode at its next update.
func (b *bench) pauseWhileCareful(ctx context.Context) error {
	timer := time.NewTimer(b.sizes.careful)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// during returns a context that also ends when the process ends.
func (p *process) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.ended:
			cancel(fmt.Errorf("the bot ended before it was stopped: %w: %s", p.err, p.output.tail()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stop stops the process gracefully, or kills it after stopTimeout. It returns an error if the
// process fails.
func (p *process) stop() error {
	p.terminate()
	<-p.ended
	if p.err != nil && !errors.Is(p.err, context.Canceled) {
		return fmt.Errorf("stop the bot: %w: %s", p.err, p.output.tail())
	}
	return nil
}

// withBot runs a bot, calls use once the bot has polled for the first time or received its first
// delivery, and stops the bot. The context of use ends when the bot ends.
func (b *bench) withBot(
	ctx context.Context, launch launcher, w *workload, databaseURL string, use func(context.Context, *process) error,
) error {
	polled := make(chan struct{})
	var once sync.Once
	first := func() { once.Do(func() { close(polled) }) }
	defer w.sim.OnCall(func(c botsim.Call) {
		if c.Method == "getUpdates" {
			first()
		}
	})()
	defer w.sim.OnDelivery(func(botsim.Delivery) { first() })()
	bot, err := launch(ctx, w.sim, databaseURL)
	if err != nil {
		return err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	select {
	case <-polled:
		if err = use(running, bot); err != nil {
			err = fmt.Errorf("%w; the bot says: %s", err, bot.output.tail())
		}
	case <-running.Done():
		err = context.Cause(running)
	}
	return errors.Join(err, bot.stop())
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

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) tail() string {
	s := o.String()
	return s[max(0, len(s)-tailBytes):]
}
