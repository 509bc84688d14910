package main_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// stopCleanly stops the bot and checks that it exits with 0.
func stopCleanly(t *testing.T, bot *process) {
	t.Helper()
	if code, took := bot.stop(t); code != 0 {
		t.Errorf("the bot ends after %v with %d", took, code)
	}
}

// awaitAllSent waits until all updates are confirmed and no notice in the outbox is unfinished.
func awaitAllSent(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool) {
	t.Helper()
	// Check the updates first: once an update is confirmed, its answer is already in the outbox.
	eventually(t, "everything is sent", func() bool {
		return sim.Pending() == 0 && count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`) == 0
	})
}

// TestCleanStop checks that, if the bot is stopped during a slow request with more notices queued,
// all requests that it has begun complete. After the next start, every message has exactly one
// answer.
func TestCleanStop(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	alice := sim.User("alice")
	posted := make(map[*botsim.Chat][]botsim.Message)
	for i := range 3 {
		group := sim.Group(fmt.Sprintf("Group %d", i+1), alice, sim.User("bob"))
		for n := range 5 {
			posted[group] = append(posted[group], group.Say(alice, fmt.Sprintf("/match @bob 3:%d", n)))
		}
	}
	healed := sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: 300 * time.Millisecond})
	arrived := make(chan struct{}, 100)
	sim.AfterEffect(func(c botsim.Call) {
		if c.Method == "sendMessage" {
			arrived <- struct{}{}
		}
	})
	bot := launch(t, append(environment(sim, url), "SEND_PARALLEL=1"), "run")
	for range 2 { // stop the bot during the second request
		<-arrived
	}
	stopCleanly(t, bot)
	sent := count(t, pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`)
	if n := 2 + len(arrived); sent != n {
		t.Errorf("%d answers are sent, and %d requests were made", sent, n)
	}
	equal(t, count(t, pool, `SELECT count(*) FROM outbox WHERE state NOT IN ('sent', 'planned')`),
		0, "answers neither sent nor waiting")
	if handled := len(handledKeys(t, pool)); handled+sim.Pending() < 15 {
		t.Errorf("%d commands are handled, and %d are not confirmed, want 15", handled, sim.Pending())
	}
	healed()
	launch(t, environment(sim, url), "run")
	awaitAllSent(t, sim, pool)
	for group, messages := range posted {
		for i, m := range checkAnswered(t, pool, group, messages) {
			says(t, visible(m), fmt.Sprintf("Match #%d", i+1))
		}
		checkOnce(t, group, messages)
	}
	equal(t, count(t, pool, `SELECT sum(possible_duplicates) FROM outbox`), 0, "possible duplicates")
}
