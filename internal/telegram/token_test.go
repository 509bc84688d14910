package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/go-telegram/bot"

	"elobot/internal/botsim"
)

// checkNoSecret checks that neither an error nor any of its causes contains the secret part of the
// token. A nil error passes.
func checkNoSecret(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
		if text := fmt.Sprintf(verb, err); strings.Contains(text, secretHalf) {
			t.Errorf("%s: the error shows the token: %s", what, strings.ReplaceAll(text, secretHalf, "THE SECRET"))
		}
	}
	switch wrapped := err.(type) { //nolint:errorlint // follows the causes one by one
	case interface{ Unwrap() error }:
		checkNoSecret(t, what, wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, cause := range wrapped.Unwrap() {
			checkNoSecret(t, what, cause)
		}
	}
}

// requests returns functions that make a request with client, keyed by the method of the request.
// The key of Confirm is "confirm", although it calls getUpdates.
func requests(client *Client) map[string]func(context.Context) error {
	publish := func(ctx context.Context) error { return client.PublishMenus(ctx, testMenus...) }
	return map[string]func(context.Context) error{
		"getMe":         func(ctx context.Context) error { _, err := client.GetMe(ctx); return err },
		"getMyCommands": publish,
		"setMyCommands": publish,
		"getUpdates":    func(ctx context.Context) error { _, err := client.Updates(ctx, 0, 0, readUpdate); return err },
		"confirm":       func(ctx context.Context) error { return client.Confirm(ctx, 5) },
		"sendMessage": func(ctx context.Context) error {
			return client.Call(ctx, "sendMessage", &bot.SendMessageParams{ChatID: -100, Text: "hello"}, nil)
		},
		"getFile": func(ctx context.Context) error {
			_, err := client.Download(ctx, firstFile, 1<<20)
			return err
		},
		botsim.Download: func(ctx context.Context) error {
			_, err := client.Download(ctx, firstFile, 1<<20)
			return err
		},
		"getChatAdministrators": func(ctx context.Context) error {
			_, err := client.Admins(ctx, -100)
			return err
		},
	}
}

// TestTheTokenIsNeverShown checks that the error of a failed request does not show the token,
// whatever the method and the failure.
func TestTheTokenIsNeverShown(t *testing.T) {
	t.Parallel()
	for name, server := range brokenServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for method := range requests(nil) {
				t.Run(method, func(t *testing.T) {
					t.Parallel()
					var logged buffered
					ctx := testContext(t)
					err := requests(newClient(t, server(t, method)))[method](ctx)
					if err == nil {
						t.Fatal("it went well")
					}
					if ctx.Err() != nil {
						t.Errorf("it hung: %v", err)
					}
					checkNoSecret(t, name, err)
					slog.New(slog.NewTextHandler(&logged, nil)).Error("as the edge does", "error", err)
					if strings.Contains(logged.String(), secretHalf) {
						t.Errorf("logged: %s", strings.ReplaceAll(logged.String(), secretHalf, "THE SECRET"))
					}
				})
			}
		})
	}
}

// brokenServers maps kinds of failures to functions that return an address at which the method
// fails in that way. If the failure needs a server, they start it.
func brokenServers() map[string]func(t *testing.T, method string) string {
	fault := func(f botsim.Fault) func(*testing.T, string) string {
		return func(t *testing.T, method string) string {
			t.Helper()
			sim, _ := startSimulator(t)
			alice := sim.User("alice")
			sim.Private(alice).SendDocument(alice, botsim.Message{}, botsim.Document{Content: []byte("x")}, "")
			hit := f
			if hit.Method = method; method == "confirm" {
				hit.Method = "getUpdates"
			}
			sim.Fault(hit)
			return sim.URL()
		}
	}
	answer := func(h http.HandlerFunc) func(*testing.T, string) string {
		return func(t *testing.T, method string) string {
			t.Helper()
			return serve(t, method, h).URL
		}
	}
	redirect := func(status int, to func(*http.Request) string) func(*testing.T, string) string {
		return answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to(r))
			w.WriteHeader(status)
		})
	}
	raw := func(text string) func(*testing.T, string) string {
		return answer(func(w http.ResponseWriter, r *http.Request) {
			hijack(w, strings.ReplaceAll(text, "PATH", r.URL.Path))
		})
	}
	return map[string]func(*testing.T, string) string{
		"cut before":  fault(botsim.Fault{Kind: botsim.CutBefore}),
		"cut after":   fault(botsim.Fault{Kind: botsim.CutAfter}),
		"HTML 502":    fault(botsim.Fault{Kind: botsim.ServerError}),
		"401":         fault(botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"}),
		"404":         fault(botsim.Fault{Kind: botsim.Reject, Status: 404, Description: "Not Found"}),
		"429":         fault(botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 1}),
		"quoted path": fault(botsim.Fault{Kind: botsim.Reject, Status: 404, Description: "Not Found: /bot" + testToken + "/x"}),
		"quoted page": fault(botsim.Fault{Kind: botsim.ServerError, Status: 404, Body: "<p>/bot" + testToken + "/x was not found</p>"}),
		"nobody":      func(*testing.T, string) string { return nobody },
		"no such host": func(*testing.T, string) string {
			return "http://elobot.invalid:1" // reserved for names that do not exist
		},
		"no such scheme": func(*testing.T, string) string { return "gopher://127.0.0.1" },
		"no TLS": func(t *testing.T, method string) string {
			t.Helper()
			return strings.Replace(serve(t, method, http.NotFound).URL, "http:", "https:", 1)
		},
		"TLS of a stranger": strangeTLS,
		"redirect to nowhere": redirect(http.StatusTemporaryRedirect, func(r *http.Request) string {
			return "http://127.0.0.1:1" + r.URL.Path
		}),
		"redirect that is none": redirect(http.StatusTemporaryRedirect, func(r *http.Request) string {
			return "http://[::1" + r.URL.Path
		}),
		"redirect in circles":    redirect(http.StatusPermanentRedirect, func(r *http.Request) string { return r.URL.Path }),
		"redirect to no address": redirect(http.StatusMovedPermanently, func(*http.Request) string { return "" }),
		"an oversized answer": answer(func(w http.ResponseWriter, _ *http.Request) {
			block := []byte(strings.Repeat("/bot"+testToken+"/", 4096))
			for range maxAnswer/len(block) + 1 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}),
		"an echo":           raw("POST PATH HTTP/1.1\r\n\r\n"),
		"a malformed head":  raw("HTTP/1.1 200 OK\r\nPATH\r\n\r\n"),
		"a malformed chunk": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nPATH\r\n"),
		"half an answer":    raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nPATH"),
	}
}

// firstFile is the id of the first file in a simulator.
const firstFile = "BQACAgQAAxkDAAI000001"

// nobody is an address where nothing listens. The system gives this port to no other test.
const nobody = "http://127.0.0.1:1"

// serve starts a server that answers like h. Only requests that must succeed before the tested
// method is called get another answer.
func serve(t *testing.T, method string, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if method == "setMyCommands" && path.Base(r.URL.Path) == "getMyCommands" {
			_, _ = io.WriteString(w, `{"ok":true,"result":[]}`) // the client sees the error
			return
		}
		if method == botsim.Download && path.Base(r.URL.Path) == "getFile" {
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_path":"documents/x.csv"}}`)
			return
		}
		h(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func strangeTLS(t *testing.T, _ string) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// hijack answers with exactly these bytes and closes the connection.
func hijack(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return // the client has hung up
	}
	_, _ = io.WriteString(conn, text) // the client sees the error
	_ = conn.Close()
}

// TestRedirectsAreNotFollowed checks that the client does not follow redirects. The other server
// would get the texts of messages, and the token in the Referer header.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := make(chan string, 8)
		other := serve(t, "", func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header.Get("Referer") })
		server := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(status)
		})
		_, err := newClient(t, server.URL).GetMe(testContext(t))
		var api *APIError
		if !errors.As(err, &api) || api.Status != status {
			t.Errorf("status %d: %v", status, err)
		}
		if len(elsewhere) > 0 {
			t.Errorf("status %d was followed", status)
		}
	}
}

// TestTheTokenWouldBeFound checks that an error of net/http contains the token, which shows that
// TestTheTokenIsNeverShown can fail.
func TestTheTokenWouldBeFound(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	sim.Fault(botsim.Fault{Kind: botsim.CutBefore})
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, client.base+"getMe", nil)
	if err != nil {
		t.Fatalf("make request: %v", err)
	}
	plain := &http.Client{Transport: client.pool}
	resp, err := plain.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("it went well")
	}
	if !strings.Contains(err.Error(), secretHalf) {
		t.Errorf("net/http does not show it: %v", err)
	}
}
