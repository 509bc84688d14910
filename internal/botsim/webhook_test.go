package botsim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
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

// text returns the text of the update's message, edit or button press.
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

// chat returns the id of the chat of a message or an edit, nil for other updates.
func (a arrival) chat() any {
	for _, of := range []map[string]any{a.update.Message, a.update.Edited} {
		if chat, ok := of["chat"].(map[string]any); ok {
			return chat["id"]
		}
	}
	return nil
}

// hook is the bot's side of a webhook. Each request waits until the test responds. Of a chat there is only one at a time.
type hook struct {
	url      string
	arrivals chan arrival

	mu     sync.Mutex
	inHand map[any]int // requests in progress, by chat
	most   int         // the most requests in progress at a time
}

// enter counts a request. It returns false if there is another one of the same chat.
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
		_ = json.Unmarshal(raw, &a.update) // some are not JSON
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

// answers starts a hook that handles requests with f.
func answers(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

// awaitAttempts waits until n deliveries are finished, successful or not, and returns all of them.
func awaitAttempts(t *testing.T, s *botsim.Server, n int) []botsim.Delivery {
	t.Helper()
	finished := func() int {
		return len(slices.DeleteFunc(s.Deliveries(), func(d botsim.Delivery) bool { return !d.Done }))
	}
	eventually(t, fmt.Sprintf("%d deliveries are finished", n), func() bool { return finished() >= n })
	return s.Deliveries()
}

// take receives n requests, sorted by their texts, without responding.
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
	Pending     int      `json:"pending_update_count"`
	Connections int      `json:"max_connections"`
	Allowed     []string `json:"allowed_updates"`
	FailedAt    int64    `json:"last_error_date"`
	Failed      string   `json:"last_error_message"`
}

func (c *client) webhookInfo(t *testing.T) webhookInfo {
	t.Helper()
	var info webhookInfo
	c.want(t, "getWebhookInfo", nil, &info)
	return info
}

const webhookActive = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

// TestSameWebhookAgain: the delivery in progress goes on.
func TestSameWebhookAgain(t *testing.T) {
	t.Parallel()
	s, bot, group, alice, h := webhookScene(t)
	group.Say(alice, "x")
	first := receive(t, h.arrivals)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	first.answer <- 200
	must(t, s.WaitConfirmed(testContext(t)))
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x"}, nil)
	group.Say(alice, "y")
	if second := receive(t, h.arrivals); second.header.Get("X-Telegram-Bot-Api-Secret-Token") != "x" {
		t.Errorf("delivered with %v", second.header)
	}
	bot.want(t, "setWebhook", fields{"url": ""}, nil)
	bot.want(t, "deleteWebhook", nil, nil)
	if all := awaitAttempts(t, s, 2); all[0].Err != "" || all[1].Status != 0 {
		t.Errorf("deliveries %+v", all)
	}
}

func TestWebhookInfo(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	if r := bot.must(t, "getWebhookInfo", nil); string(r.Result) !=
		`{"has_custom_certificate":false,"pending_update_count":0,"url":""}` {
		t.Errorf("without a webhook: %s", r.Raw)
	}
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	if info := bot.webhookInfo(t); info.URL != h.url || info.Connections != 40 || info.Allowed != nil || info.Failed != "" {
		t.Errorf("with minimal settings: %+v", info)
	}
	for _, n := range []int{1, 100} {
		bot.want(t, "setWebhook", fields{"url": h.url, "max_connections": n}, nil)
		if got := bot.webhookInfo(t).Connections; got != n {
			t.Errorf("max_connections = %d, want %d", got, n)
		}
	}
	bot.want(t, "setWebhook", fields{"url": h.url, "allowed_updates": []string{"message"}}, nil)
	group.Say(alice, "x")
	if info := bot.webhookInfo(t); len(info.Allowed) != 1 || info.Pending != 1 {
		t.Errorf("with all settings: %+v", info)
	}
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
}

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
		good, "https://example.org:8443/", "http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x", "https://127.0.0.1:9/x",
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
	bot.refused(t, "getUpdates", fields{"offset": a.update.ID + 1, "allowed_updates": []string{"poll"}}, 409, webhookActive)
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

func TestPendingUpdatesGoToTheNewWebhook(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	group.Say(alice, "1")
	group.Say(alice, "2")
	cut := receive(t, h.arrivals)
	second := newHook(t)
	bot.want(t, "setWebhook", fields{"url": second.url}, nil)
	again := receive(t, second.arrivals)
	if again.raw != cut.raw {
		t.Errorf("the new webhook first got %s, want the update of the interrupted delivery", again.raw)
	}
	awaitAttempts(t, s, 1) // the old webhook's delivery is interrupted
	bot.want(t, "deleteWebhook", nil, nil)
	equal(t, "polled afterwards", texts(bot.updates(t, fields{})), []string{"1", "2"})
	if len(h.arrivals)+len(second.arrivals) != 0 {
		t.Error("a removed webhook got a delivery")
	}
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
	if s.Pending() != 1 {
		t.Errorf("Pending() = %d before the response", s.Pending())
	}
	first.answer <- 204
	must(t, s.WaitConfirmed(testContext(t)))
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
	must(t, s.WaitConfirmed(testContext(t)))
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
	must(t, s.WaitConfirmed(testContext(t)))
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

// TestFailedDeliveriesAreRetried also checks the error messages of getWebhookInfo.
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
		"redirect":  {status(307), "Wrong response from the webhook: 307 Temporary Redirect"},
		"not ready": {status(503), "Wrong response from the webhook: 503 Service Unavailable"},
		"unknown":   {status(401), "Wrong response from the webhook: 401 Unauthorized"},
		"cut off":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "Connection closed"},
		"half": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("x"))
			panic(http.ErrAbortHandler)
		}, "Connection closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now().Truncate(time.Second)
			s, bot, group, alice := scene(t, botsim.WithWebhookDelays(quick))
			var mu sync.Mutex
			seen := 0
			url := answers(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen++
				n := seen
				mu.Unlock()
				if _, err := io.Copy(io.Discard, r.Body); err != nil { // without this, a disconnect is not noticed
					t.Error(err)
				}
				if n == 1 {
					tc.bad(w, r)
				}
			})
			bot.want(t, "setWebhook", fields{"url": url}, nil)
			group.Say(alice, "x")
			must(t, s.WaitConfirmed(testContext(t)))
			all := s.Deliveries()
			for i, d := range all {
				if last := i == len(all)-1; last != (d.Err == "" && d.Status == 200) || !last && d.Err != tc.want {
					t.Errorf("delivery %d of %d = %+v", i+1, len(all), d)
				}
			}
			if len(all) != 2 {
				t.Errorf("%d deliveries", len(all))
			}
			info := bot.webhookInfo(t)
			if info.Failed != tc.want || info.FailedAt < began.Unix() || info.Pending != 0 {
				t.Errorf("info = %+v", info)
			}
			bot.want(t, "setWebhook", fields{"url": url + "/new"}, nil)
			if info := bot.webhookInfo(t); info.Failed != "" || info.FailedAt != 0 {
				t.Errorf("a new webhook inherits the error: %+v", info)
			}
		})
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	gone := botsim.Start(t)
	gone.Close()
	bot.want(t, "setWebhook", fields{"url": gone.URL()}, nil)
	group.Say(alice, "x")
	all := awaitAttempts(t, s, 2)
	if info := bot.webhookInfo(t); info.Failed != "Connection refused" || info.Pending != 1 {
		t.Errorf("info = %+v", info)
	}
	if all[0].Wait != 0 || all[1].Wait != 2*time.Second {
		t.Errorf("waits = %s, %s; want at once, then 2 s", all[0].Wait, all[1].Wait)
	}
}

func TestRetryAfterReplacesTheDelay(t *testing.T) {
	t.Parallel()
	s, bot, _, alice := scene(t, botsim.WithWebhookDelays(quick))
	asked := map[string]time.Duration{
		"1": time.Second, "7": 7 * time.Second, "99999": time.Hour, "0": quick(1), "-5": quick(1),
		"Wed, 21 Oct 2026 07:28:00 GMT": quick(1),
	}
	var mu sync.Mutex
	refused := map[string]bool{}
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var u wireUpdate
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			t.Error(err)
			return
		}
		text := u.Message["text"].(string)
		if !refused[text] {
			refused[text] = true
			w.Header().Set("Retry-After", text)
			w.WriteHeader(429)
		}
	})
	bot.want(t, "setWebhook", fields{"url": url}, nil)
	began := time.Now()
	chats := map[int64]string{}
	for text := range asked {
		chat := s.Group(text, alice)
		chats[chat.ID()] = text
		chat.Say(alice, text)
	}
	eventually(t, "all but the patient ones are repeated", func() bool { return s.Pending() == 2 })
	if took := time.Since(began); took < time.Second {
		t.Errorf("retried after %s, Retry-After was 1 s", took)
	}
	for _, d := range s.Deliveries() {
		if text := chats[d.ChatID]; d.Attempt == 1 && d.Wait != asked[text] {
			t.Errorf("Retry-After %q: waits %s, want %s", text, d.Wait, asked[text])
		}
	}
}

// TestCloseInterruptsRetryDelay: the retry waits for an hour, Close does not.
func TestCloseInterruptsRetryDelay(t *testing.T) {
	t.Parallel()
	s, _, group, alice, h := webhookScene(t, botsim.WithWebhookDelays(func(int) time.Duration { return time.Hour }))
	group.Say(alice, "x")
	receive(t, h.arrivals).answer <- 500
	awaitAttempts(t, s, 1)
	s.Close()
	if err := s.WaitConfirmed(testContext(t)); !errors.Is(err, botsim.ErrClosed) {
		t.Errorf("WaitConfirmed on a closed server = %v", err)
	}
}
