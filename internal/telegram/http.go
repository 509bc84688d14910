package telegram

import (
	"bytes"
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

// maxAnswer bounds what is read of an answer: 100 updates of the largest kind fit in.
const maxAnswer = 16 << 20

var errTooLarge = errors.New("the answer is too large")

// APIError is an answer of the Bot API that says no, or no proper answer.
type APIError struct {
	Method      string
	Status      int    // of HTTP
	Description string // empty when the answer is not the Bot API's own
	RetryAfter  time.Duration
	MigrateTo   int64 // the chat is a supergroup now and has this id
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
	Connected bool // a connection was made, so the request may have arrived
	Err       error
}

// Error implements error. It never contains the URL, which has the token in it.
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

	body []byte // all of it, as it came
}

// transport makes the requests, the library's and our own. Its errors are of type *APIError or *ConnectionError, which
// say more than the library keeps: the status, whether the request may have arrived, and nothing of the URL. It
// implements the library's HttpClient.
//
// It stands on a RoundTripper and not on an http.Client, which would follow a redirect and give the URL, with the token
// in it, to the other server as the referrer.
type transport struct {
	pool   *http.Transport
	clock  *clock.Remote // Telegram's
	secret string        // the part of the token that opens something
}

// Do implements HttpClient. Whatever it returns without an error is an answer that says ok.
func (t transport) Do(req *http.Request) (*http.Response, error) {
	if err := buffer(req); err != nil {
		return nil, &ConnectionError{Method: path.Base(req.URL.Path), Err: fmt.Errorf("build request: %w", err)}
	}
	a, err := t.ask(req)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

// ask makes a request and returns an answer that says ok.
func (t transport) ask(req *http.Request) (answer, error) {
	method := path.Base(req.URL.Path)
	connected, begun := false, time.Now()
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	resp, err := t.pool.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return answer{}, &ConnectionError{Method: method, Connected: connected, Err: t.withoutSecret(err)}
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil { // a server need not say what time it is
		t.clock.Dated(date, begun, time.Second)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errTooLarge
	}
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return answer{}, &ConnectionError{Method: method, Connected: true, Err: t.withoutSecret(err)}
	}
	a := answer{body: body}
	if err := json.Unmarshal(body, &a); err != nil || !a.OK {
		return answer{}, &APIError{
			Method: method, Status: resp.StatusCode, Description: t.masked(a.Description),
			RetryAfter: time.Duration(a.Parameters.RetryAfter) * time.Second, MigrateTo: a.Parameters.MigrateTo,
		}
	}
	return a, nil
}

// buffer reads the body of a request into memory. With a body that can be read again, net/http repeats a request by
// itself when the connection that it had kept turns out to be closed before anything was written.
func buffer(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

// withoutSecret takes the token out of an error. A server, or a proxy before it, may have sent the request back as it
// came, and errors quote what they cannot read.
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

// withoutURL takes the URL out of an error of net/url: the token is part of it.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
