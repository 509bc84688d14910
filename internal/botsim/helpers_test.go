package botsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"elobot/internal/botsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is a response of the server, with its result not decoded yet.
type reply struct {
	Status      int             `json:"-"`
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  map[string]any  `json:"parameters"`
	Raw         string          `json:"-"`
}

type fields map[string]any

// client is a minimal bot. Its idle connections are closed when the test ends.
type client struct {
	http *http.Client
	base string
}

func newClient(t *testing.T, s *botsim.Server) *client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{http: &http.Client{Transport: transport}, base: s.URL() + "/bot" + s.Token() + "/"}
}

// send calls a method with parameters in JSON. It returns an error if there is no response, or none
// that can be read.
func (c *client) send(ctx context.Context, method string, params fields) (reply, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return reply{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	return c.do(req)
}

func (c *client) do(req *http.Request) (reply, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{Status: resp.StatusCode, Raw: string(raw)}
	if resp.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(raw, &r); err != nil {
			return r, fmt.Errorf("decode %q: %w", raw, err)
		}
	}
	return r, nil
}

// must is like send, but an error fails the test.
func (c *client) must(t *testing.T, method string, params fields) reply {
	t.Helper()
	r, err := c.send(testContext(t), method, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return r
}

// want is like must, but a refused call also fails the test. Unless into is nil, want decodes the
// result into it.
func (c *client) want(t *testing.T, method string, params fields, into any) {
	t.Helper()
	r := c.must(t, method, params)
	if !r.OK || r.Status != http.StatusOK {
		t.Fatalf("%s(%v) = %d %s", method, params, r.Status, r.Raw)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result, into); err != nil {
			t.Fatalf("%s: decode %s: %v", method, r.Result, err)
		}
	}
}

// refused is like must, but a call that is not refused with the given status and description fails
// the test.
func (c *client) refused(t *testing.T, method string, params fields, status int, description string) reply {
	t.Helper()
	r := c.must(t, method, params)
	if r.OK || r.Status != status || r.ErrorCode != status || r.Description != description {
		t.Errorf("%s(%v) = %d %s, want %d %q", method, params, r.Status, r.Raw, status, description)
	}
	return r
}

// later is like send, but in its own goroutine. A call that fails yields a reply with nothing but
// the error, in Raw.
func (c *client) later(ctx context.Context, method string, params fields) <-chan reply {
	got := make(chan reply, 1)
	go func() {
		r, err := c.send(ctx, method, params)
		if err != nil {
			r = reply{Raw: err.Error()}
		}
		got <- r
	}()
	return got
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

type wireUpdate struct {
	ID       int64          `json:"update_id"`
	Message  map[string]any `json:"message"`
	Edited   map[string]any `json:"edited_message"`
	Callback map[string]any `json:"callback_query"`
	Mine     map[string]any `json:"my_chat_member"`
	Member   map[string]any `json:"chat_member"`
}

func (c *client) updates(t *testing.T, params fields) []wireUpdate {
	t.Helper()
	var got []wireUpdate
	c.want(t, "getUpdates", params, &got)
	return got
}

// updates decodes the updates of a reply.
func (r reply) updates(t *testing.T) []wireUpdate {
	t.Helper()
	var got []wireUpdate
	if err := json.Unmarshal(r.Result, &got); err != nil {
		t.Fatalf("decode %s: %v", r.Raw, err)
	}
	return got
}

func ids(updates []wireUpdate) []int64 {
	var all []int64
	for _, u := range updates {
		all = append(all, u.ID)
	}
	return all
}

func texts(updates []wireUpdate) []string {
	var all []string
	for _, u := range updates {
		text, _ := u.Message["text"].(string)
		all = append(all, text)
	}
	return all
}

// clock is a clock that tests advance explicitly.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// polls returns a channel that receives each call of getUpdates when the call arrives.
func polls(t *testing.T, s *botsim.Server) <-chan botsim.Call {
	t.Helper()
	arrived := make(chan botsim.Call, 100)
	remove := s.OnCall(func(c botsim.Call) {
		if c.Method == "getUpdates" {
			arrived <- c
		}
	})
	t.Cleanup(remove)
	return arrived
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-testContext(t).Done():
		t.Fatal("nothing received")
		var none T
		return none
	}
}

// eventually polls a condition until it holds, and fails the test if that takes too long. The error
// includes what, a description of the condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := testContext(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
