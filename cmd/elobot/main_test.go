package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// binary is the path of the built bot that the tests of this package run.
var binary string

func TestMain(m *testing.M) {
	// Most of these tests wait for other processes, so several can share a processor. The flag on
	// the command line takes precedence.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set the number of tests at the same time:", err)
		os.Exit(1)
	}
	debug.SetGCPercent(400) // as in the processes that these tests start
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "elobot-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if binary, err = buildBot(folder, "elobot"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// buildBot builds the bot into a folder under this name and returns the path of the program.
// options are further flags of the go command. buildBot uses go run, which caches the linked
// program, because go build links again each time.
func buildBot(folder, name string, options ...string) (string, error) {
	path := filepath.Join(folder, name)
	args := append([]string{"run", "-ldflags=-s -w", "-buildvcs=false", "-exec=cp"}, options...)
	if out, err := exec.Command("go", append(args, ".", path)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the bot: %w\n%s", err, out)
	}
	return path, nil
}

// testContext returns a context that limits a wait to two minutes.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startTelegram starts a simulator. The test fails if the simulator complains about a bot.
func startTelegram(t *testing.T, options ...botsim.Option) *botsim.Server {
	t.Helper()
	sim := botsim.Start(t, options...)
	t.Cleanup(func() {
		if complaints := sim.Complaints(); len(complaints) > 0 {
			t.Errorf("the simulator complains: %s", strings.Join(complaints, "\n"))
		}
	})
	return sim
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal fails the test if got differs from want. The format and its arguments describe the compared
// values.
func equal[T any](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}

// process is an elobot that was prepared, runs, or has ended.
type process struct {
	cmd    *exec.Cmd
	output *safeBuffer
	ended  chan struct{}
}

// launch starts the binary in an empty folder. See prepare for its environment.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return launchIn(t, t.TempDir(), env, args...)
}

// launchIn is like launch but sets the working directory.
func launchIn(t *testing.T, folder string, env []string, args ...string) *process {
	t.Helper()
	p := prepare(env, args...)
	p.cmd.Dir = folder
	p.start(t)
	return p
}

// prepare returns a process that has not been started. It inherits only PATH and HOME from the
// environment of the tests.
func prepare(env []string, args ...string) *process {
	p := &process{cmd: exec.Command(binary, args...), output: &safeBuffer{}, ended: make(chan struct{})}
	// DATA_DIR=off: without DATABASE_URL, the bot must not use a database of its own. GOGC: most
	// processes end before collecting garbage pays off.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"DATA_DIR=off", "GOGC=400"}, env...)
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
		_ = p.cmd.Wait() // the process state tells how it ended
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of the bot:\n%s", p.output.tail(20_000))
		}
	})
}

// output runs the binary to completion, and returns its exit code and what it has written.
func output(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := prepare(env, args...)
	p.cmd.Dir = t.TempDir()
	var out, errs bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := p.cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// plainEnvironment returns the settings for a bot with the simulator and a database. The bot does
// not limit the results of a person, and does not ask about unusual ones.
func plainEnvironment(sim *botsim.Server, databaseURL string) []string {
	return []string{
		"TELEGRAM_BOT_TOKEN=" + sim.Token(), "TELEGRAM_API_URL=" + sim.URL(), "DATABASE_URL=" + databaseURL, "LOG_LEVEL=debug",
		"RESULT_LIMIT=off", "ASK_UNUSUAL=off",
	}
}

// unknownToken has the form of a token but belongs to no bot of a simulator.
const unknownToken = "123456:another-0123456789_abcdefghij"

// environment is like plainEnvironment, but the bot also sends without limits, and never merges
// answers into one message.
func environment(sim *botsim.Server, databaseURL string) []string {
	return append(plainEnvironment(sim, databaseURL),
		"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "SEND_MERGE=off")
}

// takeOverSoon adds a short lease to env, so that a bot takes over soon after another bot was
// killed. On a busy machine, a request may take longer than half of so short a lease. It is then
// cut off, and its message may arrive twice.
func takeOverSoon(env []string) []string {
	return append(env, "LEASE_DURATION=1s", "LEASE_RENEWAL=300ms")
}

// await waits until the output of the process contains the text.
func (p *process) await(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the bot prints "+text, func() bool { return strings.Contains(p.output.String(), text) })
}

// kill kills the process and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// expireLease expires the lease of a crashed bot, so that another bot takes over at once.
func expireLease(t *testing.T, pool *pgxpool.Pool, bot *process) {
	t.Helper()
	_, err := pool.Exec(testContext(t), `UPDATE leases SET expires_at = clock_timestamp()
		WHERE split_part(holder, '/', 2) = $1`, strconv.Itoa(bot.cmd.Process.Pid))
	must(t, err)
}

// stop sends SIGTERM to the process, waits until it has ended, and returns its exit code and how
// long it took to end.
func (p *process) stop(t *testing.T) (int, time.Duration) {
	t.Helper()
	begun := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("signal the bot: %v", err)
	}
	return p.wait(t), time.Since(begun)
}

// wait waits until the process ends and returns its exit code.
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

// safeBuffer collects output that is written and read concurrently.
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

// database creates a database and returns its URL and a pool for the test.
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

// count returns the number that a query selects.
func count(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(testContext(t), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func collect[T any](t *testing.T, pool *pgxpool.Pool, row pgx.RowToFunc[T], sql string, args ...any) []T {
	t.Helper()
	rows, err := pool.Query(testContext(t), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, row)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// key returns the idempotency key of the command in a message.
func key(m botsim.Message) string { return fmt.Sprintf("m:%d:%d", m.ChatID, m.ID) }

func handledKeys(t *testing.T, pool *pgxpool.Pool) map[string]bool {
	t.Helper()
	handled := make(map[string]bool)
	for _, k := range collect(t, pool, pgx.RowTo[string], `SELECT key FROM handled_commands`) {
		handled[k] = true
	}
	return handled
}

// awaitSettled waits until all updates are handled and everything is sent to the group, apart from
// superseded pages and from results counted in a summary.
func awaitSettled(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, group *botsim.Chat) {
	t.Helper()
	eventually(t, "everything is handled and answered", func() bool {
		return sim.Pending() == 0 && count(t, pool, `
			SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE c.telegram_chat_id = $1
			  AND NOT (o.state = 'sent' OR o.state = 'expired' AND (o.action = 'page' OR o.batch IS NOT NULL))`, group.ID()) == 0
	})
}

// checkAnswered checks that exactly these messages of a group have been answered, in this order. It
// allows one more copy of an answer that was counted as a possible duplicate. It returns the
// answers without the copies.
func checkAnswered(t *testing.T, pool *pgxpool.Pool, group *botsim.Chat, posted []botsim.Message) []botsim.Message {
	t.Helper()
	type counted struct{ ReplyTo, Duplicates int }
	duplicates := make(map[int]int)
	for _, row := range collect(t, pool, pgx.RowToStructByPos[counted], `
		SELECT o.reply_to, o.possible_duplicates FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID()) {
		duplicates[row.ReplyTo] = row.Duplicates
	}
	var answers []botsim.Message
	times := make(map[int]int)
	for _, m := range group.BotMessages() {
		times[m.ReplyTo]++
		switch n := times[m.ReplyTo]; {
		case n == 1:
			answers = append(answers, m)
		case n > 1+min(1, duplicates[m.ReplyTo]):
			t.Errorf("message %d was answered %d times, but has only %d possible duplicates",
				m.ReplyTo, n, duplicates[m.ReplyTo])
		}
	}
	if len(answers) != len(posted) {
		t.Fatalf("%d messages were answered, want %d", len(answers), len(posted))
	}
	for i, m := range answers {
		if m.ReplyTo != posted[i].ID {
			t.Fatalf("answer %d is to message %d, want %d:\n%s", i+1, m.ReplyTo, posted[i].ID, visible(m))
		}
	}
	return answers
}

// awaitAnswers waits until the bot has sent at least n messages to the group, and returns them.
func awaitAnswers(t *testing.T, group *botsim.Chat, n int) []botsim.Message {
	t.Helper()
	messages, err := group.WaitBot(testContext(t), n)
	must(t, err)
	return messages
}

// answersTo returns the messages of the bot that reply to a message of a group.
func answersTo(group *botsim.Chat, m botsim.Message) []botsim.Message {
	return slices.DeleteFunc(group.BotMessages(), func(a botsim.Message) bool { return a.ReplyTo != m.ID })
}

// eventually calls ask until it returns true, at intervals that increase to 100 ms. The test fails
// if that takes more than two minutes. what describes the condition in the error.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	ctx := testContext(t)
	for pause := 5 * time.Millisecond; !ask(); pause = min(2*pause, 100*time.Millisecond) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			t.Fatal("never happened: " + what)
		}
	}
}

// visible returns the text that people see, without the invisible marks around names.
func visible(m botsim.Message) string {
	return strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "").Replace(m.Text)
}

// verifyClean checks that `elobot verify` would find no differences and name no detached group.
// Because many tests end with this check, it calls the code of that command instead of starting it.
// TestVerify starts the command.
func verifyClean(t *testing.T, url string) {
	t.Helper()
	ctx := testContext(t)
	pool, err := pgxpool.New(ctx, url)
	must(t, err)
	defer pool.Close()
	store := pgranking.NewStore(pool, func(outbox.Lane) {})
	must(t, ranking.Verify(ctx, store, 0, func(f ranking.Finding) { t.Errorf("the verification has found %+v", f) },
		func(ranking.Progress) {}))
	if detached, err := store.DetachedGroups(ctx, 0); err != nil || len(detached) > 0 {
		t.Errorf("groups without a chat: %v, %v", detached, err)
	}
}
