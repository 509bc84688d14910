//go:build soak

package main_test

import (
	"testing"

	"elobot/internal/botsim"
)

const (
	amendmentKills    = 15
	amendmentCommands = 150
	amendmentGroups   = 3
)

// amendmentCrash is the fixture of a bot that is killed while results are reported, undone and
// corrected.
type amendmentCrash struct {
	*crash
	tables   []*table
	commands int
}

// TestKilledWhileAmending: the bot is killed at random moments while results are undone and
// corrected by commands and buttons. Every command takes effect once, in order, and is answered.
// The ratings are those of the matches that count.
func TestKilledWhileAmending(t *testing.T) {
	t.Parallel()
	c := &amendmentCrash{crash: startCrash(t, amendmentGroups)}
	for _, group := range c.groups {
		c.tables = append(c.tables, newTable(t, c.sim, c.pool, group))
	}
	c.dealCards()
	for kill := range amendmentKills {
		c.runAndKill(func() {
			for ; c.commands < amendmentCommands*(kill+1)/amendmentKills; c.commands++ {
				c.command(c.tables[c.random.IntN(amendmentGroups)])
			}
		})
	}
	launch(t, crashEnvironment(environment(c.sim, c.url)), "run")
	eventually(t, "everything is handled and sent", func() bool {
		const waiting = `SELECT count(*) FROM outbox WHERE state IN ('planned', 'sending')`
		return c.sim.Pending() == 0 && count(t, c.pool, waiting) == 0
	})
	if n := count(t, c.pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("there are %d dead letters", n)
	}
	var matches, undone, fixed, presses int
	for _, b := range c.tables {
		b.check()
		matches, undone, fixed, presses = matches+len(b.matches), undone+b.undone, fixed+b.fixed, presses+len(b.callbackAnswers)
	}
	c.logWindows("%d kills during %d commands, of %d matches %d undone, %d corrections, %d presses",
		amendmentKills, amendmentCommands, matches, undone, fixed, presses)
	verifyClean(t, c.url)
}

// dealCards reports a match at each table and waits for its card, so that there are buttons to
// press from the start.
func (c *amendmentCrash) dealCards() {
	bot := launch(c.t, crashEnvironment(environment(c.sim, c.url)), "run")
	for _, b := range c.tables {
		before := len(b.group.BotMessages())
		b.match(c.people[0], c.people[1], 2, 1)
		c.post(b.keys[0])
		awaitAnswers(c.t, b.group, before+1)
	}
	bot.kill()
	c.awaitSilence()
	c.handled = handledKeys(c.t, c.pool)
}

// command makes a random person send a random command or press a button.
func (c *amendmentCrash) command(b *table) {
	order := c.random.Perm(len(c.people))
	sender, opponent := c.people[order[0]], c.people[order[1]]
	number := 1 + c.random.IntN(len(b.matches)+1) // sometimes beyond the last match
	score := [2]int{c.random.IntN(4), c.random.IntN(4)}
	given := len(b.keys)
	switch kind := c.random.IntN(20); {
	case kind < 8:
		b.match(sender, opponent, score[0], score[1])
	case kind < 10:
		b.undo(b.unasked(sender, number), number)
	case kind < 17:
		b.fix(sender, number, score)
	default: // the button of any card
		for _, i := range c.random.Perm(len(b.matches)) {
			if b.press(b.unasked(sender, i+1), i+1) {
				break
			}
		}
	}
	for _, key := range b.keys[given:] {
		c.post(key)
	}
}

// unasked returns the sender. If the sender would be asked to confirm, as an admin who did not play
// the match, it returns one of the match's players instead.
func (b *table) unasked(sender botsim.User, number int) botsim.User {
	if number > len(b.matches) {
		return sender
	}
	if m := b.matches[number-1]; sender.Username == "alice" && sender.ID != m.a.ID && sender.ID != m.b.ID {
		return m.a
	}
	return sender
}
