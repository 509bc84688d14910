//go:build soak

package main_test

import (
	"context"
	"flag"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
)

var outageFor = flag.Duration("outage.for", 5*time.Second, "how long the database is away in TestDatabaseStopped")

// complaint matches a warning or an error in the log.
var complaint = regexp.MustCompile(`(?m)^.*level=(WARN|ERROR).*$`)

// TestDatabaseStopped: if PostgreSQL stops as in a crash while results come in, the results wait at
// Telegram. The bot does not give up on any, logs little about it, and recovers by itself when the
// database is back.
func TestDatabaseStopped(t *testing.T) {
	t.Parallel()
	t.Run("polled", func(t *testing.T) {
		t.Parallel()
		stopDatabase(t, func(env []string) *process { return launch(t, env, "run") })
	})
	t.Run("delivered", func(t *testing.T) {
		t.Parallel()
		door := newEntrance(t)
		sim := stopDatabase(t, func(env []string) *process { return door.launch(t, env) })
		refused := 0
		for _, d := range sim.Deliveries() {
			switch d.Status {
			case http.StatusServiceUnavailable:
				refused++
			case http.StatusOK:
			default:
				t.Errorf("a delivery ended with %d %s", d.Status, d.Err)
			}
		}
		if refused == 0 {
			t.Error("no delivery was answered with 503")
		}
	})
}

// stopDatabase launches a bot, stops and resumes its database, and returns the simulated Telegram.
func stopDatabase(t *testing.T, launch func(env []string) *process) *botsim.Server {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{Sources: []pgtemp.Source{pgtemp.Programs, pgtemp.Archive, pgtemp.Packages}})
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	sim := startTelegram(t)
	bot := launch(takeOverSoon(environment(sim, server.URL())))
	load := startLoad(t, sim, 10, 500*time.Millisecond)
	awaitAnswers(t, load.groups[0], 4)

	stopped, before := time.Now(), len(complaint.FindAllString(bot.output.String(), -1))
	load.crashed = time.Now()
	must(t, server.Pause(t.Context(), true))
	timer := time.NewTimer(*outageFor)
	<-timer.C
	waiting, complaints := sim.Pending(), complaint.FindAllString(bot.output.String(), -1)[before:]
	must(t, server.Resume(t.Context()))
	back, answered := time.Now(), len(load.groups[0].BotMessages())
	awaitAnswers(t, load.groups[0], answered+1)
	recovered := time.Since(back)
	load.stop()

	pool, err := pgxpool.New(t.Context(), server.URL())
	must(t, err)
	t.Cleanup(pool.Close)
	copies := load.checkAll(t, sim, pool, server.URL())
	t.Logf("away for %v: %d updates waited, %d lines in the log, an answer came %v after it was back, %d came twice",
		back.Sub(stopped).Round(time.Millisecond), waiting, len(complaints), recovered.Round(time.Millisecond), copies)
	if limit := 15 + 3*int(*outageFor/time.Minute); len(complaints) > limit {
		t.Errorf("the log has %d lines about it:\n%s", len(complaints), strings.Join(complaints, "\n"))
	}
	return sim
}
