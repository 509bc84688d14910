//go:build soak && unix

package soaktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/pgtemp"
)

// bots runs the instances of the bot.
type bots struct {
	*campaign
	binary  string
	door    *httptest.Server // serves at the webhook's address
	turn    atomic.Uint64    // counts deliveries, so that the instances take turns
	lives   atomic.Int64
	all     []*instance
	webhook atomic.Bool // the next processes use the webhook
	closing atomic.Bool
}

// instance is a bot that is started again whenever it ends, as by a service manager.
type instance struct {
	*bots
	guard *pgtemp.Watcher // kills the bot's process if the test process is killed
	now   atomic.Pointer[life]
	over  chan struct{} // closed when no more processes start
}

// life is one process of a bot.
type life struct {
	*campaign
	cmd     *exec.Cmd
	log     string
	wanted  atomic.Bool // the campaign has stopped or killed the process
	ended   chan struct{}
	startAt time.Time

	mu     sync.Mutex
	at     string          // the address at which the process listens; empty until known
	inHand map[string]bool // keys of commands that were delivered and are not confirmed
	hooks  hooks
}

// startBots starts the bots, and keeps them running until finish.
func startBots(c *campaign, binary string) *bots {
	b := &bots{campaign: c, binary: binary}
	b.door = httptest.NewServer(b)
	c.t.Cleanup(b.door.Close)
	b.webhook.Store(c.polling == 0)
	for range c.deck.bots {
		guard, err := pgtemp.AtExit(`[ -z "$state" ] || kill -KILL "$state"`)
		if err != nil {
			c.t.Fatal(err)
		}
		i := &instance{bots: b, guard: guard, over: make(chan struct{})}
		b.all = append(b.all, i)
		i.start()
		go i.supervise()
		c.t.Cleanup(func() {
			b.closing.Store(true)
			i.now.Load().kill()
			<-i.over
			if err := i.guard.Dismiss(); err != nil {
				b.t.Error(err)
			}
		})
		// Wait, because instances that start at the same time may all set the webhook.
		for !strings.Contains(i.now.Load().output(), "msg=ready") && c.t.Context().Err() == nil {
			wait(c.t.Context(), 50*time.Millisecond)
		}
	}
	b.watch()
	return b
}

// start starts a process. Whether it merges notices is random.
func (i *instance) start() {
	n := i.lives.Add(1)
	p := &life{
		campaign: i.campaign, cmd: exec.Command(i.binary, "run"), ended: make(chan struct{}),
		log:     filepath.Join(i.folder, fmt.Sprintf("bot-%03d.log", n)),
		startAt: time.Now(), inHand: map[string]bool{},
	}
	p.cmd.Dir = i.folder
	p.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LOG_LEVEL=debug",
		"TELEGRAM_BOT_TOKEN=" + i.sim.Token(), "TELEGRAM_API_URL=" + i.sim.URL(), "DATABASE_URL=" + i.database.botURL,
		"ASK_UNUSUAL=off", // equal results are different games here
	}, i.settings...)
	if rand.New(rand.NewPCG(i.seed, uint64(n))).IntN(2) == 0 {
		p.cmd.Env = append(p.cmd.Env, "SEND_MERGE=off")
	}
	if i.webhook.Load() {
		p.cmd.Env = append(p.cmd.Env,
			"LISTEN_ADDR=127.0.0.1:0", "WEBHOOK_URL="+i.door.URL+"/telegram", "WEBHOOK_SECRET=s3cret-_0123456789")
	}
	log, err := os.Create(p.log)
	if err != nil {
		i.t.Error(err)
		return
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := errors.Join(p.cmd.Start(), log.Close()); err != nil {
		i.t.Errorf("start the bot: %v", err)
		return
	}
	if err := i.guard.Report(strconv.Itoa(p.cmd.Process.Pid)); err != nil {
		i.t.Error(err)
	}
	i.now.Store(p)
	go func() {
		_ = p.cmd.Wait() // the process state tells how it ended
		close(p.ended)
	}()
}

// supervise restarts the bot whenever it ends, until the campaign finishes or the test has failed.
func (i *instance) supervise() {
	defer close(i.over)
	for {
		p := i.now.Load()
		<-p.ended
		if !p.wanted.Load() {
			p.endedByItself()
		}
		wait(context.Background(), 300*time.Millisecond)
		if i.closing.Load() || i.t.Failed() {
			return
		}
		i.start()
	}
}

// endedByItself records a violation, unless the bot ended during its start. At the end, the judge
// decides whether a failed start had a good reason.
func (p *life) endedByItself() {
	output := p.output()
	if strings.Contains(output, "msg=ready") {
		p.violated("the bot ended by itself with %v: %s", p.cmd.ProcessState, lastLines(output, 1))
		return
	}
	p.say("the bot gave up its start after %v: %s", time.Since(p.startAt).Round(time.Millisecond), lastLines(output, 1))
	p.campaign.mu.Lock()
	defer p.campaign.mu.Unlock()
	p.failedStarts = append(p.failedStarts, judge.FailedStart{
		// An error has up to three lines.
		Span: judge.Span{From: p.startAt, To: time.Now()}, Words: lastLines(output, 3),
	})
}

// output returns what the process has logged.
func (p *life) output() string {
	output, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Error(err)
	}
	return string(output)
}

// complaints returns the number of warnings and errors that the process has logged.
func (p *life) complaints() int {
	output := p.output()
	return strings.Count(output, " level=WARN ") + strings.Count(output, " level=ERROR ")
}

func lastLines(output string, n int) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// any returns a random process.
func (b *bots) any(random *rand.Rand) *life { return oneOf(random, b.all...).now.Load() }

// leader returns the process that sends, or a random process if that is unknown.
func (b *bots) leader(ctx context.Context, random *rand.Rand) *life {
	pid := b.database.leader(ctx)
	for _, i := range b.all {
		if p := i.now.Load(); p.cmd.Process.Pid == pid {
			return p
		}
	}
	return b.any(random)
}

// kill kills the process and records the kill, unless the process has ended.
func (p *life) kill() {
	p.wanted.Store(true)
	p.mu.Lock()
	inHand := slices.Collect(maps.Keys(p.inHand))
	p.mu.Unlock()
	killed := judge.Kill{Span: judge.Span{From: p.startAt, To: time.Now()}, InHand: inHand}
	if p.cmd.Process.Kill() != nil {
		return
	}
	<-p.ended
	p.campaign.mu.Lock()
	defer p.campaign.mu.Unlock()
	p.killed = append(p.killed, killed)
}

// stop stops the process with SIGTERM, and returns how long that took. A stop that takes longer
// than stopLimit is a violation. After three times that limit, stop kills the process.
func (p *life) stop() time.Duration {
	p.wanted.Store(true)
	begun := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)                                // it may have ended
	late := time.AfterFunc(3*stopLimit, func() { _ = p.cmd.Process.Kill() }) // as above
	defer late.Stop()
	<-p.ended
	took := time.Since(begun)
	if took > stopLimit {
		p.violated("a clean stop took %v", took.Round(time.Millisecond))
	}
	return took
}

// freeze suspends the process until the returned function is called.
func (p *life) freeze() (resume func()) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)                   // it may have ended
	return func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) } // as above
}

// finish stops the bots for good, and checks their exit codes.
func (b *bots) finish() {
	b.closing.Store(true)
	for _, i := range b.all {
		p := i.now.Load()
		p.stop()
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			b.violated("the last stop ended with %d", code)
		}
		<-i.over
	}
}

// verify records a violation if `elobot verify` finds differences or fails.
func (b *bots) verify() {
	b.t.Helper()
	verify := exec.CommandContext(b.t.Context(), b.binary, "verify")
	verify.Dir = b.folder
	verify.Env = []string{"DATABASE_URL=" + b.database.botURL}
	out, err := verify.CombinedOutput()
	b.t.Logf("elobot verify: %s", lastLines(string(out), 1))
	if err != nil {
		b.violated("elobot verify: %v: %.500s", err, out)
	}
}
