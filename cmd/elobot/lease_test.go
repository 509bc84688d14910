package main_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestDatabaseStallsLongerThanTheLease: the database stops answering while requests are under way, for longer than the
// lease lasts and than the dispatcher waits for an answer, and nobody else is there to take over. What has become of the requests is known when it answers again, and
// nothing is sent twice.
func TestDatabaseStallsLongerThanTheLease(t *testing.T) {
	t.Parallel()
	const groups, stall = 5, 12 * time.Second
	sim := botsim.Start(t)
	url, pool := database(t)
	between := newProxy(t, url)
	alice := sim.User("alice")
	bot := launch(t, append(quickEnvironment(sim, between.url), "LEASE_DURATION=2s", "LEASE_RENEWAL=500ms"), "run")
	bot.await(t, "leading")
	arrived, answer := make(chan struct{}, 100), make(chan struct{})
	sim.AfterEffect(func(c botsim.Call) {
		if c.Method == "sendMessage" {
			arrived <- struct{}{}
			<-answer
		}
	})
	var chats []*botsim.Chat
	for i := range groups {
		chats = append(chats, sim.Group(fmt.Sprintf("Group %d", i+1), alice, sim.User("bob")))
		chats[i].Say(alice, "/match @bob 3:1")
	}
	for range groups {
		<-arrived
	}
	between.stall()
	close(answer)
	timer := time.NewTimer(stall)
	<-timer.C
	between.resume()
	for _, chat := range chats {
		chat.Say(alice, "/match @bob 3:2")
		awaitAnswers(t, chat, 2)
	}
	awaitAllSent(t, sim, pool)
	if n := copies(chats); n != 0 {
		t.Errorf("%d answers came twice", n)
	}
	if n := count(t, pool, `SELECT sum(perhaps_sent) FROM outbox`); n != 0 {
		t.Errorf("%d requests are counted as perhaps sent", n)
	}
	if epoch := count(t, pool, `SELECT epoch FROM leases`); epoch != 1 {
		t.Errorf("the lease is of epoch %d, want the same as before", epoch)
	}
	stopCleanly(t, bot)
	checkNoComplaints(t, sim)
}

// TestLeaseThatEndsHoursAhead: the clock of the database is set back after an instance has vanished. The next one does not
// wait for the hours that its lease seems to last still.
func TestLeaseThatEndsHoursAhead(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO leases (name, holder, epoch, expires_at) VALUES ('leader', 'vanished/1', 7, now() + interval '2 hours')`); err != nil {
		t.Fatal(err)
	}
	alice := sim.User("alice")
	group := sim.Group("Chess", alice, sim.User("bob"))
	group.Say(alice, "/match @bob 3:1")
	bot := launch(t, environment(sim, url), "run")
	awaitAnswers(t, group, 1)
	bot.await(t, "level=WARN msg=\"lease ended too far ahead")
	if epoch := count(t, pool, `SELECT epoch FROM leases`); epoch != 8 {
		t.Errorf("the lease is of epoch %d, want 8", epoch)
	}
}
