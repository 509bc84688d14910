package intake

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWebhookRefuses(t *testing.T) {
	t.Parallel()
	large := `{"id": 1, "x": "` + strings.Repeat("x", maxBody) + `"}`
	fits := `{"id": 1, "x": "` + strings.Repeat("x", maxBody-18) + `"}`
	cases := map[string]struct {
		method, secret, body string
		status               int
	}{
		"handled":                  {"POST", secret, `{"id": 1}`, 200},
		"white space":              {"POST", secret, " {\"id\": 1}\r\n", 200},
		"just fits":                {"POST", secret, fits, 200},
		"GET":                      {"GET", "", "", 405},
		"HEAD":                     {"HEAD", secret, "", 405},
		"PUT":                      {"PUT", secret, `{"id": 1}`, 405},
		"no method":                {"post", secret, `{"id": 1}`, 405},
		"no secret":                {"POST", "", `{"id": 1}`, 401},
		"wrong secret":             {"POST", "b secret", `{"id": 1}`, 401},
		"longer secret":            {"POST", secret + "s", `{"id": 1}`, 401},
		"part of the secret":       {"POST", secret[:4], `{"id": 1}`, 401},
		"wrong secret and garbage": {"POST", "b secret", large + "{", 401},
		"too large":                {"POST", secret, large, 413},
		"a byte too large":         {"POST", secret, fits + " ", 413},
		"too large and garbage":    {"POST", secret, strings.Repeat("{", maxBody+1), 413},
		"empty":                    {"POST", secret, "", 400},
		"garbage":                  {"POST", secret, "id=1", 400},
		"cut off":                  {"POST", secret, `{"id": 1`, 400},
		"trailing garbage":         {"POST", secret, `{"id": 1}}`, 400},
		"two of them":              {"POST", secret, `{"id": 1}{"id": 2}`, 400},
		"no update":                {"POST", secret, `[{"id": 1}]`, 400},
		"no id":                    {"POST", secret, `{"lane": 1}`, 400},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBot(t)
			// known means that the request announces the length of its body.
			for _, known := range []bool{true, false} {
				from := strings.NewReader(c.body)
				r := httptest.NewRequestWithContext(t.Context(), c.method, "/webhook", from)
				r.Header.Set(secretHeader, c.secret)
				if !known {
					r.ContentLength = -1
				}
				w := httptest.NewRecorder()
				NewWebhook(secret, readUpdate, b.worker).ServeHTTP(w, r)
				if w.Code != c.status || w.Body.Len() != 0 {
					t.Errorf("answer %d %q, want %d without body", w.Code, w.Body, c.status)
				}
				if allow := w.Header().Get("Allow"); (allow == "POST") != (c.status == 405) {
					t.Errorf("Allow: %q", allow)
				}
				if (c.status == 405 || c.status == 401) && from.Len() != len(c.body) {
					t.Errorf("%d bytes are read", len(c.body)-from.Len())
				}
				if n := b.count(); (n > 0) != (c.status == 200) {
					t.Errorf("%d updates are handled", n)
				}
			}
		})
	}
}

func TestWebhookWithoutSecret(t *testing.T) {
	t.Parallel()
	b := newBot(t)
	hook := NewWebhook("", readUpdate, b.worker)
	for _, secret := range []string{"", "a"} {
		r := request(t.Context(), "POST", `{"id": 1}`)
		r.Header.Set(secretHeader, secret)
		w := httptest.NewRecorder()
		if hook.ServeHTTP(w, r); w.Code != 401 {
			t.Errorf("answer %d to secret %q", w.Code, secret)
		}
	}
	r := request(t.Context(), "POST", `{"id": 1}`)
	r.Header.Del(secretHeader)
	w := httptest.NewRecorder()
	if hook.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("answer %d without a secret", w.Code)
	}
}

// TestWebhookWarns checks that the log reports requests with a wrong secret once a minute, without
// their content.
func TestWebhookWarns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		hook := NewWebhook(secret, readUpdate, b.worker)
		for range 150 {
			r := request(t.Context(), "POST", `{"id": 1, "text": "psst"}`)
			r.Header.Set(secretHeader, "guess")
			hook.ServeHTTP(httptest.NewRecorder(), r)
			after(t, time.Second)
		}
		var got []string
		for _, e := range b.log.with("") {
			got = append(got, e.text)
		}
		const warning = "WARN webhook request refused, further ones are logged once a minute " +
			"status=401 error=missing or wrong secret"
		equal(t, got, []string{warning, warning, warning}, "log")
	})
}

// cutBody is the body of a request whose client disconnects before the end.
type cutBody struct{ io.Reader }

func (c cutBody) Read(p []byte) (int, error) {
	if n, err := c.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, io.ErrUnexpectedEOF
}

func TestWebhookBodyCut(t *testing.T) {
	t.Parallel()
	b := newBot(t)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", cutBody{strings.NewReader(`{"id": 1}`)})
	r.Header.Set(secretHeader, secret)
	w := httptest.NewRecorder()
	NewWebhook(secret, readUpdate, b.worker).ServeHTTP(w, r)
	if w.Code == 200 || b.count() != 0 || len(b.log.with("")) != 0 {
		t.Errorf("answer %d, %d updates are handled, log: %v", w.Code, b.count(), b.log.with(""))
	}
}
