package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestBurst checks that many results at once lead to no request beyond Telegram's limits. Every
// result is delivered with its number, or counted in a summary if more wait than SEND_MAX_PER_CHAT
// allows.
func TestBurst(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t, botsim.WithLimits(botsim.TelegramLimits()))
	url, pool := database(t)
	alice := sim.User("alice")
	results := map[*botsim.Chat]int{
		sim.Group("Below the cap", alice, sim.User("bob")): 10, sim.Group("Above it", alice, sim.User("bob")): 30,
	}
	for group, n := range results {
		for i := range n {
			group.Say(alice, fmt.Sprintf("/match @bob %d:%d", i%10, i%7))
		}
	}
	heal := sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 1})
	launch(t, append(plainEnvironment(sim, url), "SEND_MAX_PER_CHAT=10"), "run")
	if err := sim.WaitConfirmed(testContext(t)); err != nil { // by then, all results are queued
		t.Fatal(err)
	}
	// The bot summarizes the notices of a chat before it tries again after a refusal. Wait for two
	// attempts, because the first may have begun before all results were queued.
	tries := func(group *botsim.Chat) (n int) {
		for _, call := range sim.CallsOf("sendMessage") {
			if call.ChatID == group.ID() {
				n++
			}
		}
		return n
	}
	for group := range results {
		tried := tries(group)
		eventually(t, "the chat is tried twice", func() bool { return tries(group) >= tried+2 })
	}
	heal()
	for group, n := range results {
		awaitSettled(t, sim, pool, group)
		named, counted := deliveredResults(t, group.BotMessages())
		if len(named)+counted != n || (counted > 0) != (n > 10) {
			t.Errorf("of %d results %d are named and %d only counted", n, len(named), counted)
		}
	}
	if n := refused(sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
	verifyClean(t, url)
}

var (
	numbered = regexp.MustCompile(`#(\d+)`)
	andMore  = regexp.MustCompile(`and (\d+) more`)
)

// deliveredResults returns the match numbers in the messages and how many more the summaries count.
// It checks that no number occurs twice.
func deliveredResults(t *testing.T, messages []botsim.Message) (named map[int]bool, counted int) {
	t.Helper()
	named = make(map[int]bool)
	for _, m := range messages {
		for _, found := range numbered.FindAllStringSubmatch(visible(m), -1) {
			n, err := strconv.Atoi(found[1])
			must(t, err)
			if named[n] {
				t.Errorf("match #%d was delivered twice", n)
			}
			named[n] = true
		}
		for _, found := range andMore.FindAllStringSubmatch(strings.ReplaceAll(visible(m), ",", ""), -1) {
			n, err := strconv.Atoi(found[1])
			must(t, err)
			counted += n
		}
	}
	return named, counted
}

// refused returns the number of requests that hit Telegram's limits.
func refused(sim *botsim.Server) int {
	n := 0
	for _, call := range sim.Calls() {
		if call.Status == http.StatusTooManyRequests && call.Fault == "" {
			n++
		}
	}
	return n
}
