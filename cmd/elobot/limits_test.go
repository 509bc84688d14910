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

// TestBurst reports many results at once, with Telegram's limits enforced: none is hit, and all of them are told, by their
// number, or in a summary where more wait than may.
func TestBurst(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()))
	url, pool := database(t)
	alice := sim.User("alice")
	results := map[*botsim.Chat]int{
		sim.Group("Below the cap", alice, sim.User("bob")): 10, sim.Group("Above it", alice, sim.User("bob")): 100,
	}
	for group, n := range results {
		for i := range n {
			group.Say(alice, fmt.Sprintf("/match @bob %d:%d", i%10, i%7))
		}
	}
	goOn := sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 1})
	launch(t, append(plainEnvironment(sim, url), "SEND_MAX_PER_CHAT=10"), "run")
	if err := sim.WaitConfirmed(testContext(t)); err != nil { // so that all of them wait to be told
		t.Fatal(err)
	}
	goOn()
	for group, n := range results {
		awaitSettled(t, sim, pool, group)
		named, counted := toldResults(t, group.BotMessages())
		if len(named)+counted != n || (counted > 0) != (n > 10) {
			t.Errorf("of %d results %d are told by name and %d by number alone", n, len(named), counted)
		}
	}
	if n := refused(sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
	verifyClean(t, url)
	checkNoComplaints(t, sim)
}

var (
	numbered = regexp.MustCompile(`#(\d+)`)
	andMore  = regexp.MustCompile(`and (\d+) more`)
)

// toldResults returns the numbers of the matches that were told, each of which must have been told once, and how many
// more were told of in summaries.
func toldResults(t *testing.T, messages []botsim.Message) (named map[int]bool, counted int) {
	t.Helper()
	named = make(map[int]bool)
	for _, m := range messages {
		for _, found := range numbered.FindAllStringSubmatch(visible(m), -1) {
			n, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			if named[n] {
				t.Errorf("match #%d was told twice", n)
			}
			named[n] = true
		}
		for _, found := range andMore.FindAllStringSubmatch(strings.ReplaceAll(visible(m), ",", ""), -1) {
			n, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			counted += n
		}
	}
	return named, counted
}

// refused returns how many requests Telegram has refused because there were too many.
func refused(sim *botsim.Server) int {
	n := 0
	for _, call := range sim.Calls() {
		if call.Status == http.StatusTooManyRequests && call.Fault == "" {
			n++
		}
	}
	return n
}
