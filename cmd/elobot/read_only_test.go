package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// TestReadOnlyDatabase: the database takes no writes for a while, and sessions that begin then keep that for as long as
// they live. What is reported meanwhile waits, and the bot goes on by itself.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	operator, err := pool.Acquire(t.Context()) // in a session that began before
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Release()
	order := func(sql string) {
		t.Helper()
		if _, err := operator.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
	bot := launch(t, environment(sim, url), "run")
	var said []botsim.Message
	report := func(n int) {
		for range n {
			said = append(said, group.Say(sim.User("alice"), fmt.Sprintf("/match @bob %d:1", len(said))))
		}
	}
	report(3)
	awaitAnswers(t, group, 3)

	name := pgx.Identifier{operator.Conn().Config().Database}.Sanitize()
	order(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = on`)
	order(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	report(3)
	bot.await(t, "updates have to wait")
	eventually(t, "the lease cannot be written either", func() bool {
		return strings.Count(bot.output.String(), "SQLSTATE 25006") > 1
	})
	if n := len(group.BotMessages()); n != 3 {
		t.Errorf("%d messages are answered, want 3", n)
	}
	order(`ALTER DATABASE ` + name + ` RESET default_transaction_read_only`)
	report(3)
	awaitAnswers(t, group, len(said))
	awaitSettled(t, sim, pool, group)
	checkAnswered(t, pool, group, said)
	if n := count(t, pool, `SELECT count(*) FROM matches`); n != len(said) {
		t.Errorf("%d matches are recorded, want %d", n, len(said))
	}
	if n := count(t, pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("there are %d dead letters", n)
	}
}
