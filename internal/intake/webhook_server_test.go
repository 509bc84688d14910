package intake

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve starts an HTTP server with a webhook.
func serve(t *testing.T, b *bot) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(NewWebhook(secret, readUpdate, b.worker))
	t.Cleanup(server.Close)
	return server
}

// say sends a raw request, closes its side of the connection afterward if cut is set, and returns
// the status, or 0 if there is no answer.
func say(t *testing.T, addr net.Addr, request string, cut bool) int {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is left to write
	go func() {
		_, _ = io.WriteString(conn, request) // it may be refused before it is complete
		if cut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestWebhookLength checks that a request whose body is too large, missing or cut off by a wrong
// length does not get 200. A request gets 200 if and only if its update was handled.
func TestWebhookLength(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", maxBody)
	cases := map[string]struct {
		length, body string
		cut          bool
		want         []int
	}{
		"right":     {"Content-Length: 9", `{"id": 1}`, false, []int{200}},
		"chunked":   {"Transfer-Encoding: chunked", "9\r\n{\"id\": 1}\r\n0\r\n\r\n", false, []int{200}},
		"too short": {"Content-Length: 8", `{"id": 1}`, false, []int{400}},
		"too long":  {"Content-Length: 10", `{"id": 1}`, true, []int{0, 400}},
		"none":      {"X-Length: 9", `{"id": 1}`, false, []int{400}},
		"cut chunk": {"Transfer-Encoding: chunked", "9\r\n{\"id\": 1}\r\n", true, []int{0, 400}},
		"large chunks": {
			"Transfer-Encoding: chunked", fmt.Sprintf("9\r\n{\"id\": 1}\r\n%x\r\n%s\r\n0\r\n\r\n", maxBody, large), false, []int{413},
		},
		"large": {fmt.Sprintf("Content-Length: %d", maxBody+1), large + "x", false, []int{413}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBot(t)
			server := serve(t, b)
			got := say(t, server.Listener.Addr(),
				"POST / HTTP/1.1\r\nHost: bot\r\n"+secretHeader+": "+secret+"\r\n"+c.length+"\r\n\r\n"+c.body, c.cut)
			ok := false
			for _, want := range c.want {
				ok = ok || got == want
			}
			if !ok || (got == 200) != (b.count() == 1) {
				t.Errorf("answer %d, want %v; %d updates are handled", got, c.want, b.count())
			}
		})
	}
}
