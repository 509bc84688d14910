package main_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// quickEnvironment has the bot send as fast as it can, each answer in a message of its own, with the times of a lease that
// it has by default.
func quickEnvironment(sim *botsim.Server, databaseURL string) []string {
	return append(plainEnvironment(sim, databaseURL),
		"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "SEND_MERGE=off")
}

// stopCleanly ends the bot with SIGTERM, which must go well and not take long.
func stopCleanly(t *testing.T, bot *process) {
	t.Helper()
	if code, took := bot.stop(t); code != 0 || took > 10*time.Second {
		t.Errorf("the bot ends after %v with %d", took, code)
	}
}

// copies returns how many messages the bot has sent a chat that say what it has said there before.
func copies(chats []*botsim.Chat) int {
	n := 0
	for _, chat := range chats {
		said := make(map[string]bool)
		for _, m := range chat.BotMessages() {
			if said[m.Text] {
				n++
			}
			said[m.Text] = true
		}
	}
	return n
}

// awaitAllSent waits until nothing waits to be sent.
func awaitAllSent(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool) {
	t.Helper()
	eventually(t, "everything is sent", func() bool { // in this order: what is confirmed has its answer in the queue
		return sim.Pending() == 0 && count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`) == 0
	})
}

// TestCleanStopMakesNoCopies stops the bot while a request is under way that takes longer than others, with more to be
// sent. The request is answered, no other one begins, and after the next start everybody has one answer.
func TestCleanStopMakesNoCopies(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	alice := sim.User("alice")
	var groups []*botsim.Chat
	for i := range 8 {
		group := sim.Group(fmt.Sprintf("Group %d", i+1), alice, sim.User("bob"))
		group.Say(alice, "/match @bob 3:1")
		groups = append(groups, group)
	}
	healed := sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: 3500 * time.Millisecond})
	arrived := make(chan struct{}, 100)
	sim.AfterEffect(func(c botsim.Call) {
		if c.Method == "sendMessage" {
			arrived <- struct{}{}
		}
	})
	bot := launch(t, append(quickEnvironment(sim, url), "SEND_PARALLEL=1"), "run")
	<-arrived
	eventually(t, "all results are recorded", func() bool { return sim.Pending() == 0 })
	stopCleanly(t, bot)
	if n := len(arrived); n != 0 {
		t.Errorf("%d requests beside the one that was under way", n)
	}
	healed()
	launch(t, quickEnvironment(sim, url), "run")
	awaitAllSent(t, sim, pool)
	if n := copies(groups); n != 0 {
		t.Errorf("%d answers came twice", n)
	}
	if n := count(t, pool, `SELECT sum(perhaps_sent) FROM outbox`); n != 0 {
		t.Errorf("%d requests are counted as perhaps sent", n)
	}
	checkNoComplaints(t, sim)
}
