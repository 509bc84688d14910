package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// troubles are results that are reported while something is wrong with the database.
type troubles struct {
	t     *testing.T
	sim   *botsim.Server
	bot   *process
	line  *proxy
	group *botsim.Chat
	said  []botsim.Message
	// operator looks at the database from a session that nobody ends.
	operator *pgxpool.Conn
}

func (d *troubles) report(n int) {
	for range n {
		d.said = append(d.said, d.group.Say(d.sim.User("alice"), fmt.Sprintf("/match @bob %d:1", len(d.said))))
	}
}

// waits does something to the database, after which results have to wait.
func (d *troubles) waits(what string, do func()) {
	d.t.Helper()
	waited := func() int { return strings.Count(d.bot.output.String(), "database unavailable, updates have to wait") }
	before, answered := waited(), len(d.said)
	do()
	d.report(3)
	eventually(d.t, "results wait, "+what, func() bool { return waited() > before })
	if n := len(d.group.BotMessages()); n != answered {
		d.t.Errorf("%s: %d messages are answered, want %d", what, n, answered)
	}
}

// goesOn waits until all that was reported is told, and nothing is left to be done.
func (d *troubles) goesOn() {
	d.t.Helper()
	d.report(3)
	awaitAnswers(d.t, d.group, len(d.said))
	eventually(d.t, "everything is settled", func() bool {
		var left int
		if err := d.operator.QueryRow(d.t.Context(), `SELECT count(*) FROM outbox WHERE state <> 'sent'`).Scan(&left); err != nil {
			d.t.Fatal(err)
		}
		return left == 0 && d.sim.Pending() == 0
	})
}

// TestDatabaseTroubles: the database takes no writes for a while, and sessions that begin then keep that for as long as they
// live; then it crashes and comes back; then it falls silent while the bot is told to stop. What is reported meanwhile
// waits, the bot goes on by itself, and nothing is lost or doubled.
func TestDatabaseTroubles(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	operator, err := pool.Acquire(t.Context()) // in a session that began before
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Release()
	group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
	d := &troubles{t: t, sim: sim, line: newProxy(t, url), group: group, operator: operator}
	order := func(sql string) {
		t.Helper()
		if _, err := operator.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	d.bot = launch(t, environment(sim, d.line.url), "run")
	d.goesOn()

	name := pgx.Identifier{operator.Conn().Config().Database}.Sanitize()
	d.waits("read-only", func() {
		order(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = on`)
		order(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	})
	eventually(t, "the lease cannot be written either", func() bool {
		return strings.Count(d.bot.output.String(), "SQLSTATE 25006") > 1
	})
	order(`ALTER DATABASE ` + name + ` RESET default_transaction_read_only`)
	d.goesOn()

	d.waits("away", d.line.leave)
	d.line.away.Store(false)
	d.goesOn()

	d.line.stall()
	d.report(20)
	eventually(t, "the bot waits for an answer", func() bool { return d.line.held.Load() > 0 })
	if code, took := d.bot.stop(t); code != 0 {
		t.Errorf("the bot ended after %v with %d", took, code)
	}
	d.line.resume()
	d.bot = launch(t, environment(sim, d.line.url), "run")
	d.goesOn()
	for i, m := range checkAnswered(t, pool, d.group, d.said) {
		says(t, visible(m), fmt.Sprintf("Match #%d", i+1))
	}
	if n := count(t, pool, `SELECT count(*) FROM matches`); n != len(d.said) {
		t.Errorf("%d matches are recorded, want %d", n, len(d.said))
	}
	checkNoDeadLetters(t, pool)
	verifyClean(t, url)
	checkNoComplaints(t, sim)
}
