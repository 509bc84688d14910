package intake

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// keeper implements DeadLetters with a function that is called for each dead letter.
type keeper func(DeadLetter) error

func (k keeper) Save(_ context.Context, letter DeadLetter) error { return k(letter) }

// FuzzWebhook checks that every request gets a documented answer. The answer is 405 for any method
// but POST, 401 for a wrong secret, and 200 if and only if the update has been handled or is a dead
// letter.
func FuzzWebhook(f *testing.F) {
	for _, body := range []string{
		`{"id": 1}`, `{"id": 2, "lane": -7}`, `{"id": 3}`, `{"id": 4}`, `{"id": 5}`, `{"id": 1}{"id": 2}`, `{"id": "1"}`,
		`{"id": 1e400}`, `{"id": 9223372036854775808}`, "", "null", "[]", "{", "\ufeff{}", "\xff", `{"id": 1, "x": "\ud800"}`,
		strings.Repeat("[", 20_000), `{"id": 1, "x": "` + strings.Repeat("x", maxBody) + `"}`,
	} {
		f.Add("POST", secret, int64(len(body)), body)
	}
	f.Add("GET", secret, int64(9), `{"id": 1}`)
	f.Add("", "", int64(-1), `{"id": 1}`)
	f.Add("POST", "guess", int64(1<<40), `{"id": 1}`)
	f.Add("POST", secret, int64(-1), `{"id": 1}`)
	known := []int{200, 400, 401, 405, 413, 503}
	f.Fuzz(func(t *testing.T, method, given string, length int64, body string) {
		done := 0
		handle := func(_ context.Context, u Update) error {
			switch u.ID % 5 {
			case 0:
				return errAway
			case 1, 2:
				done++
				return nil
			default:
				return ErrUnreadable
			}
		}
		dead := keeper(func(l DeadLetter) error {
			if l.Update.ID%5 == 3 {
				return errOwn
			}
			done++
			return nil
		})
		worker := NewWorker(handle, dead, nil, blame, time.Now, slog.New(slog.DiscardHandler))
		r := (&http.Request{
			Method: method, Header: http.Header{}, ContentLength: length, Body: io.NopCloser(strings.NewReader(body)),
		}).WithContext(t.Context())
		r.Header.Set(secretHeader, given)
		w := httptest.NewRecorder()
		NewWebhook(secret, readUpdate, worker).ServeHTTP(w, r)
		switch {
		case !slices.Contains(known, w.Code):
			t.Errorf("answer %d", w.Code)
		case (w.Code == 200) != (done == 1):
			t.Errorf("answer %d, though %d updates are persisted", w.Code, done)
		case method != http.MethodPost && w.Code != 405:
			t.Errorf("answer %d to %q", w.Code, method)
		case method == http.MethodPost && given != secret && w.Code != 401:
			t.Errorf("answer %d to a wrong secret", w.Code)
		}
	})
}
