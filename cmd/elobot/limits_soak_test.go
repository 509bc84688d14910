//go:build soak

package main_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestLargeBurst checks that 300 results in one group, at once or within a minute, lead to no
// request beyond Telegram's limits. Each result is delivered with its number, or counted in a
// summary if more wait than allowed.
func TestLargeBurst(t *testing.T) {
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
			sim := startTelegram(t, botsim.WithLimits(botsim.TelegramLimits()))
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
			named, counted := deliveredResults(t, group.BotMessages())
			t.Logf("%d results delivered in %d messages within %v: %d named, %d only counted, most in a minute: %d, refused: %d",
				tc.results, len(group.BotMessages()), time.Since(begun).Round(time.Second), len(named), counted,
				most(sim, time.Minute), refused(sim))
			equal(t, len(named)+counted, tc.results, "results delivered")
			if len(tc.settings) == 0 && counted > 0 {
				t.Error("results were not named although they were below the cap")
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
		})
	}
}

// most returns the maximum number of requests to send a message within any period of the given
// length.
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
