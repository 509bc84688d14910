//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
	"elobot/internal/pgtemp/pgtest"
)

// crashingBinary builds the bot with crash points, once for all tests, and returns the path of the
// program.
var crashingBinary = sync.OnceValues(func() (string, error) {
	return buildBot(filepath.Dir(binary), "elobot-crashpoints", "-tags=crashpoints")
})

// TestNoCrashPoints checks that an ordinary build has no crash points.
func TestNoCrashPoints(t *testing.T) {
	t.Parallel()
	crashing, err := crashingBinary()
	must(t, err)
	for path, want := range map[string]bool{binary: false, crashing: true} {
		program, err := os.ReadFile(path)
		must(t, err)
		for _, word := range []string{crashpoint.Variable, string(crashpoint.ApplyingTogether)} {
			equal(t, bytes.Contains(program, []byte(word)), want, "%s has the word %q", filepath.Base(path), word)
		}
	}
}

// crashes is the fixture of crashing bots: a database, a simulated Telegram, and the plan of the
// next crash.
type crashes struct {
	t    *testing.T
	sim  *botsim.Server
	url  string
	pool *pgxpool.Pool
	plan string // path of the file with the plan of the next crash
	// names holds the application name of each bot's database sessions.
	names map[*process]string
}

func newCrashes(t *testing.T, options ...botsim.Option) *crashes {
	t.Helper()
	c := &crashes{t: t, sim: startTelegram(t, options...),
		plan: filepath.Join(t.TempDir(), "plan"), names: make(map[*process]string)}
	c.url, c.pool = database(t)
	return c
}

// start starts a bot with crash points. Unless env says otherwise, its lease lasts longer than any
// test, and expireLease ends it.
func (c *crashes) start(env ...string) *process {
	c.t.Helper()
	path, err := crashingBinary()
	must(c.t, err)
	name := fmt.Sprintf("bot-%d", len(c.names)+1)
	own := []string{"LEASE_DURATION=10m", "LEASE_RENEWAL=200ms", crashpoint.Variable + "=" + c.plan}
	bot := prepare(slices.Concat(
		environment(c.sim, pgtest.WithParameter(c.url, "application_name", name)), own, env), "run")
	c.names[bot] = name
	bot.cmd.Path, bot.cmd.Dir = path, c.t.TempDir()
	bot.start(c.t)
	return bot
}

// at plans the action what, such as crashpoint.End, at the nth visit to a crash point from now on.
func (c *crashes) at(point crashpoint.Point, n int, what string) {
	c.t.Helper()
	draft := c.plan + "-draft"
	must(c.t, os.WriteFile(draft, []byte(crashpoint.Plan(point, n, what)), 0o600))
	must(c.t, os.Rename(draft, c.plan))
}

// carriedOut returns the id of the process that has carried out the plan, or 0 if none has yet.
func (c *crashes) carriedOut() int {
	c.t.Helper()
	found, err := filepath.Glob(c.plan + ".*")
	if err != nil || len(found) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(found[0]), "."))
	must(c.t, err)
	return pid
}

// await is like eventually but never polls more often than every 100 ms, because most of its
// conditions query the database.
func (c *crashes) await(what string, ask func() bool) {
	c.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx := testContext(c.t); !ask(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.t.Fatal("never happened: " + what)
		}
	}
}

// settle waits until all updates are confirmed and no notice is unfinished.
func (c *crashes) settle() {
	c.t.Helper()
	c.await("everything is sent", func() bool {
		return c.sim.Pending() == 0 && count(c.t, c.pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`) == 0
	})
}

// awaitCarriedOut waits until a bot has carried out the plan, and returns its index.
func (c *crashes) awaitCarriedOut(bots ...*process) int {
	c.t.Helper()
	var pid int
	eventually(c.t, "the point is reached", func() bool {
		pid = c.carriedOut()
		return pid != 0
	})
	must(c.t, os.Remove(fmt.Sprintf("%s.%d", c.plan, pid)))
	i := slices.IndexFunc(bots, func(bot *process) bool { return bot.cmd.Process.Pid == pid })
	if i < 0 {
		c.t.Fatalf("process %d is not one of the bots", pid)
	}
	return i
}

// awaitCrash waits until a bot has crashed as planned and its transactions and requests have ended.
// It returns the bot's index.
func (c *crashes) awaitCrash(bots ...*process) int {
	c.t.Helper()
	i := c.awaitCarriedOut(bots...)
	c.mustCrash(bots[i])
	c.awaitSilence(bots[i])
	return i
}

// mustCrash waits until a bot has ended, and checks that it crashed.
func (c *crashes) mustCrash(bot *process) {
	c.t.Helper()
	bot.wait(c.t)
	if !crashed(bot) {
		c.t.Fatalf("the bot ended without a crash: %v", bot.cmd.ProcessState)
	}
}

// awaitDeparture waits until a crashed bot has no database session. A renewal that the bot had
// already sent could otherwise extend a lease after expireLease.
func (c *crashes) awaitDeparture(bot *process) {
	c.t.Helper()
	c.await("the bot has left the database", func() bool {
		return count(c.t, c.pool,
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`,
			c.names[bot]) == 0
	})
}

// crashed reports whether SIGKILL ended a bot.
func crashed(bot *process) bool {
	select {
	case <-bot.ended:
	default:
		return false
	}
	status, ok := bot.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// awaitSilence waits until a crashed bot has no database session and no request is in flight,
// except for long polls.
func (c *crashes) awaitSilence(bot *process) {
	c.t.Helper()
	c.awaitDeparture(bot)
	c.await("the bot's requests have ended", func() bool {
		return !slices.ContainsFunc(c.sim.Calls(),
			func(call botsim.Call) bool { return !call.Done && call.Method != "getUpdates" })
	})
}
