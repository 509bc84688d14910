package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestTooMuchAtOnce checks that results over the limit per minute are listed instead of recorded,
// and questions over the limit get a single answer, which asks the sender to slow down. The limits
// of one person do not affect others. Results that the bot finds waiting when it starts all count,
// because the limit goes by the times at which they were sent.
func TestTooMuchAtOnce(t *testing.T) {
	t.Parallel()
	const limit, results = 5, 9
	sim := startTelegram(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	env := append(plainEnvironment(sim, url), fmt.Sprintf("RESULT_LIMIT=%d", limit), "SEND_LIMIT_GROUP=1/1s")
	backlog := time.Now().Add(-time.Hour)
	for i := range 2 * limit { // waiting since before the start of the bot
		group.Post(botsim.Post{From: alice, Text: fmt.Sprintf("/match @bob 3:%d", i%3),
			Date: backlog.Add(time.Duration(i) * 15 * time.Second)})
	}
	launch(t, env, "run")
	recorded := func(want int) {
		t.Helper()
		eventually(t, "all updates are confirmed", func() bool { return sim.Pending() == 0 })
		equal(t, count(t, pool, `SELECT count(*) FROM matches`), want, "matches")
	}
	eventually(t, "the backlog is confirmed", func() bool { return sim.Pending() == 0 })
	recorded(2 * limit)

	for i := range results {
		group.Say(alice, fmt.Sprintf("/match @bob 7:%d", i))
	}
	group.Say(bob, "/match @alice 9:8")
	recorded(2*limit + limit + 1)
	const questions = 25
	for range questions {
		group.Say(bob, "/join")
	}
	eventually(t, "everything is sent", func() bool {
		return sim.Pending() == 0 && count(t, pool, `SELECT count(*) FROM outbox WHERE state <> 'sent'`) == 0
	})
	var all strings.Builder
	for _, m := range group.BotMessages() {
		all.WriteString(visible(m) + "\n")
	}
	for i := limit; i < results; i++ {
		if want := fmt.Sprintf("7:%d", i); strings.Count(all.String(), want) != 1 {
			t.Errorf("the result %s is not listed once as not recorded", want)
		}
	}
	equal(t, strings.Count(all.String(), "a lot at once"), 1, "requests to slow down")
	equal(t, strings.Count(all.String(), "you’re already in"), 20, "answered questions")
	verifyClean(t, url)
}
