package main_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoticesOfANewerRelease: if an instance of a newer release wrote notices of a kind unknown to
// the leader, the leader sends everything else in order, even after a restart. A leader that knows
// the kind then sends them, once.
func TestNoticesOfANewerRelease(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	alice := sim.User("alice")
	group := sim.Group("Club", alice, sim.User("bob"))
	env := environment(sim, url)
	bot := launch(t, env, "run")
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(testContext(t), sql); err != nil {
			t.Fatal(err)
		}
	}
	const newer = `INSERT INTO outbox (chat_id, kind, payload) SELECT id, 'of_tomorrow', '{}' FROM chats`
	results := 0
	report := func(n int) {
		for range n {
			results++
			group.Say(alice, fmt.Sprintf("/match @bob %d:1", 2+results))
		}
	}
	settled := func(what string, setAside int) {
		t.Helper()
		eventually(t, what, func() bool {
			return sim.Pending() == 0 &&
				count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL AND deferred_at IS NULL`) == 0 &&
				count(t, pool, `SELECT count(*) FROM matches`) == results &&
				count(t, pool, `SELECT count(*) FROM outbox WHERE deferred_at IS NOT NULL`) == setAside
		})
	}
	report(3)
	settled("the first results are sent", 0)
	exec(newer)
	report(10)
	exec(newer)
	settled("the other notices are sent", 2)
	if code, _ := bot.stop(t); code != 0 {
		t.Errorf("the bot exits with %d", code)
	}
	exec(newer)
	report(5)
	bot = launch(t, env, "run")
	settled("the others are sent after a restart", 3)
	bot.stop(t)
	if n := count(t, pool,
		`SELECT count(*) FROM outbox WHERE kind = 'of_tomorrow' AND (attempts > 0 OR failures > 0)`); n != 0 {
		t.Errorf("%d notices count attempts", n)
	}
	// To stand in for a release that knows the kind, rename the kind to one that this release
	// knows.
	exec(`UPDATE outbox SET kind = 'unknown_command' WHERE kind = 'of_tomorrow'`)
	report(2)
	bot = launch(t, env, "run")
	settled("all is sent", 0)
	bot.stop(t)
	checkDeliveredInOrder(t, group, results)
	told := 0
	for _, m := range group.BotMessages() {
		told += strings.Count(visible(m), "I don’t know that command")
	}
	if told != 3 {
		t.Errorf("the notices of the newer release are shown %d times, want 3", told)
	}
	if n := count(t, pool, `SELECT count(*) FROM dead_letters`) +
		count(t, pool, `SELECT coalesce(sum(possible_duplicates), 0) FROM outbox`); n != 0 {
		t.Errorf("%d dead letters and possible duplicates", n)
	}
	verifyClean(t, url)
}
