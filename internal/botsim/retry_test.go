package botsim_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"elobot/internal/botsim"
)

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
			if err := s.WaitConfirmed(testContext(t)); err != nil {
				t.Fatal(err)
			}
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
