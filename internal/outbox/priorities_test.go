package outbox

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/notice"
)

// TestPriorities checks that lanes that compete for the total limit or a send slot send in the
// order of their priorities. These depend on the kind of lane, the purpose of the first item, the
// chat and the waiting time.
func TestPriorities(t *testing.T) {
	t.Parallel()
	const private, favored = true, -8
	type waiting struct {
		chat    ChatID
		private bool
		purpose notice.Purpose
		age     time.Duration
		action  Action
	}
	cases := map[string]struct {
		lanes []waiting
		want  []ChatID
	}{
		"kinds": {[]waiting{
			{1, false, notice.Notification, 0, Send}, {2, false, notice.Answer, 0, Send}, {3, private, notice.Outcome, 0, Send},
		}, []ChatID{3, 2, 1}},
		"a notification in a private chat is one": {[]waiting{
			{1, private, notice.Notification, 0, Send}, {2, false, notice.Outcome, 0, Send}, {3, private, notice.Answer, 0, Send},
		}, []ChatID{3, 2, 1}},
		"a favored group before a group": {[]waiting{
			{2, false, notice.Outcome, time.Second, Send}, {8, false, notice.Outcome, 0, Send}, {3, private, notice.Outcome, 0, Send},
		}, []ChatID{3, 8, 2}},
		"a favored group that has waited a little before a private chat": {[]waiting{
			{3, private, notice.Outcome, 0, Send}, {8, false, notice.Outcome, 31 * time.Second, Send},
		}, []ChatID{8, 3}},
		"favored among private chats": {[]waiting{
			{3, private, notice.Outcome, 19 * time.Second, Send}, {8, private, notice.Outcome, 0, Send},
		}, []ChatID{8, 3}},
		"favored among notifications": {[]waiting{
			{3, false, notice.Notification, 19 * time.Second, Send}, {8, false, notice.Notification, 0, Send},
			{2, false, notice.Outcome, time.Second, Send},
		}, []ChatID{2, 8, 3}},
		"a group that has waited for less than 50 s": {[]waiting{
			{2, false, notice.Outcome, 49 * time.Second, Send}, {3, private, notice.Outcome, 0, Send},
		}, []ChatID{3, 2}},
		"a group that has waited for more than 50 s": {[]waiting{
			{3, private, notice.Outcome, 0, Send}, {2, false, notice.Outcome, 51 * time.Second, Send},
		}, []ChatID{2, 3}},
		"a notification that has waited for 60 s": {[]waiting{
			{1, false, notice.Notification, 60 * time.Second, Send}, {3, private, notice.Outcome, 0, Send},
		}, []ChatID{3, 1}},
		"a notification that has waited for 80 s": {[]waiting{
			{3, private, notice.Outcome, 0, Send}, {1, false, notice.Notification, 80 * time.Second, Send},
		}, []ChatID{1, 3}},
		"a page": {[]waiting{
			{1, private, notice.Answer, 0, Page}, {2, false, notice.Notification, 0, Send}, {3, false, notice.Outcome, 0, Send},
		}, []ChatID{3, 2, 1}},
		"a page that has waited for more than 40 s": {[]waiting{
			{1, false, notice.Answer, 41 * time.Second, Page}, {3, false, notice.Outcome, 0, Send},
		}, []ChatID{1, 3}},
		"among equals, the longest wait first": {[]waiting{
			{2, false, notice.Outcome, time.Second, Send}, {4, false, notice.Outcome, 3 * time.Second, Send},
			{6, false, notice.Answer, 2 * time.Second, Send},
		}, []ChatID{4, 6, 2}},
	}
	for name, c := range cases {
		for what, settings := range map[string]Settings{
			"total":    {Limits: Limits{Total: []Window{{1, time.Second}}}},
			"parallel": {Parallel: 1},
		} {
			inBubble(t, fmt.Sprint(name, ", ", what), func(t *testing.T) {
				store, sender := newMemory(), newMessenger(t, answersAfter(time.Millisecond))
				for _, w := range c.lanes {
					store.private[w.chat] = w.private
					store.put(row{chat: w.chat, purpose: w.purpose, action: w.action, created: time.Now().Add(-w.age)})
				}
				settings.Favored = []int64{favored}
				dispatch(t, store, sender, settings)
				advance(t, time.Minute)
				var got []ChatID
				for _, r := range sender.all() {
					got = append(got, r.chat)
				}
				equal(t, got, c.want, "requests")
			})
		}
	}
}

// TestBacklogGivesNoPriority checks that, after a lane's turn, the age of its other items gives it
// no priority. A new message in a private chat need not wait until the backlog of all groups is
// sent.
func TestBacklogGivesNoPriority(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const groups, person = 40, ChatID(100)
		store, sender := newMemory(), newMessenger(t, nil)
		store.private[person] = true
		for range 20 {
			for c := range ChatID(groups) {
				store.add(c)
			}
		}
		p := dispatch(t, store, sender, Settings{Limits: Limits{Total: []Window{{1, time.Second}}}})
		advance(t, 5*time.Minute+500*time.Millisecond)
		asked := time.Now()
		store.add(person)
		p.Wake(person)
		advance(t, time.Minute)
		if len(sender.to(person)) != 1 {
			t.Fatal("no answer within a minute")
		}
		// Until the next poll shows that the chat is private, the lane has the level of a group.
		checkBetween(t, "the person waits", sender.to(person)[0].begun.Sub(asked), 0, 2*time.Second)
	})
}
