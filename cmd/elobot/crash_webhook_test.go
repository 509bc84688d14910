//go:build unix

package main_test

import (
	"slices"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestFleetKilledAtEachPoint checks that every result is recorded once and answered in order,
// although one of two webhook instances is killed before or after it commits a result, or after it
// sends the answer. The remaining instance handles and answers what Telegram delivers again.
func TestFleetKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	c := newCrashes(t, botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond }))
	alice := c.sim.User("alice")
	g := &conversation{group: c.sim.Group("Chess", alice, c.sim.User("bob"))}
	report := func() botsim.Message {
		g.posted = append(g.posted, g.group.Say(alice, "/match @bob 3:1"))
		return g.posted[len(g.posted)-1]
	}
	door := newBalancer(t, 2)
	bots := make([]*process, 2)
	start := func(i int) {
		t.Helper()
		bots[i] = c.start(door.environment()...)
		c.await("the bot serves", func() bool { return door.find(i, bots[i]) })
	}
	for i := range bots {
		start(i)
		awaitWebhooks(t, c.sim, 1) // two instances that start together may both set the webhook
	}
	report()
	c.settle()
	epoch := 1
	for i, tc := range []struct {
		point     crashpoint.Point
		byLeader  bool // the delivery goes to the leader
		committed int
		copies    [2]int // minimum and maximum count of duplicate answers
	}{
		{crashpoint.Applying, true, 0, [2]int{0, 0}},
		{crashpoint.Handled, false, 1, [2]int{0, 0}},
		{crashpoint.Requested, false, 1, [2]int{1, 1}},
	} {
		copies := len(g.group.BotMessages()) - len(g.posted)
		leader := slices.Index(bots, c.leader(bots))
		to := leader
		if !tc.byLeader {
			to = 1 - leader
		}
		door.only(to)
		c.at(tc.point, 1, crashpoint.End)
		m := report()
		died := c.awaitCrash(bots...)
		expireLease(c.t, c.pool, bots[died])
		door.set(died, "")
		isLeader := died == leader
		if isLeader != (tc.byLeader || tc.point == crashpoint.Requested) {
			t.Errorf("%q: the leader was killed: %t", tc.point, isLeader)
		}
		equal(t, handledKeys(t, c.pool)[key(m)], tc.committed == 1, "%q: the result has committed", tc.point)
		if n := c.sim.Pending(); n != 1 && tc.point != crashpoint.Requested {
			t.Errorf("%q: %d updates have not been acknowledged, want 1", tc.point, n)
		}
		door.open()
		c.settle()
		if isLeader {
			epoch++
		}
		c.await("an instance leads, and the epoch is the expected one",
			func() bool { return count(t, c.pool, `SELECT epoch FROM leases`) == epoch })
		if n := len(g.group.BotMessages()) - len(g.posted) - copies; n < tc.copies[0] || n > tc.copies[1] {
			t.Errorf("%q: %d copies, want %v", tc.point, n, tc.copies)
		}
		if i < 2 { // unless this is the last case
			start(died)
		}
	}
	checkAnswered(t, c.pool, g.group, g.posted)
	equal(t, count(t, c.pool, `SELECT count(*) FROM matches`), len(g.posted), "matches")
	equal(t, len(c.sim.CallsOf("setWebhook")), 1, "calls of setWebhook")
	verifyClean(t, c.url)
}
