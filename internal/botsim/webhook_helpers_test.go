package botsim_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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
