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

// TestTakeUpdates: there are more of them than Telegram shows at once.
func TestTakeUpdates(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	crowd, n := newCrowd(sim, sizes{groups: 1, people: contenders}), 250
	for i := range n {
		crowd.say(i)
	}
	updates, err := takeUpdates(t.Context(), sim)
	if err != nil || len(updates) != n || sim.Pending() != 0 {
		t.Fatalf("%d updates are taken and %d are left, %v", len(updates), sim.Pending(), err)
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
			t.Fatalf("after message %d comes %s", last, raw)
		}
		last = u.Message.ID
	}
	sim.Close()
	if _, err := takeUpdates(t.Context(), sim); err == nil {
		t.Error("updates are taken from nobody")
	}
}

// TestDeliver: the first updates come one by one, and the others as many at the same time as there may be, all of them to
// each instance in turn.
func TestDeliver(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var came [2][]string
	together, most := 0, 0
	crowded := make(chan struct{})
	var once sync.Once
	take := func(door int, body string) {
		mu.Lock()
		defer mu.Unlock()
		came[door] = append(came[door], body)
		together++
		if most = max(most, together); together == deliveredAtOnce {
			once.Do(func() { close(crowded) })
		}
	}
	f := &fleet{client: http.DefaultClient}
	for i := range came {
		door := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			secret := r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
			if err != nil || r.Method != http.MethodPost || secret != webhookSecret {
				t.Errorf("there comes %s with the secret %q, %v", r.Method, secret, err)
			}
			take(i, string(body))
			if !strings.HasPrefix(string(body), "first") {
				select {
				case <-crowded:
				case <-ctx.Done():
				}
			}
			mu.Lock()
			defer mu.Unlock()
			together--
		}))
		t.Cleanup(door.Close)
		f.doors = append(f.doors, door.URL)
	}
	first := []json.RawMessage{[]byte("first 1"), []byte("first 2"), []byte("first 3")}
	others := slices.Repeat([]json.RawMessage{[]byte("other")}, 2*deliveredAtOnce)
	if _, err := f.deliver(ctx, first, others); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(came[0][:2], []string{"first 1", "first 3"}) || came[1][0] != "first 2" {
		t.Errorf("the first ones come as %v", came)
	}
	if len(came[0]) != 2+deliveredAtOnce || len(came[1]) != 1+deliveredAtOnce || most != deliveredAtOnce {
		t.Errorf("%d at the same time come as %v", most, came)
	}
}

func TestDeliverToNobody(t *testing.T) {
	t.Parallel()
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(door.Close)
	f := &fleet{client: http.DefaultClient, doors: []string{door.URL}}
	_, err := f.deliver(t.Context(), nil, []json.RawMessage{[]byte("1")})
	if err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("it is taken, %v", err)
	}
}
