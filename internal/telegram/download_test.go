package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

func TestDownload(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice, ctx := sim.User("alice"), testContext(t)
	send := func(content string) string {
		d := botsim.Document{Name: "x.csv", Content: []byte(content)}
		return sim.Private(alice).SendDocument(alice, botsim.Message{}, d, "").Document.FileID
	}
	file := send("winner,loser")
	for _, limit := range []int64{12, 5 << 20} {
		if got, err := client.Download(ctx, file, limit); err != nil || string(got) != "winner,loser" {
			t.Errorf("limit %d: %q, %v", limit, got, err)
		}
	}
	if _, err := client.Download(ctx, file, 11); !errors.Is(err, ranking.ErrFileTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if n := len(sim.CallsOf(botsim.Download)); n != 2 {
		t.Errorf("%d downloads, also of a file that is known to be too large", n)
	}
	tooLarge := send(strings.Repeat("x", 20<<20+1))
	if _, err := client.Download(ctx, tooLarge, 50<<20); !errors.Is(err, ranking.ErrFileTooLarge) {
		t.Errorf("over Telegram's limit: %v", err)
	}
	_, err := client.Download(ctx, "x", 5)
	if api, ok := errors.AsType[*APIError](err); !ok || !api.Says("wrong file_id") || IsTransient(err) {
		t.Errorf("an unknown file: %v", err)
	}
	sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: botsim.Download, Status: 404, Description: "Not Found"})
	_, err = client.Download(ctx, file, 12)
	if api, ok := errors.AsType[*APIError](err); !ok || api.Status != 404 || Failure(err).Kind == outbox.Unauthorized {
		t.Errorf("an address that has expired: %v", err)
	}
	if c := sim.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
}

// TestOddDownloads checks that a download is bounded and whole, whatever the server says about the
// file.
func TestOddDownloads(t *testing.T) {
	t.Parallel()
	const limit = 1000
	send := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", n)) }
	}
	isDone := func(err error) bool { return err == nil }
	isTooLarge := func(err error) bool { return errors.Is(err, ranking.ErrFileTooLarge) }
	isCut := func(err error) bool {
		connection, ok := errors.AsType[*ConnectionError](err)
		return ok && connection.Connected && IsTransient(err)
	}
	for name, tc := range map[string]struct {
		file string
		h    http.HandlerFunc
		want func(error) bool
	}{
		"no size":           {`{"file_path":"x"}`, send(limit), isDone},
		"no size, too much": {`{"file_path":"x"}`, send(limit + 1), isTooLarge},
		"endless": {`{"file_path":"x"}`, func(w http.ResponseWriter, r *http.Request) {
			for send(1<<16)(w, r); r.Context().Err() == nil; {
				send(1<<16)(w, r)
			}
		}, isTooLarge},
		"more than said":        {`{"file_path":"x","file_size":5}`, send(limit + 1), isTooLarge},
		"less than said":        {`{"file_path":"x","file_size":5}`, send(4), isCut},
		"known to be too large": {`{"file_path":"x","file_size":1001}`, http.NotFound, isTooLarge},
		"a cut": {`{"file_path":"x"}`, func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf")
		}, isCut},
		"no path": {`{"file_size":5}`, http.NotFound, func(err error) bool { return errors.Is(err, ErrOddResult) }},
		"a local server": {`{"file_path":"/var/lib/telegram-bot-api/` + testToken + `/documents/x.csv"}`, http.NotFound,
			func(err error) bool { return errors.Is(err, ranking.ErrFileNotServed) }},
		"a local server on Windows": {`{"file_path":"C:\\bots\\` + testToken + `\\documents\\x.csv"}`, http.NotFound,
			func(err error) bool { return errors.Is(err, ranking.ErrFileNotServed) }},
		"a path with other signs": {`{"file_path":"a b?c#d%2F/ж.csv"}`, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/file/bot"+testToken+"/a b?c#d%2F/ж.csv" {
				http.NotFound(w, r)
			}
		}, isDone},
		"a redirect": {`{"file_path":"x"}`, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, func(err error) bool {
			api, ok := errors.AsType[*APIError](err)
			return ok && api.Status == http.StatusFound
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
				if path.Base(r.URL.Path) == "getFile" {
					_, _ = fmt.Fprintf(w, `{"ok":true,"result":%s}`, tc.file)
					return
				}
				tc.h(w, r)
			})
			got, err := newClient(t, server.URL).Download(testContext(t), "id", limit)
			if !tc.want(err) || len(got) > limit {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			checkNoSecret(t, name, err)
			if err != nil && (strings.Contains(err.Error(), "x.csv") || strings.Contains(err.Error(), "/file/")) {
				t.Errorf("the error shows the address: %v", err)
			}
		})
	}
}

// TestStalledDownload checks that the context ends a download.
func TestStalledDownload(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	server := serve(t, botsim.Download, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	if _, err := newClient(t, server.URL).Download(ctx, "id", 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
