//go:build unix

package main_test

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestFrozenAtEachPoint checks that a leader that was frozen for longer than its lease does no harm
// when it continues. It is frozen at one crash point after another, and each time the other
// instance takes over, so the database refuses the unfinished writes of the frozen instance. A
// message arrives twice only if that was counted as a possible duplicate. Finally, the leader is
// killed before a renewal, and the other instance takes over.
func TestFrozenAtEachPoint(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	alice := c.sim.User("alice")
	g := &conversation{group: c.sim.Group("Chess", alice, c.sim.User("bob"))}
	report := func() { g.posted = append(g.posted, g.group.Say(alice, "/match @bob 3:1")) }
	// The leases are short, because each round waits until a frozen leader's lease expires.
	short := []string{"LEASE_DURATION=2s", "LEASE_RENEWAL=200ms"}
	bots := []*process{c.start(short...), c.start(short...)}
	report()
	c.settle()
	answers := func(to botsim.Message) (n int) {
		for _, m := range g.group.BotMessages() {
			if m.ReplyTo == to.ID {
				n++
			}
		}
		return n
	}
	for _, point := range []crashpoint.Point{
		crashpoint.Applying, crashpoint.Applied, crashpoint.Handled, crashpoint.Requested,
		crashpoint.Renewing, crashpoint.Renewed,
		crashpoint.Requesting, // last, because it is unknown when that request ends
	} {
		lost := make(map[*process]int) // how often each bot had lost the lease before
		for _, bot := range bots {
			lost[bot] = strings.Count(bot.output.String(), "lost the lease")
		}
		c.at(point, 1, crashpoint.Stop)
		if point != crashpoint.Renewing && point != crashpoint.Renewed {
			report()
		}
		frozen := bots[c.awaitCarriedOut(bots...)]
		last := g.posted[len(g.posted)-1]
		equal(t, handledKeys(t, c.pool)[key(last)], point != crashpoint.Applying, "%q: the result has committed", point)
		arrived := answers(last)
		report()
		c.await("another instance leads", func() bool { return c.leader(bots) != frozen })
		c.settle()
		must(t, frozen.cmd.Process.Signal(syscall.SIGCONT))
		c.await("it notices that it lost the lease",
			func() bool { return strings.Count(frozen.output.String(), "lost the lease") > lost[frozen] })
		report()
		c.settle()
		if n := answers(last); point == crashpoint.Requested && n <= arrived {
			t.Errorf("%q: %d answers in the end, want more than the %d before, whose result was not persisted",
				point, n, arrived)
		}
	}
	c.at(crashpoint.Renewing, 1, crashpoint.End)
	c.awaitCrash(bots...)
	report()
	c.settle()
	if twice, duplicates := checkDeliveredInOrder(t, g.group, len(g.posted)),
		count(t, c.pool, `SELECT sum(possible_duplicates) FROM outbox`); twice > duplicates {
		t.Errorf("%d answers came twice, but only %d were counted as possible duplicates", twice, duplicates)
	}
	equal(t, count(t, c.pool, `SELECT count(*) FROM matches`), len(g.posted), "matches")
	checkNoDeadLetters(t, c.pool)
	verifyClean(t, c.url)
}

// leader returns the bot that the database names as the holder of the lease, even if the lease has
// expired. It returns nil if none of bots is the holder.
func (c *crashes) leader(bots []*process) *process {
	c.t.Helper()
	holder := collect(c.t, c.pool, pgx.RowTo[string], `SELECT split_part(holder, '/', 2) FROM leases`)
	i := slices.IndexFunc(bots,
		func(bot *process) bool { return slices.Contains(holder, strconv.Itoa(bot.cmd.Process.Pid)) })
	if i < 0 {
		return nil
	}
	return bots[i]
}
