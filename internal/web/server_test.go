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

	"go.uber.org/goleak"

	"elobot/internal/outbox"
	"elobot/internal/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen returns a server that runs once it is told to.
func listen(t *testing.T) *web.Server {
	t.Helper()
	server, err := web.Listen(t.Context(), "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// serve runs a server of figures, and returns where it is, what stops it, and how it has ended.
func serve(t *testing.T, stats func() outbox.Stats) (url string, stop func(), ended <-chan error) {
	t.Helper()
	server := listen(t)
	server.Stats(stats)
	return run(t, server)
}

// run runs a server.
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

func stats() outbox.Stats { return outbox.Stats{Waiting: 7, Sent: 3} }

// answer is what a request is answered with.
type answer struct {
	code   int
	header http.Header
	body   string
}

// request makes a request by a connection of its own.
func request(t *testing.T, method, url string) answer {
	t.Helper()
	a, err := ask(t, method, url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask is request that may fail.
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
	url, _, _ := serve(t, stats)
	for _, tc := range []struct {
		method, path string
		code         int
		kind, says   string
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
		if kind := a.header.Get("Content-Type"); a.code != tc.code || !strings.HasPrefix(kind, tc.kind) {
			t.Errorf("%s %s is answered with %d, %s", tc.method, tc.path, a.code, kind)
		}
		if !strings.Contains(a.body, tc.says) || tc.method == "HEAD" && a.body != "" {
			t.Errorf("%s %s does not say %q:\n%s", tc.method, tc.path, tc.says, a.body)
		}
		if allow := a.header.Get("Allow"); (tc.code == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s %s is answered with Allow: %q", tc.method, tc.path, allow)
		}
	}
}

func TestManyAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	url, _, _ := serve(t, func() outbox.Stats {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return stats()
	})
	const each = 25
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
	if asked != 2*each {
		t.Errorf("the figures were asked for %d times, want once for each request, %d", asked, 2*each)
	}
}

// TestStopAnswersWhatIsInHand: a request that has begun is answered; a new one finds nobody.
func TestStopAnswersWhatIsInHand(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	url, stop, ended := serve(t, func() outbox.Stats {
		close(begun)
		<-goOn
		return stats()
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
	refused(t, url)
	close(goOn)
	if err := <-answered; err != nil {
		t.Errorf("what was in hand: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ends with: %v", err)
	}
}

// TestStopIsBounded: a server does not wait for an answer that does not come.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	begun, never := make(chan struct{}), make(chan struct{})
	url, stop, ended := serve(t, func() outbox.Stats {
		close(begun)
		<-never
		return stats()
	})
	cut := make(chan error, 1)
	go func() {
		_, err := ask(t, "GET", url+"/api/metrics")
		cut <- err
	}()
	<-begun
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with: %v", err)
	}
	if <-cut == nil {
		t.Error("the request that was in hand was answered")
	}
	close(never)
}

// TestStoppedBefore: a server that is told to stop before it has begun ends well.
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
	t.Cleanup(func() { _ = taken.Close() }) // nobody has used it
	_, err = web.Listen(t.Context(), taken.Addr().String(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "Is the port of LISTEN_ADDR or PORT free") ||
		!strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("listening ends with: %v", err)
	}
}

// TestWebhook: what is posted to the path of the webhook, and to no other, reaches its handler, whether or not there are
// figures.
func TestWebhook(t *testing.T) {
	t.Parallel()
	for _, withFigures := range []bool{true, false} {
		for path, others := range map[string][]string{
			"/":         {"/telegram"},
			"/telegram": {"/", "/telegram/", "/telegram/x", "/Telegram"},
			"/a/{b}/c":  {"/a/b/c", "/a/{b}/d"},
			"/a b":      {"/a", "/b"},
			"/a//b/.":   {"/a/b", "/a//b/"},
		} {
			server := listen(t)
			if withFigures {
				server.Stats(stats)
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
			if a := request(t, "GET", url+"/metrics"); (a.code == 200) != withFigures {
				t.Errorf("figures %t: /metrics is answered with %d", withFigures, a.code)
			}
		}
	}
}

// TestPanic: figures that cannot be had cost one answer, not the server.
func TestPanic(t *testing.T) {
	t.Parallel()
	var once sync.Once
	url, _, _ := serve(t, func() outbox.Stats {
		once.Do(func() { panic("no figures") })
		return stats()
	})
	if a, err := ask(t, "GET", url+"/api/metrics"); err == nil {
		t.Errorf("the first request is answered with %d", a.code)
	}
	if a := request(t, "GET", url+"/api/metrics"); a.code != 200 || !json.Valid([]byte(a.body)) {
		t.Errorf("the second request is answered with %d:\n%s", a.code, a.body)
	}
}

// refused waits until nobody listens any more.
func refused(t *testing.T, url string) {
	t.Helper()
	for {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		_ = connection.Close() // it was only to see whether there is one
	}
}
