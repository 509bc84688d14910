//go:build soak && unix

package soaktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/pgtemp"
)

// bot runs the bot and, like a service manager, restarts it whenever it ends.
type bot struct {
	*campaign
	binary string
	random *rand.Rand
	port   int             // of the webhook
	guard  *pgtemp.Watcher // ends the bot if this process is killed
	lives  atomic.Int64

	mu      sync.Mutex
	process *life
	webhook bool // for the next process
	closing bool
	over    chan struct{} // closed when no more processes may start
}

// life is one process of the bot.
type life struct {
	cmd     *exec.Cmd
	log     string
	wanted  atomic.Bool // its end was requested
	ended   chan struct{}
	startAt time.Time
}

func newBot(c *campaign, binary string, random *rand.Rand) *bot {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		c.t.Fatal(err)
	}
	guard, err := pgtemp.AtExit(`[ -z "$state" ] || kill -KILL "$state"`)
	if err != nil {
		c.t.Fatal(err)
	}
	return &bot{campaign: c, binary: binary, random: random, port: port, guard: guard, over: make(chan struct{})}
}

// begin starts the bot and keeps it running until finish.
func (b *bot) begin() {
	b.start()
	go b.supervise()
	b.t.Cleanup(func() {
		b.mu.Lock()
		b.closing = true
		b.mu.Unlock()
		b.kill()
		<-b.over
		if err := b.guard.Dismiss(); err != nil {
			b.t.Error(err)
		}
	})
}

// start starts a process. Whether it merges notices is random.
func (b *bot) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.lives.Add(1)
	p := &life{
		cmd: exec.Command(b.binary, "run"), log: filepath.Join(b.folder, fmt.Sprintf("bot-%03d.log", n)),
		ended: make(chan struct{}), startAt: time.Now(),
	}
	p.cmd.Dir = b.folder
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LOG_LEVEL=debug",
		"TELEGRAM_BOT_TOKEN=" + b.sim.Token(), "TELEGRAM_API_URL=" + b.sim.URL(), "DATABASE_URL=" + b.database.botURL,
		"ASK_UNUSUAL=off", // equal results are different games here
	}
	if b.random.IntN(2) == 0 {
		p.cmd.Env = append(p.cmd.Env, "SEND_MERGE=off")
	}
	if b.webhook {
		address := "127.0.0.1:" + strconv.Itoa(b.port)
		p.cmd.Env = append(p.cmd.Env, "LISTEN_ADDR="+address, "WEBHOOK_URL=http://"+address+"/telegram", "WEBHOOK_SECRET=s3cret-_0123456789")
	}
	log, err := os.Create(p.log)
	if err != nil {
		b.t.Error(err)
		return
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := errors.Join(p.cmd.Start(), log.Close()); err != nil {
		b.t.Errorf("start the bot: %v", err)
		return
	}
	if err := b.guard.Report(strconv.Itoa(p.cmd.Process.Pid)); err != nil {
		b.t.Error(err)
	}
	b.process = p
	go func() {
		_ = p.cmd.Wait() // the process state tells how it ended
		close(p.ended)
	}()
}

// supervise restarts the bot whenever it ends.
func (b *bot) supervise() {
	defer close(b.over)
	for {
		p := b.current()
		<-p.ended
		if !p.wanted.Load() {
			b.endedByItself(p)
		}
		pause := time.NewTimer(300 * time.Millisecond)
		<-pause.C
		b.mu.Lock()
		closing := b.closing
		b.mu.Unlock()
		if closing || b.t.Failed() {
			return
		}
		b.start()
	}
}

// endedByItself records a violation, unless the bot ended during its start. At the end, the judge
// decides whether a failed start had a good reason.
func (b *bot) endedByItself(p *life) {
	output, err := os.ReadFile(p.log)
	if err != nil {
		b.t.Error(err)
	}
	if !strings.Contains(string(output), "msg=ready") {
		b.t.Logf("%s the bot gave up its start after %v: %s", b.elapsed(), time.Since(p.startAt).Round(time.Millisecond), lastLine(output))
		b.campaign.mu.Lock()
		defer b.campaign.mu.Unlock()
		b.failedStarts = append(b.failedStarts, judge.FailedStart{
			// An error has up to three lines.
			Span: judge.Span{From: p.startAt, To: time.Now()}, Words: lastLines(output, 3),
		})
		return
	}
	b.violated("the bot ended by itself with %v: %s", p.cmd.ProcessState, lastLine(output))
}

func lastLine(output []byte) string { return lastLines(output, 1) }

func lastLines(output []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func (b *bot) current() *life {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process
}

// useWebhook gives the next process a webhook.
func (b *bot) useWebhook() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.webhook = true
}

// kill kills the running process.
func (b *bot) kill() {
	p := b.current()
	p.wanted.Store(true)
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop stops the running process with SIGTERM, and returns how long that took.
func (b *bot) stop() time.Duration {
	p := b.current()
	p.wanted.Store(true)
	begun := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	timeout := time.NewTimer(3 * stopLimit)
	defer timeout.Stop()
	select {
	case <-p.ended:
	case <-timeout.C:
		_ = p.cmd.Process.Kill() // as above
		<-p.ended
	}
	took := time.Since(begun)
	if took > stopLimit {
		b.violated("a clean stop took %v", took.Round(time.Millisecond))
	}
	return took
}

// freeze suspends the running process until the returned function is called.
func (b *bot) freeze() (resume func()) {
	p := b.current()
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)                   // it may have ended
	return func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) } // as above
}

// finish stops the bot for good, and checks its exit code.
func (b *bot) finish() {
	b.mu.Lock()
	b.closing = true
	b.mu.Unlock()
	p := b.current()
	b.stop()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		b.violated("the last stop ended with %d", code)
	}
	<-b.over
}

// verify checks that `elobot verify` finds no differences.
func (b *bot) verify(t *testing.T) {
	t.Helper()
	verify := exec.CommandContext(t.Context(), b.binary, "verify")
	verify.Dir = b.folder
	verify.Env = []string{"DATABASE_URL=" + b.database.botURL}
	out, err := verify.CombinedOutput()
	t.Logf("elobot verify: %s", lastLine(out))
	if err != nil {
		b.violated("elobot verify: %v: %.500s", err, out)
	}
}
