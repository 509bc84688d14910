//go:build unix && soak

package main_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres/dbtest"
)

// TestFailover: if the primary crashes while results come in and its synchronous standby is
// promoted, a bot with both hosts in DATABASE_URL continues there. Every result is recorded once
// and answered.
func TestFailover(t *testing.T) {
	t.Parallel()
	servers := dbtest.StartPair(t)
	standby, err := pgxpool.New(t.Context(), servers.Standby.URL())
	must(t, err)
	t.Cleanup(standby.Close)
	sim := startTelegram(t)
	address := withHosts(t, servers.Standby.URL(), servers.Standby.URL(), servers.Primary.URL())
	bot := launch(t, takeOverSoon(environment(sim, address)), "run")
	load := startLoad(t, sim, 10, 100*time.Millisecond)
	awaitAnswers(t, load.groups[0], 4)

	load.crashed = time.Now()
	must(t, servers.Primary.Pause(t.Context(), true))
	bot.await(t, "database unavailable, updates have to wait")
	ended := time.Now()
	servers.Promote(t)
	awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+4)
	recovered := time.Since(ended)
	load.stop()
	copies := load.checkAll(t, sim, standby, servers.Standby.URL())
	t.Logf("answers came %v after the standby was promoted, %d came twice", recovered.Round(time.Millisecond), copies)
}
