package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// binary is the built bot, which all tests of this package run.
var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "elobot-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary = filepath.Join(folder, "elobot")
	build := exec.Command("go", "build", "-o", binary, "-buildvcs=false", ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the bot: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// testContext bounds everything that a test waits for.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// process is a running elobot.
type process struct {
	cmd    *exec.Cmd
	output *safeBuffer
	ended  chan struct{}
}

// launch starts the binary with nothing in its environment but the given variables.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return launchIn(t, t.TempDir(), env, args...)
}

// launchIn is launch in a certain working folder.
func launchIn(t *testing.T, folder string, env []string, args ...string) *process {
	t.Helper()
	p := prepare(env, args...)
	p.cmd.Dir = folder
	p.start(t)
	return p
}

// launchTalking starts a demo that gets this on its standard input.
func launchTalking(t *testing.T, input string) *process {
	t.Helper()
	p := prepare(nil, "demo")
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdin = strings.NewReader(input)
	p.start(t)
	return p
}

func prepare(env []string, args ...string) *process {
	p := &process{cmd: exec.Command(binary, args...), output: &safeBuffer{}, ended: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start the bot: %v", err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended is read from the process state
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of the bot:\n%s", p.output.tail(20_000))
		}
	})
}

// environment is what the bot needs to work with the simulator on a database.
func environment(sim *botsim.Server, databaseURL string) []string {
	return []string{
		"TELEGRAM_BOT_TOKEN=" + sim.Token(), "TELEGRAM_API_URL=" + sim.URL(), "DATABASE_URL=" + databaseURL, "LOG_LEVEL=debug",
	}
}

// kill ends the process with SIGKILL, if it has not ended, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop ends the process with SIGTERM and returns its exit code and how long it took.
func (p *process) stop(t *testing.T) (int, time.Duration) {
	t.Helper()
	begun := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("signal the bot: %v", err)
	}
	return p.wait(t), time.Since(begun)
}

// wait waits for the process to end by itself and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-testContext(t).Done():
		t.Fatal("the bot does not end")
		return -1
	}
}

// safeBuffer collects output that is written and read at the same time.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *safeBuffer) tail(n int) string {
	s := b.String()
	return s[max(0, len(s)-n):]
}

// database opens the bot's database beside the bot.
func database(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	url := pgtest.New(t)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	t.Cleanup(pool.Close)
	return url, pool
}

// count returns the number that a query yields.
func count(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(testContext(t), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// awaitAnswers waits until the bot has said so much in the group.
func awaitAnswers(t *testing.T, group *botsim.Chat, n int) []botsim.Message {
	t.Helper()
	messages, err := group.WaitBot(testContext(t), n)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	ctx := testContext(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("never happened: " + what)
		}
	}
}

// visible is a message as people see it, without the marks that keep names apart from their surroundings.
func visible(m botsim.Message) string {
	return strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "").Replace(m.Text)
}

func checkNoComplaints(t *testing.T, sim *botsim.Server) {
	t.Helper()
	if complaints := sim.Complaints(); len(complaints) > 0 {
		t.Errorf("the simulator complains: %s", strings.Join(complaints, "\n"))
	}
}
