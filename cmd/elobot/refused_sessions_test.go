package main_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
)

var warning = regexp.MustCompile(`level=(?:WARN|ERROR) msg=("[^"]*"|\S+)`)

// TestRefusedSessions: if the server refuses all new sessions for a while, as during a change of
// password, with an exhausted pooler, or while a database is replaced, results wait and are then
// handled. The bot does not give up on any, and logs each warning at most once a minute.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	address, pool := database(t)
	proxy := dbtest.NewProxy(t, address)
	bot := launch(t, takeOverSoon(environment(sim, proxy.URL)), "run")
	d := &troubles{t: t, sim: sim, bot: bot, proxy: proxy, group: sim.Group("Chess", sim.User("alice"), sim.User("bob"))}
	d.report(3)
	awaitAnswers(t, d.group, len(d.posted))

	said, begun := len(bot.output.String()), time.Now()
	proxy.Refuse("28P01", "28000", "XX000", "3D000")
	d.report(3)
	eventually(t, "a hundred sessions are refused", func() bool { return proxy.Refused.Load() >= 100 })
	times := make(map[string]int)
	for _, found := range warning.FindAllStringSubmatch(bot.output.String()[said:], -1) {
		times[found[1]]++
	}
	for message, n := range times {
		if n > 1+int(time.Since(begun).Minutes()) {
			t.Errorf("the log says %s %d times", message, n)
		}
	}
	if len(times) == 0 {
		t.Error("the log says nothing")
	}
	proxy.Refuse()
	d.report(3)
	awaitAnswers(t, d.group, len(d.posted))
	for i, m := range checkAnswered(t, pool, d.group, d.posted) {
		says(t, visible(m), fmt.Sprintf("Match #%d", i+1))
	}
	checkNoDeadLetters(t, pool)
	verifyClean(t, address)
}
