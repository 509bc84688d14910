// Package telegram is a client of the Bot API: requests, polling for updates, the webhook, the kinds of errors, and the admins of a chat.
package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"elobot/internal/clock"
	"elobot/internal/intake"
)

// DefaultURL is Telegram's own Bot API server.
const DefaultURL = "https://api.telegram.org"

// Client talks to the Bot API. Nothing that it returns contains the token.
type Client struct {
	http   transport
	server string                      // its URL without the path, which may be a secret
	base   string                      // URL of a method without its name
	begin  func(context.Context) error // called before each Call and Upload; nil: nothing is
}

// Self is the bot's own account.
type Self struct {
	ID       int64
	Username string
	// JoinsGroups is false if nobody can add the bot to a group. ReadsAll is true if privacy mode is off.
	JoinsGroups, ReadsAll bool
}

// AddToGroupLink returns the link that adds the bot to a group.
func (s Self) AddToGroupLink() string { return "https://t.me/" + s.Username + "?startgroup=true" }

// NewClient returns a client for the bot with this token at a Bot API server. It makes no request yet.
func NewClient(token, serverURL string) (*Client, error) {
	if strings.TrimSpace(token) == "" {
		return nil, errors.New("make Bot API client: no token")
	}
	serverURL = strings.TrimRight(serverURL, "/")
	// The context limits the time of each request: a long poll takes longer than a message may.
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64
	// detect dead connections, which otherwise look like slow ones
	pool.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}
	id, secret, found := strings.Cut(token, ":")
	if !found {
		secret = id
	}
	t := transport{pool: pool, clock: new(clock.Remote), secret: secret}
	base := serverURL + "/bot" + token + "/"
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("make Bot API client: address or token: %w", withoutURL(err))
	}
	return &Client{http: t, server: u.Scheme + "://" + u.Host, base: base}, nil
}

// Asking returns a client whose Call and Upload call begin before each request, and make none if that fails.
func (c *Client) Asking(begin func(context.Context) error) *Client {
	asking := *c
	asking.begin = begin
	return &asking
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.pool.CloseIdleConnections() }

// Clock returns the time of Telegram's clock, which dates messages. ok is false until Telegram has answered a request.
func (c *Client) Clock() (now time.Time, ok bool) { return c.http.clock.Now() }

// Now returns the time of Telegram's clock, or of the local clock until Telegram has answered a request.
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

// Scope is where a menu is shown, and who sees it.
type Scope string

// The scopes of the bot's menus.
const (
	GroupMembers Scope = "all_group_chats"
	GroupAdmins  Scope = "all_chat_administrators"
	PrivateChats Scope = "all_private_chats"
)

// Menu is the list of commands that Telegram shows in one scope.
type Menu struct {
	Scope    Scope
	Language string // an ISO 639-1 code; empty for everybody whose language has no menu
	Commands []models.BotCommand
}

type menuParams struct {
	Scope struct {
		Type Scope `json:"type"`
	} `json:"scope"`
	Language string              `json:"language_code,omitempty"`
	Commands []models.BotCommand `json:"commands,omitempty"`
}

// PublishMenus sets the menus of commands that differ from those at Telegram.
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
		if err := c.request(ctx, "setMyCommands", params, new(bool)); err != nil {
			return fmt.Errorf("publish menu: %w", err)
		}
	}
	return nil
}

// allowedUpdates are the kinds of updates that the bot receives. Every request sends them, because Telegram otherwise keeps the last
// setting.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"}

// pollMargin is how long a poll waits for its answer beyond the time that Telegram may wait.
const pollMargin = 10 * time.Second

var _ intake.Source = (*Client)(nil)

// Updates implements intake.Source.
func (c *Client) Updates(ctx context.Context, offset int64, wait time.Duration) ([]intake.Update, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+pollMargin)
	defer cancel()
	var raws []json.RawMessage
	err := c.getUpdates(ctx, pollParams{Offset: offset, Limit: 100, Timeout: int(wait.Seconds()), Allowed: allowedUpdates}, &raws)
	if err != nil {
		return nil, err
	}
	return readUpdates(raws)
}

// Confirm implements intake.Source.
func (c *Client) Confirm(ctx context.Context, offset int64) error {
	var ignored []json.RawMessage // these updates stay unconfirmed and are delivered again
	return c.getUpdates(ctx, pollParams{Offset: offset, Limit: 1, Allowed: allowedUpdates}, &ignored)
}

type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

func (c *Client) getUpdates(ctx context.Context, params pollParams, updates *[]json.RawMessage) error {
	return pollError(c.request(ctx, "getUpdates", params, updates))
}

// request calls a method that needs nothing but a valid token, and reads its result. Its errors say what the operator can do.
func (c *Client) request(ctx context.Context, method string, params, result any) error {
	raw, err := c.Call(ctx, method, params)
	if err != nil {
		return c.explain(err)
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", method, err)
	}
	return nil
}

// Call calls a method and returns its raw result, which may contain something new: the library of the Bot API would reject the whole result
// for that, although the request has succeeded. Call cannot send parameters that the library encodes in its own way; Upload sends files.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	return c.post(ctx, method, body, "application/json")
}

// post makes a request and returns its raw result.
func (c *Client) post(ctx context.Context, method string, body []byte, contentType string) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", method, withoutURL(err))
	}
	req.Header.Set("Content-Type", contentType)
	if c.begin != nil {
		if err := c.begin(ctx); err != nil {
			return nil, err
		}
	}
	a, err := c.http.ask(req)
	return a.Result, err
}
