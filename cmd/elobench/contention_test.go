package main

import (
	"context"
	"encoding/json"
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

// TestTakeUpdates fetches more updates than one getUpdates returns.
func TestTakeUpdates(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	load, n := newWorkload(sim, sizes{groups: 1, people: groupSize}), 250
	for i := range n {
		load.reportMatch(i)
	}
	updates, err := takeUpdates(t.Context(), sim)
	if err != nil || len(updates) != n || sim.Pending() != 0 {
		t.Fatalf("fetched %d updates, %d left, %v", len(updates), sim.Pending(), err)
	}
	last := 0
	for _, raw := range updates {
		var u struct {
			Message struct {
				ID   int `json:"message_id"`
				Text string
			}
		}
		if err := json.Unmarshal(raw, &u); err != nil {
			t.Fatal(err)
		}
		if u.Message.ID <= last || !strings.HasPrefix(u.Message.Text, "/match @player_1_") {
			t.Fatalf("after message %d: %s", last, raw)
		}
		last = u.Message.ID
	}
	sim.Close()
	if _, err := takeUpdates(t.Context(), sim); err == nil {
		t.Error("fetching updates from a closed simulator succeeded")
	}
}

// TestDeliver: the first updates are delivered one at a time and the others concurrently up to the limit, all of them to the
// instances in turn.
func TestDeliver(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var received [2][]string
	concurrent, most := 0, 0
	full := make(chan struct{})
	var once sync.Once
	take := func(endpoint int, body string) {
		mu.Lock()
		defer mu.Unlock()
		received[endpoint] = append(received[endpoint], body)
		concurrent++
		if most = max(most, concurrent); concurrent == concurrentDeliveries {
			once.Do(func() { close(full) })
		}
	}
	f := &fleet{client: http.DefaultClient}
	for i := range received {
		endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			secret := r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
			if err != nil || r.Method != http.MethodPost || secret != webhookSecret {
				t.Errorf("got %s with the secret %q, %v", r.Method, secret, err)
			}
			take(i, string(body))
			if !strings.HasPrefix(string(body), "first") {
				select {
				case <-full:
				case <-ctx.Done():
				}
			}
			mu.Lock()
			defer mu.Unlock()
			concurrent--
		}))
		t.Cleanup(endpoint.Close)
		f.endpoints = append(f.endpoints, endpoint.URL)
	}
	first := []json.RawMessage{[]byte("first 1"), []byte("first 2"), []byte("first 3")}
	others := slices.Repeat([]json.RawMessage{[]byte("other")}, 2*concurrentDeliveries)
	if _, err := f.deliver(ctx, first, others); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(received[0][:2], []string{"first 1", "first 3"}) || received[1][0] != "first 2" {
		t.Errorf("order of the first updates: %v", received)
	}
	if len(received[0]) != 2+concurrentDeliveries || len(received[1]) != 1+concurrentDeliveries || most != concurrentDeliveries {
		t.Errorf("%d concurrent deliveries: %v", most, received)
	}
}

func TestDeliverToFailingInstance(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(endpoint.Close)
	f := &fleet{client: http.DefaultClient, endpoints: []string{endpoint.URL}}
	_, err := f.deliver(t.Context(), nil, []json.RawMessage{[]byte("1")})
	if err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("deliver: %v, want the status 503", err)
	}
}
