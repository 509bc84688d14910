package botsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"elobot/internal/botsim"
)

func TestWebhookGetsWaitingAndNewUpdates(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	group.Say(alice, "before")
	polled := bot.updates(t, fields{})
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "s3cret_-"}, nil)
	first := receive(t, h.arrivals)
	if first.update.ID != polled[0].ID || first.text() != "before" {
		t.Errorf("first delivery = %s, want the unconfirmed update from getUpdates", first.raw)
	}
	if first.method != http.MethodPost || first.header.Get("Content-Type") != "application/json" ||
		first.header.Get("X-Telegram-Bot-Api-Secret-Token") != "s3cret_-" || first.header.Get("User-Agent") != "" {
		t.Errorf("request = %s %v", first.method, first.header)
	}
	if s.Pending() != 1 {
		t.Errorf("Pending() = %d before the response", s.Pending())
	}
	first.answer <- 204
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	group.Say(alice, "after")
	if a := receive(t, h.arrivals); a.text() != "after" || a.update.ID != first.update.ID+1 {
		t.Errorf("second delivery = %s", a.raw)
	} else {
		a.answer <- 200
	}
	all := awaitAttempts(t, s, 2)
	if len(all) != 2 || all[0].UpdateID != first.update.ID || all[0].ChatID != group.ID() || all[0].Attempt != 1 ||
		all[0].Status != 204 || all[0].Err != "" || !all[0].Done || all[0].At.IsZero() {
		t.Errorf("record = %+v", all)
	}
	if s.Pending() != 0 {
		t.Errorf("Pending() = %d", s.Pending())
	}
}

func TestNoSecretHeaderWithoutSecret(t *testing.T) {
	t.Parallel()
	_, _, group, alice, h := webhookScene(t)
	group.Say(alice, "x")
	a := receive(t, h.arrivals)
	if got, ok := a.header["X-Telegram-Bot-Api-Secret-Token"]; ok {
		t.Errorf("secret header = %q", got)
	}
	a.answer <- 200
}

// TestRawUpdatesAreDeliveredUnchanged: updates of a chat use its lane, all others a lane of their own.
func TestRawUpdatesAreDeliveredUnchanged(t *testing.T) {
	t.Parallel()
	s, _, group, alice, h := webhookScene(t)
	group.Say(alice, "1")
	held := receive(t, h.arrivals)
	ofChat := fmt.Sprintf(`{"update_id":5,"message":{"text":"2","chat":{"id":%d}}}`, group.ID())
	s.Update(json.RawMessage(ofChat))
	for _, raw := range []string{`{"message":`, `{"update_id":6,"poll":{}}`, `{"update_id":7,"callback_query":{"data":"p","from":{"id":1001}}}`} {
		s.Update(json.RawMessage(raw))
		a := receive(t, h.arrivals)
		if a.raw != raw {
			t.Errorf("delivered %s, want %s", a.raw, raw)
		}
		defer func() { a.answer <- 200 }()
	}
	held.answer <- 200
	if a := receive(t, h.arrivals); a.raw != ofChat {
		t.Errorf("the chat's next update = %s", a.raw)
	} else {
		a.answer <- 200
	}
}

func TestUpdatesOfAChatAreDeliveredInOrder(t *testing.T) {
	t.Parallel()
	s, bot, group, alice, h := webhookScene(t)
	other := s.Group("Other", alice)
	m := group.Say(alice, "a1")
	group.Edit(m, "a2")
	group.Say(alice, "a3")
	group.Promote(s.Bot()) // my_chat_member
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "card"}, nil)
	other.Say(alice, "b1")
	s.Press(alice, group.BotMessages()[0], "press 1") // overtakes the messages of its chat
	s.Press(alice, group.BotMessages()[0], "press 2")
	s.Press(s.User("bob"), group.BotMessages()[0], "press of bob")
	got := h.take(t, 4)
	equal(t, "at first", arrivalTexts(got), []string{"a1", "b1", "press 1", "press of bob"})
	got[3].answer <- 200
	got[2].answer <- 200
	press := receive(t, h.arrivals)
	if press.text() != "press 2" {
		t.Errorf("got %s after the first press", press.raw)
	}
	press.answer <- 200
	got[1].answer <- 200
	order := got[:1]
	for range 3 {
		order[len(order)-1].answer <- 200
		order = append(order, receive(t, h.arrivals))
	}
	equal(t, "of the chat", arrivalTexts(order), []string{"a1", "a2", "a3", "my_chat_member"})
	order[3].answer <- 200
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestFailingUpdateBlocksOnlyItsLane(t *testing.T) {
	t.Parallel()
	s, bot, group, alice, h := webhookScene(t)
	other := s.Group("Other", alice)
	group.Say(alice, "a1")
	group.Say(alice, "a2")
	const failures = 4
	for range failures {
		a := receive(t, h.arrivals)
		if a.text() != "a1" {
			t.Fatalf("delivered %s, want a1 again", a.raw)
		}
		a.answer <- 503
	}
	a1 := receive(t, h.arrivals)
	other.Say(alice, "b1")
	b1 := receive(t, h.arrivals)
	b1.answer <- 200
	if a1.text() != "a1" || b1.text() != "b1" {
		t.Errorf("delivered %s, %s", a1.raw, b1.raw)
	}
	if info := bot.webhookInfo(t); info.Failed != "Wrong response from the webhook: 503 Service Unavailable" {
		t.Errorf("info = %+v", info)
	}
	a1.answer <- 200
	a2 := receive(t, h.arrivals)
	if a2.text() != "a2" {
		t.Errorf("got %s after a1", a2.raw)
	}
	a2.answer <- 200
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	var attempts []int
	for _, d := range s.Deliveries() {
		if d.ChatID == group.ID() {
			attempts = append(attempts, d.Attempt)
		}
	}
	equal(t, "attempts", attempts, []int{1, 2, 3, 4, 5, 1})
}

func TestMaxConnections(t *testing.T) {
	t.Parallel()
	s, bot, _, alice := scene(t)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url, "max_connections": 3}, nil)
	const chats = 10
	for i := range chats {
		s.Group(fmt.Sprint(i), alice).Say(alice, fmt.Sprint(i))
	}
	got := h.take(t, 3)
	for range chats - 3 {
		got[0].answer <- 200
		got = append(got[1:], receive(t, h.arrivals))
	}
	for _, a := range got {
		a.answer <- 200
	}
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.most != 3 {
		t.Errorf("%d concurrent deliveries, want 3", h.most)
	}
}

func TestExpiredUpdatesAreNotDelivered(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, _, group, alice, h := webhookScene(t, botsim.WithClock(c.Now))
	group.Say(alice, "old")
	c.advance(24*time.Hour - time.Second)
	group.Say(alice, "new")
	old := receive(t, h.arrivals)
	old.answer <- 500
	if old = receive(t, h.arrivals); old.text() != "old" {
		t.Errorf("delivered %s", old.raw)
	}
	c.advance(2 * time.Second)
	old.answer <- 500
	if a := receive(t, h.arrivals); a.text() != "new" {
		t.Errorf("delivered %s, want the new one", a.raw)
	} else {
		a.answer <- 200
	}
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestCloseInterruptsDeliveries(t *testing.T) {
	t.Parallel()
	s, _, group, alice, h := webhookScene(t)
	other := s.Group("Other", alice)
	group.Say(alice, "a1")
	group.Say(alice, "a2")
	a1 := receive(t, h.arrivals)
	s.Close()
	a1.answer <- 200
	other.Say(alice, "late")
	for _, d := range s.Deliveries() {
		if !d.Done || d.Status != 0 || d.Err == "" || d.Wait != 0 {
			t.Errorf("delivery after Close = %+v", d)
		}
	}
	if n := len(s.Deliveries()); n != 1 || s.Pending() != 3 || len(h.arrivals) != 0 {
		t.Errorf("%d deliveries, %d pending, %d arrived", n, s.Pending(), len(h.arrivals))
	}
}

func TestDeliveryHooksAndRecordLimit(t *testing.T) {
	t.Parallel()
	s, _, group, alice, h := webhookScene(t, botsim.WithRecordLimit(4))
	began := make(chan botsim.Delivery, 20)
	remove := s.OnDelivery(func(d botsim.Delivery) { began <- d })
	var last int64
	for i := range 10 {
		group.Say(alice, fmt.Sprint(i))
		a := receive(t, h.arrivals)
		if d := receive(t, began); d.UpdateID != a.update.ID || d.Done || d.Status != 0 {
			t.Errorf("before = %+v", d)
		}
		a.answer <- 200
		last = a.update.ID
	}
	if all := s.Deliveries(); len(all) != 4 || all[3].UpdateID != last {
		t.Errorf("kept %+v", all)
	}
	remove()
	group.Say(alice, "x")
	receive(t, h.arrivals).answer <- 200
	if len(began) != 0 {
		t.Error("a removed hook was called")
	}
}
