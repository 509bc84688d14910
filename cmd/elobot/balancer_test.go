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

// Log lines with the address at which a bot serves its metrics, or everything else on this machine
// or on all interfaces.
var (
	servingMetrics  = regexp.MustCompile(`msg=serving metrics=true addr=(127\.0\.0\.1:\d+)`)
	servingAt       = regexp.MustCompile(`msg=serving addr=(127\.0\.0\.1:\d+)`)
	servingAnywhere = regexp.MustCompile(`msg=serving addr=\[::\]:(\d+)`)
)

// balancer forwards deliveries to several bots in turn, even to bots that do not run.
type balancer struct {
	url string

	mu   sync.Mutex
	bots []string // their URLs
	next int
	once bool // forward a single delivery
	left bool // the single delivery has not come yet
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

// find makes the balancer forward deliveries to a bot if the bot listens already, and reports
// whether it does.
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

// only forwards the next delivery to one bot and refuses all others.
func (b *balancer) only(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next, b.once, b.left = i, true, true
}

// open forwards all deliveries again.
func (b *balancer) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.once = false
}

// choose returns the URL for the next delivery, or "" if it is refused.
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

// forward forwards a request. It returns the status of the answer, or 502 if there is no answer.
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
	_ = answer.Body.Close() // its body is not needed
	return answer.StatusCode
}
