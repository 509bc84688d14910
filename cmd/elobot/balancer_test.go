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

// These match the log lines with the address of a bot's metrics server, of its main server on
// 127.0.0.1, and of its main server on all interfaces.
var (
	servingMetrics  = regexp.MustCompile(`msg=serving metrics=true addr=(127\.0\.0\.1:\d+)`)
	servingAt       = regexp.MustCompile(`msg=serving addr=(127\.0\.0\.1:\d+)`)
	servingAnywhere = regexp.MustCompile(`msg=serving addr=\[::\]:(\d+)`)
)

// balancer is a round-robin load balancer for webhook deliveries. It does not skip bots that are
// down.
type balancer struct {
	url string

	mu   sync.Mutex
	bots []string // the URL of each, or "" if unknown
	next int
	once bool // forward one delivery and refuse the rest
	left bool // that one delivery has not arrived yet
}

func newBalancer(t *testing.T, bots int) *balancer {
	t.Helper()
	b := &balancer{bots: make([]string, bots)}
	door := httptest.NewServer(b)
	t.Cleanup(door.Close)
	b.url = door.URL
	return b
}

// environment returns the settings of a bot behind the balancer.
func (b *balancer) environment() []string {
	return []string{"WEBHOOK_URL=" + b.url + "/telegram", "WEBHOOK_SECRET=" + webhookSecret, "LISTEN_ADDR=127.0.0.1:0"}
}

// find looks for the address of bot i in the bot's log and, if it is there, forwards deliveries to
// it. It reports whether it found the address.
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

// only forwards the next delivery to bot i and refuses all further deliveries until open is called.
func (b *balancer) only(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.once, b.left = i, true, true
}

// open ends the effect of only.
func (b *balancer) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.once = false
}

// choose returns the URL for the next delivery, or "" if the delivery is refused or the URL is
// unknown.
func (b *balancer) choose() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.once && !b.left {
		return ""
	}
	b.left = false
	bot := b.bots[b.next]
	b.next = (b.next + 1) % len(b.bots)
	return bot
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(forward(r, b.choose()))
}

// forward passes a request on to the server at the URL to. It returns the status of the response,
// or 502 if there is no response.
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
	_ = answer.Body.Close() // only the status matters
	return answer.StatusCode
}
