package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
)

// Where a bot says that it listens: on this machine alone, or everywhere.
var (
	servingAt       = regexp.MustCompile(`msg=serving addr=(127\.0\.0\.1:\d+)`)
	servingAnywhere = regexp.MustCompile(`msg=serving addr=\[::\]:(\d+)`)
)

// balancer hands deliveries on to one of several bots in turn, whether it is there or not.
type balancer struct {
	url string

	mu   sync.Mutex
	bots []string // where they are
	next int
	shut bool // nothing is handed on but the next delivery
	left bool // which has not come yet
}

func newBalancer(t *testing.T, bots int) *balancer {
	t.Helper()
	b := &balancer{bots: make([]string, bots)}
	door := httptest.NewServer(b)
	t.Cleanup(door.Close)
	b.url = door.URL
	return b
}

// environment has a bot stand behind the balancer.
func (b *balancer) environment() []string {
	return []string{"WEBHOOK_URL=" + b.url + "/telegram", "WEBHOOK_SECRET=" + webhookSecret, "LISTEN_ADDR=127.0.0.1:0"}
}

// find has deliveries go to a bot, once it listens. Until then it returns false.
func (b *balancer) find(i int, bot *process) bool {
	found := servingAt.FindStringSubmatch(bot.output.String())
	if found != nil {
		b.set(i, "http://"+found[1])
	}
	return found != nil
}

func (b *balancer) set(i int, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bots[i] = url
}

// only has the next delivery go to that bot, and refuses all others.
func (b *balancer) only(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.shut, b.left = i, true, true
}

// open hands everything on.
func (b *balancer) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = false
}

// choose returns where the next delivery goes, if it goes anywhere.
func (b *balancer) choose() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut && !b.left {
		return ""
	}
	b.left = false
	bot := b.bots[b.next]
	b.next = (b.next + 1) % len(b.bots)
	return bot
}

// ServeHTTP implements http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(forward(r, b.choose()))
}

// forward hands a request on, and returns the status of the answer, 502 if there is none.
func forward(r *http.Request, to string) int {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return http.StatusBadGateway
	}
	request, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway
	}
	request.Header = r.Header.Clone()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway
	}
	_ = answer.Body.Close() // nothing is read of it
	return answer.StatusCode
}
