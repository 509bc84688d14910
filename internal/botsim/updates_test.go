package botsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"elobot/internal/botsim"
)

const conflictText = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

// scene starts a server with a group of two users. It returns the server, a client, the group, and
// Alice, who is the group's creator.
func scene(t *testing.T, opts ...botsim.Option) (*botsim.Server, *client, *botsim.Chat, botsim.User) {
	t.Helper()
	s := botsim.Start(t, opts...)
	alice := s.User("alice")
	return s, newClient(t, s), s.Group("Table tennis", alice, s.User("bob")), alice
}

func TestUpdateStaysUntilOffsetConfirmsIt(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	group.Say(alice, "one")
	group.Say(alice, "two")
	group.Say(alice, "three")

	first := bot.updates(t, fields{})
	equal(t, "texts", texts(first), []string{"one", "two", "three"})
	if first[0].ID < 1_000_000 || first[1].ID != first[0].ID+1 || first[2].ID != first[1].ID+1 {
		t.Errorf("update ids = %v, want large consecutive ids", ids(first))
	}
	c.advance(time.Second)
	equal(t, "shown again", texts(bot.updates(t, fields{"offset": first[0].ID})), []string{"one", "two", "three"})
	equal(t, "after one", texts(bot.updates(t, fields{"offset": first[1].ID})), []string{"two", "three"})
	if s.Pending() != 2 {
		t.Errorf("Pending() = %d, want 2", s.Pending())
	}
	c.advance(time.Second)
	equal(t, "a lower offset", texts(bot.updates(t, fields{"offset": first[0].ID})), []string{"two", "three"})
	if got := bot.updates(t, fields{"offset": first[2].ID + 1}); len(got) != 0 {
		t.Errorf("after all are confirmed: %v", texts(got))
	}
	must(t, s.WaitConfirmed(testContext(t)))
}

func TestGetUpdatesReturnsAtMostOneHundred(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	for i := range 250 {
		group.Say(alice, fmt.Sprint(i))
	}
	shown := bot.updates(t, fields{})
	if len(shown) != 100 || texts(shown)[99] != "99" {
		t.Fatalf("%d updates, the last is %v", len(shown), shown[len(shown)-1].Message["text"])
	}
	c.advance(time.Second)
	if got := len(bot.updates(t, fields{"limit": 100})); got != 100 {
		t.Errorf("limit 100 returns %d updates", got)
	}
	if got := texts(bot.updates(t, fields{"offset": shown[99].ID + 1, "limit": 3})); got[0] != "100" || len(got) != 3 {
		t.Errorf("limit 3 after the first hundred returns %v", got)
	}
	if s.Pending() != 150 {
		t.Errorf("Pending() = %d, want 150", s.Pending())
	}
}

func TestSameOffsetWithinHalfASecondReturnsOne(t *testing.T) {
	t.Parallel()
	c := newClock()
	_, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	if got := bot.updates(t, fields{"offset": 0}); len(got) != 0 {
		t.Fatalf("got %v, want no updates", got)
	}
	group.Say(alice, "one")
	group.Say(alice, "two")
	equal(t, "after an empty answer", texts(bot.updates(t, fields{"offset": 0})), []string{"one", "two"})
	c.advance(499 * time.Millisecond)
	equal(t, "within 0.5 s", texts(bot.updates(t, fields{"offset": 0})), []string{"one"})
	c.advance(500 * time.Millisecond)
	equal(t, "after 0.5 s", texts(bot.updates(t, fields{"offset": 0})), []string{"one", "two"})
}

func TestLongPollEndsEmptyAfterItsTimeout(t *testing.T) {
	t.Parallel()
	_, bot, _, _ := scene(t)
	began := time.Now()
	r := bot.must(t, "getUpdates", fields{"timeout": 1})
	if took := time.Since(began); took < time.Second || string(r.Result) != "[]" {
		t.Errorf("response %s after %s, want [] after 1 s", r.Result, took)
	}
}

func TestOlderPollGetsConflict(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	arrived := polls(t, s)
	older := bot.later(testContext(t), "getUpdates", fields{"timeout": 50})
	receive(t, arrived)
	awaitLongPoll(t, s)
	newer := bot.later(testContext(t), "getUpdates", fields{"timeout": 50})
	r := receive(t, older)
	if r.Status != http.StatusConflict || r.ErrorCode != 409 || r.Description != conflictText {
		t.Errorf("older poller got %d %s", r.Status, r.Raw)
	}
	group.Say(alice, "still here")
	equal(t, "newer poller", texts(receive(t, newer).updates(t)), []string{"still here"})
}

// awaitLongPoll waits until the last getUpdates, which must find no updates, has become the waiting
// long poll. The server sets Delivered only after that.
func awaitLongPoll(t *testing.T, s *botsim.Server) {
	t.Helper()
	eventually(t, "a long poll waits", func() bool {
		calls := s.CallsOf("getUpdates")
		return len(calls) > 0 && calls[len(calls)-1].Delivered
	})
}

func TestAllowedUpdatesPersist(t *testing.T) {
	t.Parallel()
	_, bot, group, alice := scene(t)
	bot.updates(t, fields{"allowed_updates": []string{"edited_message"}})
	m := group.Say(alice, "unseen")
	group.Edit(m, "seen")
	got := bot.updates(t, fields{})
	if len(got) != 1 || got[0].Edited["text"] != "seen" || got[0].Edited["edit_date"] == nil {
		t.Fatalf("updates = %v, want only the edit", got)
	}
	bot.updates(t, fields{"offset": got[0].ID + 1, "allowed_updates": []string{}})
	group.Say(alice, "seen again")
	equal(t, "after resetting", texts(bot.updates(t, fields{})), []string{"seen again"})
}

func TestChatMemberNeedsAdminAndAllowedUpdates(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	group.Promote(alice) // the bot does not allow chat_member and is not an admin
	bot.updates(t, fields{"allowed_updates": []string{"chat_member"}})
	group.Demote(alice) // the bot allows chat_member but is not an admin
	group.Promote(s.Bot())
	group.Promote(alice)
	got := bot.updates(t, fields{})
	if len(got) != 1 || got[0].Member["new_chat_member"].(map[string]any)["status"] != "administrator" {
		t.Fatalf("updates = %v, want one chat_member", got)
	}
}

func TestRepeatedUpdateAndRestartedIDs(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	first := s.Update(json.RawMessage(`{"update_id":800000000,"poll":{}}`))
	s.Update(json.RawMessage(`{"update_id":800000000,"poll":{}}`))
	equal(t, "ids", ids(bot.updates(t, fields{})), []int64{first, first})
	offset := first + 1
	bot.updates(t, fields{"offset": offset})
	s.RestartUpdateIDs(17)
	group.Say(alice, "after a quiet week")
	got := bot.updates(t, fields{"offset": offset})
	equal(t, "ids after a quiet week", ids(got), []int64{17})
	bot.updates(t, fields{"offset": 18})
	if s.Pending() != 0 {
		t.Errorf("Pending() = %d, want 0", s.Pending())
	}
}

func TestUpdatesExpireAfterADay(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	group.Say(alice, "old")
	c.advance(23 * time.Hour)
	group.Say(alice, "new")
	if s.Pending() != 2 {
		t.Errorf("Pending() = %d, want 2", s.Pending())
	}
	c.advance(2 * time.Hour)
	equal(t, "a day later", texts(bot.updates(t, fields{})), []string{"new"})
}
