//go:build soak

package main_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestGroupHeldForAMinute: another session holds the row of one group for a minute, while results come there and, 200 of them,
// in other groups. All are answered, in the order of their group, and the others as soon as ever, as long as Telegram shows them:
// of the updates that are not confirmed it shows the first 100, and what waits in the held group keeps those behind it from
// being confirmed.
func TestGroupHeldForAMinute(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		every time.Duration // how far apart the results of the others are
		soon  int           // so many of these are answered at once
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
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 21)
	launch(t, lasting(sim, url), "run")
	said := make([][]botsim.Message, len(groups))
	sent := make(map[string]time.Time)
	say := func(i int) {
		m := groups[i].Say(alice, "/match @bob 3:1")
		said[i] = append(said[i], m)
		sent[key(m)] = time.Now()
	}
	for i, g := range groups {
		say(i)
		awaitAnswers(t, g, 1)
	}
	if err := sim.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
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
		checkAnswered(t, pool, g, said[i])
	}
	checkNoneDied(t, pool)
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

// answeredAfter returns how long those messages of a group that are in sent, by their keys, have waited for their answers.
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
