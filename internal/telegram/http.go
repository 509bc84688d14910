package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"strings"
	"time"

	"elobot/internal/clock"
)

// maxAnswer limits the size of an answer in bytes. 100 of the largest updates fit.
const maxAnswer = 16 << 20

var errTooLarge = errors.New("the answer is too large")

// APIError is an error answer of the Bot API, or an answer that is not the Bot API's.
type APIError struct {
	Method      string
	Status      int    // HTTP status
	Description string // empty when the answer is not the Bot API's own
	RetryAfter  time.Duration
	MigrateTo   int64 // new id of a group that has become a supergroup; else 0
}

// Error implements error.
func (e *APIError) Error() string {
	if e.Description == "" {
		return fmt.Sprintf("%s: HTTP status %d", e.Method, e.Status)
	}
	return fmt.Sprintf("%s: %d %s", e.Method, e.Status, e.Description)
}

// ConnectionError is a request that got no answer.
type ConnectionError struct {
	Method    string
	Connected bool // there was a connection, so the request may have arrived
	Err       error
}

// Error implements error. The text never contains the URL, which has the token in it.
func (e *ConnectionError) Error() string { return fmt.Sprintf("%s: no answer: %v", e.Method, e.Err) }

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// answer is the envelope of every answer of the Bot API.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// transport makes all requests. Its errors are of type *APIError or *ConnectionError: they say the status and whether the request may have
// arrived, and never contain the URL.
//
// It uses a RoundTripper instead of an http.Client: a client would follow a redirect, and send the URL with the token to the other server
// as the referrer.
type transport struct {
	pool   *http.Transport
	clock  *clock.Remote // Telegram's
	secret string        // the secret part of the token
}

// ask makes a request and returns a successful answer, or an error.
func (t transport) ask(req *http.Request) (answer, error) {
	method := path.Base(req.URL.Path)
	connected, begun := false, time.Now()
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	resp, err := t.pool.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return answer{}, &ConnectionError{Method: method, Connected: connected, Err: t.withoutSecret(err)}
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil { // the header is optional
		t.clock.Dated(date, begun, time.Second)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errTooLarge
	}
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return answer{}, &ConnectionError{Method: method, Connected: true, Err: t.withoutSecret(err)}
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || !a.OK {
		return answer{}, &APIError{
			Method: method, Status: resp.StatusCode, Description: t.masked(a.Description),
			RetryAfter: time.Duration(a.Parameters.RetryAfter) * time.Second, MigrateTo: a.Parameters.MigrateTo,
		}
	}
	return a, nil
}

// withoutSecret removes the token from an error. A server or a proxy may echo the request, and errors quote what they cannot parse.
func (t transport) withoutSecret(err error) error {
	if text := err.Error(); t.masked(text) != text {
		return errors.New(t.masked(text))
	}
	return err
}

func (t transport) masked(text string) string {
	if t.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, t.secret, "***")
}

// withoutURL removes the URL from an error of net/url: the URL contains the token.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
