package main_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// upgradeSchema and upgradeVersion stand for the migration of a newer release, after which this
// release's statements fail. downgradeSchema reverts both, so that this release can play the newer
// one.
const (
	upgradeSchema   = `ALTER TABLE matches RENAME COLUMN score_a TO first_score`
	upgradeVersion  = `UPDATE schema_migrations SET version = version + 1000`
	downgradeSchema = `ALTER TABLE matches RENAME COLUMN first_score TO score_a;
		UPDATE schema_migrations SET version = version - 1000`
)

func execute(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	_, err := pool.Exec(testContext(t), sql)
	must(t, err)
}

// TestNewerSchema: if a newer release upgrades the database under a running bot, the bot releases
// its lease and exits with a line that says why, whether it is busy or not. It gives up on no
// result: the newer release handles them all.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ webhook, idle bool }{
		"polling": {}, "webhook": {webhook: true}, "idle": {idle: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := startTelegram(t)
			url, pool := database(t)
			env := environment(sim, url)
			start := func() *process { return launch(t, env, "run") }
			if tc.webhook {
				door := newEntrance(t)
				start = func() *process { return door.launch(t, env) }
			}
			bot := start()
			d := &troubles{t: t, sim: sim, group: sim.Group("Chess", sim.User("alice"), sim.User("bob"))}
			d.report(2)
			awaitAnswers(t, d.group, len(d.posted))

			execute(t, pool, upgradeSchema+";"+upgradeVersion)
			if !tc.idle {
				d.report(3)
			}
			code := bot.wait(t)
			output := strings.TrimSpace(bot.output.String())
			if last := output[strings.LastIndex(output, "\n")+1:]; code != 3 ||
				!strings.Contains(last, "made by a newer elobot") {
				t.Errorf("the bot ends with %d and says\n%s", code, last)
			}
			if n := count(t, pool, `SELECT count(*) FROM leases WHERE holder <> ''`); n != 0 {
				t.Error("the lease is not released")
			}
			execute(t, pool, downgradeSchema)
			start()
			d.report(1)
			awaitAnswers(t, d.group, len(d.posted))
			checkAnswered(t, pool, d.group, d.posted)
			checkNoDeadLetters(t, pool)
			verifyClean(t, url)
		})
	}
}

// TestOwnFaultWithTheSchema: if the schema is not newer, a failing statement counts against its
// update. The bot gives up on the update and continues.
func TestOwnFaultWithTheSchema(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	launch(t, environment(sim, url), "run")
	alice := sim.User("alice")
	group := sim.Group("Chess", alice, sim.User("bob"))
	group.Say(alice, "/match @bob 3:1")
	awaitAnswers(t, group, 1)
	execute(t, pool, upgradeSchema)
	group.Say(alice, "/match @bob 3:2")
	eventually(t, "the update is given up",
		func() bool { return count(t, pool, `SELECT count(*) FROM dead_letters`) == 1 })
	execute(t, pool, `ALTER TABLE matches RENAME COLUMN first_score TO score_a`)
	group.Say(alice, "/match @bob 3:3")
	eventually(t, "the next result is recorded",
		func() bool { return count(t, pool, `SELECT count(*) FROM matches`) == 2 })
}
