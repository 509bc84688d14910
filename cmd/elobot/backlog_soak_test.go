//go:build soak

package main_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestLargeBacklog checks that a bot that starts with a queue of 100,000 notices in 10,000 chats
// begins to send them, and its memory stays below 100 MiB.
func TestLargeBacklog(t *testing.T) {
	t.Parallel()
	const chats, each = 10_000, 10
	sim := startTelegram(t, botsim.WithRecordLimit(1000))
	url, pool := database(t)
	alice := sim.User("alice")
	group := sim.Group("Chess", alice)
	bot := launch(t, plainEnvironment(sim, url), "run")
	group.Say(alice, "/join") // its answer shows that the schema exists
	awaitAnswers(t, group, 1)
	bot.stop(t)
	ids := make([]int64, chats)
	for i := range ids {
		ids[i] = sim.Group("Chess", alice).ID()
	}
	if _, err := pool.Exec(testContext(t), `
		INSERT INTO chats (telegram_chat_id, kind) SELECT id, 'group' FROM unnest($1::bigint[]) AS id`, ids); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(testContext(t), `
		INSERT INTO outbox (chat_id, kind, payload)
		SELECT c.id, 'joined', jsonb_build_object('name', jsonb_build_object('name', 'Player ' || i), 'elo', 1500)
		FROM generate_series(1, $1) AS i, chats c ORDER BY i, c.id`, each); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(testContext(t), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	sent := sim.CallCount("sendMessage")
	begun := time.Now()
	bot = launch(t, plainEnvironment(sim, url), "run")
	eventually(t, "something is sent", func() bool { return sim.CallCount("sendMessage") > sent })
	first := time.Since(begun)
	eventually(t, "much is sent", func() bool { return sim.CallCount("sendMessage") > sent+300 })
	t.Logf("%d notices in %d chats wait: the first is sent after %v, peak resident memory %d MB",
		count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`), chats, first, peakMemory(t, bot))
	if mb := peakMemory(t, bot); mb >= 100 {
		t.Errorf("the bot uses %d MB", mb)
	}
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns the peak resident memory of a process, in whole MiB.
func peakMemory(t *testing.T, p *process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(t, err)
	found := peak.FindSubmatch(status)
	if found == nil {
		t.Fatal("no peak memory in the status of the process")
	}
	kb, err := strconv.Atoi(string(found[1]))
	must(t, err)
	return kb >> 10
}
