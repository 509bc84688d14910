package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/web"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// listen returns a server that listens but does not run yet.
func listen(t *testing.T) *web.Server {
	t.Helper()
	server := web.New(slog.New(slog.DiscardHandler))
	if err := server.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return server
}

// serve runs a server with metrics. It returns the server's URL, a function that stops it, and the
// channel that receives the result of Run.
func serve(t *testing.T, stats func() outbox.Stats) (url string, stop func(), ended <-chan error) {
	t.Helper()
	server := listen(t)
	server.Metrics(stats, server)
	return run(t, server)
}

// run runs a server until stop is called or the test ends. ended receives the result of Run.
func run(t *testing.T, server *web.Server) (url string, stop func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		result <- server.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return "http://" + server.Addr(), cancel, result
}

func queueStats() outbox.Stats { return outbox.Stats{Waiting: 7, Sent: 3} }

// answer is the response to a request.
type answer struct {
	code   int
	header http.Header
	body   string
}

// request makes a request on a new connection.
func request(t *testing.T, method, url string) answer {
	t.Helper()
	a, err := ask(t, method, url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask is like request, but returns an error instead of failing the test.
func ask(t *testing.T, method, url string) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		return answer{}, err
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body)}, err
}

func TestPaths(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, queueStats)
	for _, tc := range []struct {
		method, path      string
		code              int
		contentType, body string
	}{
		{"GET", "/metrics", 200, "text/plain", "\nelobot_outbox_waiting_items 7\n"},
		{"GET", "/metrics", 200, "text/plain", "\ngo_goroutines "},
		{"GET", "/api/metrics", 200, "application/json", `"waiting":7,`},
		{"HEAD", "/metrics", 200, "text/plain", ""},
		{"HEAD", "/api/metrics", 200, "application/json", ""},
		{"POST", "/metrics", 405, "text/plain", ""},
		{"DELETE", "/api/metrics", 405, "text/plain", ""},
		{"OPTIONS", "/metrics", 405, "text/plain", ""},
		{"GET", "/", 404, "text/plain", ""},
		{"GET", "/metrics/", 404, "text/plain", ""},
		{"GET", "/api", 404, "text/plain", ""},
		{"POST", "/debug/pprof/", 404, "text/plain", ""},
	} {
		a := request(t, tc.method, url+tc.path)
		if contentType := a.header.Get("Content-Type"); a.code != tc.code || !strings.HasPrefix(contentType, tc.contentType) {
			t.Errorf("%s %s is answered with %d, %s", tc.method, tc.path, a.code, contentType)
		}
		if !strings.Contains(a.body, tc.body) || tc.method == "HEAD" && a.body != "" {
			t.Errorf("%s %s does not say %q:\n%s", tc.method, tc.path, tc.body, a.body)
		}
		if allow := a.header.Get("Allow"); (tc.code == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s %s is answered with Allow: %q", tc.method, tc.path, allow)
		}
	}
}

func TestManyAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	calls := 0
	url, _, _ := serve(t, func() outbox.Stats {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return queueStats()
	})
	const each = 10
	var all sync.WaitGroup
	for _, path := range []string{"/metrics", "/api/metrics"} {
		for range each {
			all.Go(func() {
				a, err := ask(t, "GET", url+path)
				if err != nil || a.code != 200 || !strings.Contains(a.body, "waiting") {
					t.Errorf("%s is answered with %d, %v:\n%s", path, a.code, err, a.body)
				}
			})
		}
	}
	all.Wait()
	if calls != 2*each {
		t.Errorf("stats were read %d times, want once per request, %d", calls, 2*each)
	}
}

// TestStopFinishesRequests checks that, while the server stops, a request in flight is answered,
// and a new connection is refused.
func TestStopFinishesRequests(t *testing.T) {
	t.Parallel()
	begun, proceed := make(chan struct{}), make(chan struct{})
	url, stop, ended := serve(t, func() outbox.Stats {
		close(begun)
		<-proceed
		return queueStats()
	})
	answered := make(chan error, 1)
	go func() {
		a, err := ask(t, "GET", url+"/api/metrics")
		if err == nil && a.code != 200 {
			err = fmt.Errorf("answered with %d", a.code)
		}
		answered <- err
	}()
	<-begun
	stop()
	waitUntilRefused(t, url)
	close(proceed)
	if err := <-answered; err != nil {
		t.Errorf("the request in flight: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ends with: %v", err)
	}
}

// TestStopIsBounded checks that a stopping server waits only for a limited time for a handler that
// hangs.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	begun, never := make(chan struct{}), make(chan struct{})
	url, stop, ended := serve(t, func() outbox.Stats {
		close(begun)
		<-never
		return queueStats()
	})
	aborted := make(chan error, 1)
	go func() {
		_, err := ask(t, "GET", url+"/api/metrics")
		aborted <- err
	}()
	<-begun
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with: %v", err)
	}
	if <-aborted == nil {
		t.Error("the hanging request was answered")
	}
	close(never)
}

// TestStoppedBefore checks that a server that is stopped before it starts returns without error.
func TestStoppedBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := listen(t).Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // never used
	err = web.New(slog.New(slog.DiscardHandler)).Listen(t.Context(), taken.Addr().String())
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("Listen: %v", err)
	}
}

// TestWebhook checks that only requests to the webhook's path reach its handler, with or without
// metrics.
func TestWebhook(t *testing.T) {
	t.Parallel()
	for _, withStats := range []bool{true, false} {
		for path, others := range map[string][]string{
			"/":         {"/telegram"},
			"/telegram": {"/", "/telegram/", "/telegram/x", "/Telegram"},
			"/a/{b}/c":  {"/a/b/c", "/a/{b}/d"},
			"/a b":      {"/a", "/b"},
			"/a//b/.":   {"/a/b", "/a//b/"},
		} {
			server := listen(t)
			if withStats {
				server.Metrics(queueStats, server)
			}
			server.Webhook(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
			}))
			url, _, _ := run(t, server)
			if a := request(t, "POST", url+strings.ReplaceAll(path, " ", "%20")); a.code != http.StatusAccepted {
				t.Errorf("%s is answered with %d", path, a.code)
			}
			for _, other := range others {
				if a := request(t, "POST", url+other); a.code == http.StatusAccepted {
					t.Errorf("%s reaches the webhook at %s", other, path)
				}
			}
			if a := request(t, "GET", url+"/metrics"); (a.code == 200) != withStats {
				t.Errorf("with metrics %t: /metrics is answered with %d", withStats, a.code)
			}
		}
	}
}

// TestPanic checks that, after a panic while reading the stats, the server still answers the next
// request.
func TestPanic(t *testing.T) {
	t.Parallel()
	var once sync.Once
	url, _, _ := serve(t, func() outbox.Stats {
		once.Do(func() { panic("no stats") })
		return queueStats()
	})
	if a, err := ask(t, "GET", url+"/api/metrics"); err == nil {
		t.Errorf("the first request is answered with %d", a.code)
	}
	if a := request(t, "GET", url+"/api/metrics"); a.code != 200 || !json.Valid([]byte(a.body)) {
		t.Errorf("the second request is answered with %d:\n%s", a.code, a.body)
	}
}

func waitUntilRefused(t *testing.T, url string) {
	t.Helper()
	for {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		_ = connection.Close() // only a probe
	}
}
