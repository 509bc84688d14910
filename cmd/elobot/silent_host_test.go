package main_test

import (
	"net/url"
	"strings"
	"testing"

	"elobot/internal/postgres/dbtest"
)

// withHosts returns the database URL address with its host replaced by the hosts of the URLs in
// others, in their order.
func withHosts(t *testing.T, address string, others ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	var names []string
	for _, other := range others {
		o, err := url.Parse(other)
		must(t, err)
		names = append(names, o.Host)
	}
	u.Host = strings.Join(names, ",")
	return u.String()
}

// TestSilentHost checks that, if the first of three hosts is frozen from the start and the second
// freezes while the bot uses it, the bot starts and continues with the third.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	address, pool := database(t)
	frozen, primary, standby := dbtest.NewProxy(t, address), dbtest.NewProxy(t, address), dbtest.NewProxy(t, address)
	frozen.Stall()
	env := takeOverSoon(environment(sim, withHosts(t, frozen.URL, frozen.URL, primary.URL, standby.URL)))
	bot := launch(t, env, "run")
	group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
	d := &troubles{t: t, sim: sim, bot: bot, proxy: primary, group: group}
	d.report(3)
	awaitAnswers(t, group, len(d.posted))
	primary.Stall()
	d.report(3)
	awaitAnswers(t, group, len(d.posted))
	checkAnswered(t, pool, group, d.posted)
	checkNoDeadLetters(t, pool)
	bot.stop(t)
	verifyClean(t, address)
}
