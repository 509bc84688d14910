// Package telegram is a client of the Bot API: requests, polling for updates, the webhook, the
// classification of errors, and the admins of a chat.
package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"elobot/internal/clock"
)

// DefaultURL is Telegram's own Bot API server.
const DefaultURL = "https://api.telegram.org"

// Client talks to the Bot API. Its errors never contain the secret part of the token.
//
// It uses a RoundTripper instead of an http.Client, which would follow a redirect and send the URL
// with the token to the other server as the referrer.
type Client struct {
	pool   *http.Transport
	clock  *clock.Remote               // Telegram's clock
	secret string                      // the secret part of the token
	server string                      // the server's URL without the path, which may be a secret
	base   string                      // the URL of every method, up to the method's name
	files  string                      // the URL of every file, up to the file's path
	begin  func(context.Context) error // called before each request of Call; may be nil
}

// Self is the bot's own account.
type Self struct {
	ID       int64
	Username string
	// JoinsGroups reports whether the bot can be added to groups, and ReadsAll whether privacy mode
	// is off.
	JoinsGroups, ReadsAll bool
}

// AddToGroupLink returns the link that adds the bot to a group.
func (s Self) AddToGroupLink() string { return "https://t.me/" + s.Username + "?startgroup=true" }

// StartLink returns the link that opens the private chat with the bot, where a press sends /start
// with the parameter: up to 64 of the characters A-Z, a-z, 0-9, _ and -.
func (s Self) StartLink(parameter string) string {
	return "https://t.me/" + s.Username + "?start=" + parameter
}

// NewClient returns a client for the bot with this token at a Bot API server. It makes no request.
// It fails if the token is blank, or if token and serverURL do not make a valid URL.
func NewClient(token, serverURL string) (*Client, error) {
	if strings.TrimSpace(token) == "" {
		return nil, errors.New("make Bot API client: no token")
	}
	serverURL = strings.TrimRight(serverURL, "/")
	// The transport gets no timeout for whole requests, because a long poll takes longer than a
	// message may. The context of a request limits its time.
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64
	// Pings detect dead connections, which otherwise look like slow ones.
	pool.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}
	secret := token[strings.Index(token, ":")+1:]
	base := serverURL + "/bot" + token + "/"
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("make Bot API client: address or token: %w", withoutURL(err))
	}
	return &Client{
		pool: pool, clock: new(clock.Remote), secret: secret, server: u.Scheme + "://" + u.Host, base: base,
		files: serverURL + "/file/bot" + token + "/",
	}, nil
}

// Asking returns a client that calls begin before each request of its method Call, and makes no
// request if begin fails.
func (c *Client) Asking(begin func(context.Context) error) *Client {
	asking := *c
	asking.begin = begin
	return &asking
}

// Close closes the idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// Clock returns the time of Telegram's clock, which dates messages. ok is false until Telegram has
// dated an answer.
func (c *Client) Clock() (now time.Time, ok bool) { return c.clock.Now() }

// Now returns the time of Telegram's clock, or of the local clock until Telegram has dated an
// answer.
func (c *Client) Now() time.Time {
	if now, ok := c.Clock(); ok {
		return now
	}
	return time.Now()
}

// GetMe returns the bot's account.
func (c *Client) GetMe(ctx context.Context) (Self, error) {
	var me models.User
	if err := c.request(ctx, "getMe", struct{}{}, &me); err != nil {
		return Self{}, err
	}
	return Self{ID: me.ID, Username: me.Username, JoinsGroups: me.CanJoinGroups, ReadsAll: me.CanReadAllGroupMessages}, nil
}

// Scope determines where a menu is shown, and to whom.
type Scope string

const (
	GroupMembers Scope = "all_group_chats"
	GroupAdmins  Scope = "all_chat_administrators"
	PrivateChats Scope = "all_private_chats"
)

// Menu is the list of commands that Telegram shows in one scope.
type Menu struct {
	Scope    Scope
	Language string // an ISO 639-1 code; empty for all languages without their own menu
	Commands []models.BotCommand
}

type menuParams struct {
	Scope struct {
		Type Scope `json:"type"`
	} `json:"scope"`
	Language string              `json:"language_code,omitempty"`
	Commands []models.BotCommand `json:"commands,omitempty"`
}

// PublishMenus sets each of these menus, unless Telegram already has it. It stops at the first
// error.
func (c *Client) PublishMenus(ctx context.Context, menus ...Menu) error {
	for _, menu := range menus {
		params := menuParams{Language: menu.Language}
		params.Scope.Type = menu.Scope
		var there []models.BotCommand
		if err := c.request(ctx, "getMyCommands", params, &there); err != nil {
			return fmt.Errorf("read menu: %w", err)
		}
		if slices.Equal(there, menu.Commands) {
			continue
		}
		params.Commands = menu.Commands
		if err := c.request(ctx, "setMyCommands", params, nil); err != nil {
			return fmt.Errorf("publish menu: %w", err)
		}
	}
	return nil
}

// request calls a method that needs only a valid token, and reads its result. It adds the advice of
// explain to errors.
func (c *Client) request(ctx context.Context, method string, params, result any) error {
	return c.explain(c.Call(ctx, method, params, result))
}

// ErrOddResult means that a method succeeded, but its result cannot be read.
var ErrOddResult = errors.New("odd result")

// Call calls a method and decodes its result, unless result is nil. It uploads the files, if there
// are any. The result should declare only the fields that the caller needs, and must not implement
// json.Unmarshaler: many types of the package models reject an entire result if it contains
// something new, although the method has succeeded. Call cannot send parameters that the package
// bot does not encode as plain JSON. Once the request is made, the error is ErrOddResult, *APIError
// or *ConnectionError.
func (c *Client) Call(ctx context.Context, method string, params, result any, files ...File) error {
	body, contentType, err := encode(params, files)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make %s: %w", method, withoutURL(err))
	}
	req.Header.Set("Content-Type", contentType)
	if c.begin != nil {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	return c.ask(req, result)
}

// maxAnswer limits the size of an answer in bytes. 100 of the largest updates fit.
const maxAnswer = 16 << 20

var (
	errTooLarge = errors.New("the answer is too large")
	errNoResult = errors.New("no result")
)

// APIError is an error answer of the Bot API, or an answer that is not the Bot API's own.
type APIError struct {
	Method      string
	Status      int    // HTTP status
	Description string // empty if the answer is not the Bot API's own
	RetryAfter  time.Duration
	MigrateTo   int64 // new id of a group that has become a supergroup, or 0
}

// Error implements error.
func (e *APIError) Error() string {
	if e.Description == "" {
		return fmt.Sprintf("%s: HTTP status %d", e.Method, e.Status)
	}
	return fmt.Sprintf("%s: %d %s", e.Method, e.Status, e.Description)
}

// ConnectionError means that a request got no complete answer.
type ConnectionError struct {
	Method    string
	Connected bool // there was a connection, so the request may have arrived
	Err       error
}

// Error implements error. The text never contains the secret part of the token.
func (e *ConnectionError) Error() string { return fmt.Sprintf("%s: no answer: %v", e.Method, e.Err) }

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// answer is the envelope of every answer of the Bot API.
type answer struct {
	OK          bool   `json:"ok"`
	Result      any    `json:"result"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// ask makes a request and decodes the result of a successful answer. Errors other than ErrOddResult
// are of type *APIError or *ConnectionError. They tell the status, or whether the request may have
// arrived, and never contain the secret part of the token.
func (c *Client) ask(req *http.Request, result any) error {
	method := path.Base(req.URL.Path)
	status, body, err := c.roundTrip(req, method, maxAnswer)
	if err != nil {
		return err
	}
	a := answer{Result: result}
	err = json.Unmarshal(body, &a)
	if !a.OK {
		return &APIError{
			Method: method, Status: status, Description: c.masked(a.Description),
			RetryAfter: time.Duration(a.Parameters.RetryAfter) * time.Second, MigrateTo: a.Parameters.MigrateTo,
		}
	}
	if result == nil {
		return nil
	}
	if err == nil && (a.Result == nil || !bytes.Contains(body, []byte(`"result"`))) {
		err = errNoResult
	}
	if err != nil {
		return fmt.Errorf("%w of %s: %w", ErrOddResult, method, err)
	}
	return nil
}

// roundTrip makes a request and returns the status and the body of the response. The body must have
// at most limit bytes. The status is 0 if there is no response. Errors are of type
// *ConnectionError, and never contain the secret part of the token.
func (c *Client) roundTrip(req *http.Request, method string, limit int64) (status int, body []byte, err error) {
	connected, begun := false, time.Now()
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	resp, err := c.pool.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return 0, nil, &ConnectionError{Method: method, Connected: connected, Err: c.withoutSecret(err)}
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil { // the header is optional
		c.clock.Dated(date, begun, time.Second)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errTooLarge
	}
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return resp.StatusCode, nil, &ConnectionError{Method: method, Connected: true, Err: c.withoutSecret(err)}
	}
	return resp.StatusCode, body, nil
}

// withoutSecret removes the secret part of the token from an error. A server or a proxy may echo
// the request, and errors quote what they cannot parse.
func (c *Client) withoutSecret(err error) error {
	if text := err.Error(); c.masked(text) != text {
		return errors.New(c.masked(text))
	}
	return err
}

func (c *Client) masked(text string) string {
	if c.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, c.secret, "***")
}

// withoutURL removes the URL, which contains the token, from an error of net/url.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
