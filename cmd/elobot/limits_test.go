package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestBurst reports 300 results in one group within a minute, with Telegram's limits enforced: none is hit, and all of
// them are told, by their number, or in a summary when more wait than may.
func TestBurst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		results  int
		within   time.Duration
		settings []string
	}{
		"spread over a minute": {300, time.Minute, nil},
		"all at once":          {300, 0, nil},
		"over the cap":         {300, 0, []string{"SEND_MAX_PER_CHAT=30"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()))
			url, pool := database(t)
			alice, bob := sim.User("alice"), sim.User("bob")
			group := sim.Group("Chess", alice, bob)
			launch(t, append(plainEnvironment(sim, url), tc.settings...), "run")
			begun := time.Now()
			pace := time.NewTicker(max(tc.within/time.Duration(tc.results), time.Microsecond))
			defer pace.Stop()
			for i := range tc.results {
				group.Say(alice, fmt.Sprintf("/match @bob %d:%d", i%10, i%7))
				<-pace.C
			}
			awaitSettled(t, sim, pool, group)
			named, counted := toldResults(t, group.BotMessages())
			t.Logf("%d results told in %d messages within %v: %d by name, %d by number alone, most in a minute: %d, refused: %d",
				tc.results, len(group.BotMessages()), time.Since(begun).Round(time.Second), len(named), counted, most(sim, time.Minute), refused(sim))
			if len(named)+counted != tc.results {
				t.Errorf("%d results were told, want %d", len(named)+counted, tc.results)
			}
			if len(tc.settings) == 0 && counted > 0 {
				t.Error("results were not named though they were below the cap")
			}
			if len(tc.settings) > 0 && counted == 0 {
				t.Error("there was no summary")
			}
			if n := refused(sim); n > 0 {
				t.Errorf("Telegram has refused %d requests", n)
			}
			if n := most(sim, time.Minute); n > 20 {
				t.Errorf("%d messages within a minute", n)
			}
			verifyClean(t, url)
			checkNoComplaints(t, sim)
		})
	}
}

// TestDrain has 2,000 replies in 200 groups sent at Telegram's limits, each in a message of its own: it takes hardly
// longer than the limits dictate.
func TestDrain(t *testing.T) {
	t.Parallel()
	const groups, each = 200, 10
	sim := botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()))
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	for i := range groups {
		group := sim.Group(fmt.Sprintf("Group %d", i+1), alice, bob)
		for j := range each {
			group.Say(alice, fmt.Sprintf("/match @bob %d:%d", j, i%10))
		}
	}
	launch(t, append(plainEnvironment(sim, url), "SEND_MERGE=off"), "run")
	eventually(t, "everything is sent", func() bool {
		return sim.Pending() == 0 && count(t, pool, `SELECT count(*) FROM outbox WHERE state <> 'sent'`) == 0
	})
	calls := sim.CallsOf("sendMessage")
	if len(calls) != groups*each {
		t.Fatalf("%d messages, want %d", len(calls), groups*each)
	}
	// 30 at once, and 30 more each second
	least := time.Duration((groups*each-1)/30) * time.Second
	took := calls[len(calls)-1].At.Sub(calls[0].At)
	t.Logf("2,000 replies in 200 groups: %v, %.3f times the %v that the limits dictate; refused: %d",
		took.Round(time.Millisecond), took.Seconds()/least.Seconds(), least, refused(sim))
	if n := refused(sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
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

// most returns how many messages at the most were sent within a time.
func most(sim *botsim.Server, within time.Duration) int {
	calls := sim.CallsOf("sendMessage")
	most, oldest := 0, 0
	for i := range calls {
		for calls[i].At.Sub(calls[oldest].At) >= within {
			oldest++
		}
		most = max(most, i-oldest+1)
	}
	return most
}

// refused returns how many requests Telegram has refused because there were too many.
func refused(sim *botsim.Server) int {
	n := 0
	for _, call := range sim.Calls() {
		if call.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}
