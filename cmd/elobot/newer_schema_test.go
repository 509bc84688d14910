package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// upgradeSchema and upgradeVersion stand for the migration of a newer release, after which this
// release's statements fail. downgradeSchema reverts both, so that this release can then stand for
// the newer release.
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

// TestNewerSchema checks that, if a newer release upgrades the database under a running bot, the
// bot releases its lease and exits with a line that says why, whether it is busy or not. No result
// is lost, because the newer release handles the results that the bot has left.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	for _, webhook := range []bool{false, true} {
		t.Run(fmt.Sprint("webhook: ", webhook), func(t *testing.T) {
			t.Parallel()
			sim := startTelegram(t)
			url, pool := database(t)
			env := environment(sim, url)
			start := func() *process { return launch(t, env, "run") }
			if webhook {
				door := newEntrance(t)
				start = func() *process { return door.launch(t, env) }
			}
			bot := start()
			d := &troubles{t: t, sim: sim, group: sim.Group("Chess", sim.User("alice"), sim.User("bob"))}
			d.report(2)
			awaitAnswers(t, d.group, len(d.posted))
			upgraded := func(results int) {
				t.Helper()
				execute(t, pool, upgradeSchema+";"+upgradeVersion)
				d.report(results)
				code := bot.wait(t)
				output := strings.TrimSpace(bot.output.String())
				last := output[strings.LastIndex(output, "\n")+1:]
				if code != 3 || !strings.Contains(last, "made by a newer elobot") {
					t.Errorf("the bot ends with %d and says\n%s", code, last)
				}
				if n := count(t, pool, `SELECT count(*) FROM leases WHERE holder <> ''`); n != 0 {
					t.Error("the lease is not released")
				}
				execute(t, pool, downgradeSchema)
				bot = start()
				d.report(1)
				awaitAnswers(t, d.group, len(d.posted))
			}
			upgraded(3)
			if !webhook { // without updates, it does not matter how the bot gets them
				upgraded(0)
			}
			checkAnswered(t, pool, d.group, d.posted)
			checkNoDeadLetters(t, pool)
			verifyClean(t, url)
		})
	}
}
