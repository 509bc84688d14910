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

// TestLargeBacklog starts the bot with 100,000 notices in 10,000 chats that wait to be sent.
func TestLargeBacklog(t *testing.T) {
	t.Parallel()
	const chats, each = 10_000, 10
	sim := botsim.Start(t, botsim.WithRecordLimit(1000))
	url, pool := database(t)
	alice := sim.User("alice")
	group := sim.Group("Chess", alice)
	bot := launch(t, plainEnvironment(sim, url), "run")
	group.Say(alice, "/join") // so that the schema is there
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
	t.Logf("%d notices in %d chats wait: the first is sent after %v, resident memory %d MB at the most",
		count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`), chats, first, peakMemory(t, bot))
	if mb := peakMemory(t, bot); mb >= 100 {
		t.Errorf("the bot takes %d MB", mb)
	}
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns how many MB of memory a process has had resident at the most.
func peakMemory(t *testing.T, p *process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := peak.FindSubmatch(status)
	if found == nil {
		t.Fatal("the process does not say how much memory it has")
	}
	kb, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}
