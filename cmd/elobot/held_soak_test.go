//go:build soak

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

// TestGroupHeldForAMinute checks that, if another session locks the row of one group for a minute,
// all results there and in other groups are answered, in order within their group. The other groups
// are answered without delay until Telegram stops delivering their updates: it delivers only the
// first 100 unconfirmed updates, and a waiting update keeps all later updates unconfirmed.
func TestGroupHeldForAMinute(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		every time.Duration // interval between results of the other groups
		soon  int           // how many of these are answered without delay
	}{
		"paced":       {290 * time.Millisecond, 200},
		"all at once": {0, 99},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holdForAMinute(t, tc.every, tc.soon)
		})
	}
}

func holdForAMinute(t *testing.T, every time.Duration, soon int) {
	t.Helper()
	const held, others, inHeld = time.Minute, 200, 9
	sim := startTelegram(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 21)
	launch(t, lasting(sim, url), "run")
	posted := make([][]botsim.Message, len(groups))
	sent := make(map[string]time.Time)
	say := func(i int) {
		m := groups[i].Say(alice, "/match @bob 3:1")
		posted[i] = append(posted[i], m)
		sent[key(m)] = time.Now()
	}
	for i, g := range groups {
		say(i)
		awaitAnswers(t, g, 1)
	}
	must(t, sim.WaitConfirmed(testContext(t)))
	clear(sent)
	release := holdRows(t, pool, `
		SELECT FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1 FOR UPDATE OF g`, groups[0].ID())
	begun := time.Now()
	for n := range others {
		if n%((others+inHeld-1)/inHeld) == 0 && (every > 0 || n == 0) {
			say(0)
		}
		say(1 + n%20)
		if every > 0 {
			timer := time.NewTimer(every)
			<-timer.C
		}
	}
	timer := time.NewTimer(time.Until(begun.Add(held)))
	<-timer.C
	release()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		checkAnswered(t, pool, g, posted[i])
	}
	checkNoDeadLetters(t, pool)
	verifyClean(t, url)

	var waits []time.Duration
	for _, g := range groups[1:] {
		waits = append(waits, answeredAfter(sim, g, sent)...)
	}
	slices.Sort(waits)
	slow := answeredAfter(sim, groups[0], sent)
	given := 0
	for _, m := range groups[0].BotMessages()[1:] {
		if strings.Contains(visible(m), "again") {
			given++
		}
	}
	t.Logf("others: half within %v, the first %d within %v, all within %v; held group: %v, %d told to try again",
		waits[len(waits)/2], soon, waits[soon-1], waits[len(waits)-1], slow, given)
	if len(waits) != others || waits[soon-1] > 3*time.Second {
		t.Errorf("%d results of others are answered, the first %d within %v", len(waits), soon, waits[soon-1])
	}
}

// answeredAfter returns how long the messages of a group waited for their answers. sent maps the
// messages' keys to the times at which they were sent. Other messages are skipped.
func answeredAfter(sim *botsim.Server, group *botsim.Chat, sent map[string]time.Time) (waits []time.Duration) {
	calls := sim.CallsOf("sendMessage")
	for _, m := range group.BotMessages() {
		at, ok := sent[key(botsim.Message{ChatID: m.ChatID, ID: m.ReplyTo})]
		made := slices.IndexFunc(calls, func(c botsim.Call) bool { return c.ChatID == group.ID() && c.MessageID == m.ID })
		if ok && made >= 0 {
			waits = append(waits, calls[made].At.Sub(at).Round(time.Millisecond))
		}
	}
	return waits
}

// lasting returns an environment with a lease that does not expire while the database is stalled.
func lasting(sim *botsim.Server, url string) []string {
	return append(environment(sim, url), "LEASE_DURATION=40s", "LEASE_RENEWAL=3s")
}

// newGroups returns n groups of Alice and Bob.
func newGroups(sim *botsim.Server, n int) (alice botsim.User, groups []*botsim.Chat) {
	alice = sim.User("alice")
	bob := sim.User("bob")
	for i := range n {
		groups = append(groups, sim.Group(fmt.Sprintf("Group %d", i+1), alice, bob))
	}
	return alice, groups
}

// TestDatabaseStallsLikeAnAttempt checks that, if the database stalls a little longer than the
// timeout of an attempt at an update, everything is still recorded, because each update in progress
// gets a new attempt with the full timeout.
func TestDatabaseStallsLikeAnAttempt(t *testing.T) {
	t.Parallel()
	const stall = 9300 * time.Millisecond
	sim := startTelegram(t)
	url, pool := database(t)
	proxy := dbtest.NewProxy(t, url)
	alice, groups := newGroups(sim, 6)
	launch(t, lasting(sim, proxy.URL), "run")
	posted := make([][]botsim.Message, len(groups))
	say := func(n int) {
		for range n {
			for i, g := range groups {
				posted[i] = append(posted[i], g.Say(alice, fmt.Sprintf("/match @bob 3:%d", len(posted[i]))))
			}
		}
	}
	say(1)
	for _, g := range groups {
		awaitAnswers(t, g, 1)
	}
	proxy.Stall()
	say(5)
	timer := time.NewTimer(stall)
	defer timer.Stop()
	<-timer.C
	proxy.Resume()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		for n, m := range checkAnswered(t, pool, g, posted[i]) {
			if want := fmt.Sprintf("Match #%d", n+1); !strings.Contains(visible(m), want) {
				t.Errorf("answer %d in group %d is\n%s", n+1, i+1, visible(m))
			}
		}
	}
	checkNoDeadLetters(t, pool)
}

// TestChatsHeldForLong checks that other chats are not affected if another session locks the rows
// of some chats for longer than the timeout of an attempt, so that not even an apology can be
// written there. Afterward, everything is answered, in order.
func TestChatsHeldForLong(t *testing.T) {
	t.Parallel()
	const held = 11 * time.Second
	sim := startTelegram(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 6)
	launch(t, lasting(sim, url), "run")
	posted := make([][]botsim.Message, len(groups))
	say := func(i int) { posted[i] = append(posted[i], groups[i].Say(alice, "/match @bob 3:1")) }
	for i, g := range groups {
		say(i)
		awaitAnswers(t, g, 1)
	}
	free := groups[5]
	release := holdRows(t, pool, `SELECT FROM chats WHERE telegram_chat_id <> $1 FOR UPDATE`, free.ID())
	begun := time.Now()
	for i := range groups {
		say(i)
		say(i)
	}
	awaitAnswers(t, free, 3)
	say(5)
	awaitAnswers(t, free, 4)
	if took := time.Since(begun); took > held/2 {
		t.Errorf("the free group was answered after %v", took)
	}
	timer := time.NewTimer(time.Until(begun.Add(held)))
	defer timer.Stop()
	<-timer.C
	release()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		checkAnswered(t, pool, g, posted[i])
	}
	checkNoDeadLetters(t, pool)
	verifyClean(t, url)
}

// TestDatabaseStallsLongerThanTheLease checks that, if the database stalls during requests to
// Telegram, for longer than the lease and the dispatcher's timeout, the bot stores the outcomes of
// these requests once the database is back, and sends nothing twice. No other instance takes over
// in the meantime.
func TestDatabaseStallsLongerThanTheLease(t *testing.T) {
	t.Parallel()
	// The stall is longer than the default lease of 10 s. A shorter lease would cut off requests on
	// a busy machine.
	const groups, stall = 5, 12 * time.Second
	sim := startTelegram(t)
	url, pool := database(t)
	proxy := dbtest.NewProxy(t, url)
	alice := sim.User("alice")
	bot := launch(t, environment(sim, proxy.URL), "run")
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
	proxy.Stall()
	close(answer)
	timer := time.NewTimer(stall)
	<-timer.C
	proxy.Resume()
	for _, chat := range chats {
		chat.Say(alice, "/match @bob 3:2")
		awaitAnswers(t, chat, 2)
	}
	awaitAllSent(t, sim, pool)
	for _, chat := range chats {
		equal(t, len(chat.BotMessages()), 2, "answers in %s", chat.Title())
	}
	equal(t, count(t, pool, `SELECT sum(possible_duplicates) FROM outbox`), 0, "possible duplicates")
	equal(t, count(t, pool, `SELECT epoch FROM leases`), 1, "epoch of the lease")
	stopCleanly(t, bot)
}
