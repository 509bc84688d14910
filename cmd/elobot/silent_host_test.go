package main_test

import (
	"net/url"
	"strings"
	"testing"

	"elobot/internal/pgtemp/pgtest"
)

// hosts returns the address of the first database with the hosts of all, in that order.
func hosts(t *testing.T, addresses ...string) string {
	t.Helper()
	all, err := url.Parse(addresses[0])
	must(t, err)
	names := []string{all.Host}
	for _, address := range addresses[1:] {
		u, err := url.Parse(address)
		must(t, err)
		names = append(names, u.Host)
	}
	all.Host = strings.Join(names, ",")
	return all.String()
}

// TestSilentHost: of three hosts, the first one is frozen from the start, and the second one
// freezes while the bot works there. The bot starts, and continues with the third one.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	address, pool := database(t)
	frozen, primary, standby := newProxy(t, address), newProxy(t, address), newProxy(t, address)
	frozen.stall()
	env := takeOverSoon(environment(sim, hosts(t, frozen.url, primary.url, standby.url)))
	bot := launch(t, env, "run")
	group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
	d := &troubles{t: t, sim: sim, bot: bot, proxy: primary, group: group}
	d.report(3)
	awaitAnswers(t, group, len(d.posted))
	primary.stall()
	d.report(3)
	awaitAnswers(t, group, len(d.posted))
	checkAnswered(t, pool, group, d.posted)
	checkNoDeadLetters(t, pool)
	bot.stop(t)
	verifyClean(t, pgtest.WithParameter(address, "application_name", "verify"))
}
