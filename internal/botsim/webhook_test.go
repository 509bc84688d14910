package botsim_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// arrival is a request to the webhook that waits for its response.
type arrival struct {
	update wireUpdate
	raw    string
	method string
	header http.Header
	answer chan<- int
}

// text returns the text of the update's message or edit, the data of its button press, or the kind
// of a membership update.
func (a arrival) text() string {
	for _, of := range []map[string]any{a.update.Message, a.update.Edited} {
		if text, ok := of["text"].(string); ok {
			return text
		}
	}
	if a.update.Mine != nil {
		return "my_chat_member"
	}
	data, _ := a.update.Callback["data"].(string)
	return data
}

// chat returns the id of the chat of a message or an edit, or nil for other updates.
func (a arrival) chat() any {
	for _, of := range []map[string]any{a.update.Message, a.update.Edited} {
		if chat, ok := of["chat"].(map[string]any); ok {
			return chat["id"]
		}
	}
	return nil
}

// hook is the bot's side of a webhook. Each request waits until the test responds. The test fails
// if two messages or edits of one chat are in progress at once.
type hook struct {
	url      string
	arrivals chan arrival

	mu     sync.Mutex
	inHand map[any]int // requests in progress, by chat
	most   int         // highest number of requests in progress so far
}

// enter counts a request that is now in progress. It reports whether no other request of the same
// chat is in progress. For a nil chat, it returns true.
func (h *hook) enter(chat any) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inHand[chat]++
	all := 0
	for _, n := range h.inHand {
		all += n
	}
	h.most = max(h.most, all)
	return chat == nil || h.inHand[chat] == 1
}

func (h *hook) leave(chat any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inHand[chat]--
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h, over := &hook{arrivals: make(chan arrival, 1000), inHand: map[any]int{}}, make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return // cut off
		}
		answer := make(chan int, 1)
		a := arrival{raw: string(raw), method: r.Method, header: r.Header, answer: answer}
		if err := json.Unmarshal(raw, &a.update); err != nil {
			t.Error(err)
		}
		if !h.enter(a.chat()) {
			t.Errorf("%s was sent during another delivery to its chat", raw)
		}
		defer h.leave(a.chat())
		h.arrivals <- a
		select {
		case status := <-answer:
			w.WriteHeader(status)
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	h.url = server.URL
	return h
}

// answers starts a server that handles the requests to a webhook with f, and returns its URL.
func answers(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

// take receives n requests without responding to them, and returns them sorted by their texts.
func (h *hook) take(t *testing.T, n int) []arrival {
	t.Helper()
	var got []arrival
	for range n {
		got = append(got, receive(t, h.arrivals))
	}
	slices.SortFunc(got, func(a, b arrival) int {
		if a.text() < b.text() {
			return -1
		}
		return 1
	})
	return got
}

func arrivalTexts(arrivals []arrival) []string {
	var all []string
	for _, a := range arrivals {
		all = append(all, a.text())
	}
	return all
}

// webhookScene starts a scene whose bot has a webhook with short retry delays.
func webhookScene(t *testing.T, opts ...botsim.Option) (*botsim.Server, *client, *botsim.Chat, botsim.User, *hook) {
	t.Helper()
	opts = append([]botsim.Option{botsim.WithWebhookDelays(quick)}, opts...)
	s, bot, group, alice := scene(t, opts...)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	return s, bot, group, alice, h
}

func quick(int) time.Duration { return time.Millisecond }

type webhookInfo struct {
	URL         string
	Pending     int    `json:"pending_update_count"`
	Connections int    `json:"max_connections"`
	FailedAt    int64  `json:"last_error_date"`
	Failed      string `json:"last_error_message"`
}

func (c *client) webhookInfo(t *testing.T) webhookInfo {
	t.Helper()
	var info webhookInfo
	c.want(t, "getWebhookInfo", nil, &info)
	return info
}

const webhookActive = "Conflict: can't use getUpdates method while webhook is active; " +
	"use deleteWebhook to delete the webhook first"

func TestWrongWebhooks(t *testing.T) {
	t.Parallel()
	_, bot, _, _ := scene(t)
	const good = "https://example.org/hook"
	for want, cases := range map[string][]fields{
		"Bad Request: bad webhook: An HTTPS URL must be provided for webhook": {
			{"url": "http://example.org/hook"}, {"url": "http://10.0.0.1:8080/hook"},
		},
		"Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443": {{"url": "https://example.org:9000"}},
		"Bad Request: invalid webhook URL specified": {
			{"url": "ftp://example.org"}, {"url": "https://"}, {"url": "not a url"}, {"url": "https://a b/"},
		},
		"Bad Request: invalid secret_token specified": {
			{"url": good, "secret_token": "a b"}, {"url": good, "secret_token": "é"}, {"url": good, "secret_token": "a+b="},
			{"url": good, "secret_token": "a\n"}, {"url": good, "secret_token": strings.Repeat("a", 257)},
		},
	} {
		for _, params := range cases {
			bot.refused(t, "setWebhook", params, 400, want)
		}
	}
	if info := bot.webhookInfo(t); info.URL != "" {
		t.Errorf("a refused webhook was set: %+v", info)
	}
	for _, address := range []string{
		good, "https://example.org:8443/", "http://127.0.0.1:9/x", "http://localhost:9/x",
		"http://[::1]:9/x", "https://127.0.0.1:9/x",
	} {
		bot.want(t, "setWebhook", fields{"url": address, "secret_token": strings.Repeat("a", 256)}, nil)
		if got := bot.webhookInfo(t).URL; got != address {
			t.Errorf("url = %q, want %q", got, address)
		}
	}
}

func TestGetUpdatesConflictsWithWebhook(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	arrived := polls(t, s)
	waiting := bot.later(testContext(t), "getUpdates", fields{"timeout": 50})
	receive(t, arrived)
	awaitLongPoll(t, s)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	if r := receive(t, waiting); r.Status != 409 || r.Description != "Conflict: terminated by setWebhook request" {
		t.Errorf("long poll ended with %s", r.Raw)
	}
	group.Say(alice, "x")
	a := receive(t, h.arrivals)
	bot.refused(t, "getUpdates", fields{"offset": a.update.ID + 1, "allowed_updates": []string{"poll"}},
		409, webhookActive)
	if s.Pending() != 1 {
		t.Error("a refused getUpdates confirmed an update")
	}
	group.Say(alice, "y")
	bot.want(t, "deleteWebhook", nil, nil)
	equal(t, "polled afterwards", texts(bot.updates(t, fields{})), []string{"x", "y"})
	a.answer <- 200
	if s.Pending() != 2 {
		t.Errorf("Pending() = %d: a removed webhook confirmed an update", s.Pending())
	}
}

func TestWebhookAllowedUpdates(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url, "allowed_updates": []string{"edited_message"}}, nil)
	m := group.Say(alice, "unseen")
	group.Edit(m, "seen")
	a := receive(t, h.arrivals)
	if a.update.Edited["text"] != "seen" {
		t.Errorf("delivered %s, want the edit", a.raw)
	}
	a.answer <- 200
	must(t, s.WaitConfirmed(testContext(t)))
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x"}, nil) // keeps allowed_updates
	group.Say(alice, "unseen")
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x", "allowed_updates": []string{}}, nil)
	group.Say(alice, "again")
	a = receive(t, h.arrivals)
	if a.text() != "again" {
		t.Errorf("delivered %s", a.raw)
	}
	a.answer <- 200
	must(t, s.WaitConfirmed(testContext(t)))
}

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
	if info := bot.webhookInfo(t); info.URL != h.url || info.Connections != 40 || info.Pending != 1 || s.Pending() != 1 {
		t.Errorf("before the response: %+v", info)
	}
	first.answer <- 204
	must(t, s.WaitConfirmed(testContext(t)))
	group.Say(alice, "after")
	if a := receive(t, h.arrivals); a.text() != "after" || a.update.ID != first.update.ID+1 {
		t.Errorf("second delivery = %s", a.raw)
	} else {
		a.answer <- 200
	}
	must(t, s.WaitConfirmed(testContext(t)))
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
	must(t, s.WaitConfirmed(testContext(t)))
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
	must(t, s.WaitConfirmed(testContext(t)))
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
	must(t, s.WaitConfirmed(testContext(t)))
}

// TestFailedDeliveriesAreRetried checks that a delivery without a 2xx response is retried, and
// getWebhookInfo reports the failure.
func TestFailedDeliveriesAreRetried(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
		}
	}
	for name, tc := range map[string]struct {
		bad  http.HandlerFunc
		want string
	}{
		"redirect": {status(307), "Wrong response from the webhook: 307 Temporary Redirect"},
		"unknown":  {status(401), "Wrong response from the webhook: 401 Unauthorized"},
		"failure":  {status(503), "Wrong response from the webhook: 503 Service Unavailable"},
		"cut off":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "Connection closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, bot, group, alice := scene(t, botsim.WithWebhookDelays(quick))
			var seen atomic.Int32
			url := answers(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // closing a connection with an unread body may reset it
				if seen.Add(1) == 1 {
					tc.bad(w, r)
				}
			})
			bot.want(t, "setWebhook", fields{"url": url}, nil)
			group.Say(alice, "x")
			must(t, s.WaitConfirmed(testContext(t)))
			if n := seen.Load(); n != 2 {
				t.Errorf("%d deliveries", n)
			}
			if info := bot.webhookInfo(t); info.Failed != tc.want || info.FailedAt == 0 || info.Pending != 0 {
				t.Errorf("info = %+v", info)
			}
		})
	}
}

func TestRetryAfterReplacesTheDelay(t *testing.T) {
	t.Parallel()
	s, bot, _, alice := scene(t, botsim.WithWebhookDelays(quick))
	asked := map[string]time.Duration{"7": 7 * time.Second, "99999": time.Hour, "0": quick(1), "soon": quick(1)}
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		var u wireUpdate
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Retry-After", u.Message["text"].(string))
		w.WriteHeader(429)
	})
	bot.want(t, "setWebhook", fields{"url": url}, nil)
	chats := map[int64]string{}
	for text := range asked {
		chat := s.Group(text, alice)
		chats[chat.ID()] = text
		chat.Say(alice, text)
	}
	waits := map[string]time.Duration{}
	eventually(t, "each chat has had a delivery", func() bool {
		for _, d := range s.Deliveries() {
			if d.Done {
				waits[chats[d.ChatID]] = d.Wait
			}
		}
		return len(waits) == len(asked)
	})
	for text, want := range asked {
		if waits[text] != want {
			t.Errorf("Retry-After %q: waits %s, want %s", text, waits[text], want)
		}
	}
}
