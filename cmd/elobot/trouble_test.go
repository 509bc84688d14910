package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

// troubles reports results to a bot while its database has problems.
type troubles struct {
	t      *testing.T
	sim    *botsim.Server
	bot    *process
	proxy  *dbtest.Proxy
	group  *botsim.Chat
	posted []botsim.Message
	// operator is a database session that none of the faults affects.
	operator *pgxpool.Conn
}

func (d *troubles) report(n int) {
	for range n {
		d.posted = append(d.posted, d.group.Say(d.sim.User("alice"), fmt.Sprintf("/match @bob %d:1", len(d.posted))))
	}
}

// waits calls do to break the database, and checks that results then wait. what describes the fault
// for error messages.
func (d *troubles) waits(what string, do func()) {
	d.t.Helper()
	waited := func() int { return strings.Count(d.bot.output.String(), "database unavailable, updates have to wait") }
	before, answered := waited(), len(d.posted)
	do()
	d.report(3)
	eventually(d.t, "results wait, "+what, func() bool { return waited() > before })
	if n := len(d.group.BotMessages()); n != answered {
		d.t.Errorf("%s: %d messages are answered, want %d", what, n, answered)
	}
}

// goesOn reports three results, and waits until all results are answered and nothing is left to
// send.
func (d *troubles) goesOn() {
	d.t.Helper()
	d.report(3)
	awaitAnswers(d.t, d.group, len(d.posted))
	eventually(d.t, "everything is settled", func() bool {
		var left int
		must(d.t, d.operator.QueryRow(d.t.Context(), `SELECT count(*) FROM outbox WHERE state <> 'sent'`).Scan(&left))
		return left == 0 && d.sim.Pending() == 0
	})
}

// TestDatabaseTroubles checks that results wait during each of several faults of the database, and
// that none is lost or recorded twice. The database turns read-only for a while, and sessions begun
// in that time stay read-only. Then it refuses all new sessions, and then it goes away and comes
// back. Finally, it stops answering, and the bot is stopped and started again.
func TestDatabaseTroubles(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	operator, err := pool.Acquire(t.Context()) // a session from before the faults
	must(t, err)
	defer operator.Release()
	group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
	d := &troubles{t: t, sim: sim, proxy: dbtest.NewProxy(t, url), group: group, operator: operator}
	order := func(sql string) {
		t.Helper()
		if _, err := operator.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	env := takeOverSoon(environment(sim, d.proxy.URL))
	d.bot = launch(t, env, "run")
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

	// These errors occur after a change of the password, with an exhausted pooler, or while a
	// database is being replaced.
	d.waits("refused", func() {
		d.proxy.Refuse("28P01", "28000", "XX000", "3D000")
		order(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	})
	d.proxy.Refuse()
	d.goesOn()

	d.waits("away", d.proxy.Leave)
	d.proxy.Away.Store(false)
	d.goesOn()

	d.proxy.Stall()
	d.report(3)
	eventually(t, "the bot waits for an answer", func() bool { return d.proxy.Held.Load() > 0 })
	if code, took := d.bot.stop(t); code != 0 {
		t.Errorf("the bot ended after %v with %d", took, code)
	}
	d.proxy.Resume()
	d.bot = launch(t, env, "run")
	d.goesOn()
	for i, m := range checkAnswered(t, pool, d.group, d.posted) {
		says(t, visible(m), fmt.Sprintf("Match #%d", i+1))
	}
	equal(t, count(t, pool, `SELECT count(*) FROM matches`), len(d.posted), "matches")
	checkNoDeadLetters(t, pool)
	verifyClean(t, url)
}
