//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"elobot/internal/crashpoint"
)

// TestTimersFireOnceWhateverHappens checks that an unanswered prompt ends exactly once, even if the
// leader is killed before or after the commit that ends it, or is frozen before the commit until
// another instance leads.
func TestTimersFireOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	alice, olga := c.sim.User("alice"), c.sim.User("olga")
	group := c.sim.Group("Chess", olga, alice, c.sim.User("bob"))
	bot := c.start()
	group.Say(alice, "/match @bob 3:1")
	c.settle()
	sql := func(statement string) {
		t.Helper()
		if _, err := c.pool.Exec(testContext(t), statement); err != nil {
			t.Fatal(err)
		}
	}
	// ask makes the bot ask Olga whether to undo the match, stops the bot, and lets the time of the
	// prompt run out. It returns the message id of the prompt.
	ask := func() int {
		t.Helper()
		n := len(group.BotMessages())
		group.Say(olga, "/undo 1")
		prompt := awaitAnswers(t, group, n+1)[n]
		c.settle()
		const delivered = `SELECT count(*) FROM timers
			WHERE due_at BETWEEN now() + interval '4 minutes' AND now() + interval '5 minutes'`
		equal(t, count(t, c.pool, delivered), 1, "prompts timed from their delivery")
		if code, _ := bot.stop(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
		sql(`UPDATE timers SET due_at = now()`)
		return prompt.ID
	}
	ended := func(prompt, all int) {
		t.Helper()
		now, err := group.WaitEdits(testContext(t), prompt, 1)
		must(t, err)
		says(t, visible(now), "Time is up: nobody said whether to undo match")
		c.settle()
		if now, _ := group.Message(prompt); now.Edits != 1 || len(now.Buttons) != 0 {
			t.Errorf("after %d edits the prompt is %+v", now.Edits, now)
		}
		equal(t, count(t, c.pool, `SELECT count(*) FROM handled_commands WHERE key LIKE 't:%'`), all, "fired timers")
	}
	for n, point := range []crashpoint.Point{crashpoint.Applying, crashpoint.Fired} {
		prompt := ask()
		c.at(point, 1, crashpoint.End)
		crashing := c.start()
		c.awaitCrash(crashing)
		equal(t, count(t, c.pool, `SELECT count(*) FROM prompts WHERE closed_as = 'expired'`),
			2*n, "ended prompts when killed at %q", point)
		expireLease(t, c.pool, crashing)
		bot = c.start()
		ended(prompt, n+1)
	}

	prompt := ask()
	c.at(crashpoint.Applying, 1, crashpoint.Stop)
	frozen := c.start("LEASE_DURATION=2s") // the lease must expire while the bot is frozen
	c.awaitCarriedOut(frozen)
	bot = c.start()
	ended(prompt, 3)
	must(t, frozen.cmd.Process.Signal(syscall.SIGCONT))
	c.await("it notices that it lost the lease",
		func() bool { return strings.Contains(frozen.output.String(), "lost the lease") })
	ended(prompt, 3)
	if n := count(t, c.pool, `SELECT count(*) FROM timers`) +
		count(t, c.pool, `SELECT count(*) FROM prompts WHERE closed_at IS NULL`); n != 0 {
		t.Errorf("%d timers and open prompts are left", n)
	}
	checkNoDeadLetters(t, c.pool)
	verifyClean(t, c.url)
}
