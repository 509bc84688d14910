// Package telegram is the Bot API: the client, how updates come in by polling, what its errors mean, and who the admins of a
// chat are.
package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/clock"
	"elobot/internal/intake"
)

// DefaultURL is Telegram's own Bot API server.
const DefaultURL = "https://api.telegram.org"

// Client talks to the Bot API. Nothing that it returns contains the token.
type Client struct {
	api  *bot.Bot
	http transport
	base string // the URL of a method but for its name
}

// Self is the bot's own account.
type Self struct {
	ID       int64
	Username string
}

// AddToGroupLink is the address that offers to add the bot to a group.
func (s Self) AddToGroupLink() string { return "https://t.me/" + s.Username + "?startgroup=true" }

// NewClient returns a client for the bot with this token at a Bot API server. It makes no request yet.
func NewClient(token, serverURL string) (*Client, error) {
	serverURL = strings.TrimRight(serverURL, "/")
	// Every request is bounded by its context: a long poll must outlast what a message may take.
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 64
	// a connection that has died without a word must not be taken for a slow one
	pool.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}
	id, secret, found := strings.Cut(token, ":")
	if !found {
		secret = id
	}
	t := transport{pool: pool, clock: new(clock.Remote), secret: secret}
	base := serverURL + "/bot" + token + "/"
	if _, err := url.Parse(base); err != nil { // the library would quote it, token and all
		return nil, fmt.Errorf("make Bot API client: address or token: %w", withoutURL(err))
	}
	api, err := bot.New(token, bot.WithSkipGetMe(), bot.WithServerURL(serverURL), bot.WithHTTPClient(0, t))
	if err != nil {
		return nil, fmt.Errorf("make Bot API client: %w", err)
	}
	return &Client{api: api, http: t, base: base}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.pool.CloseIdleConnections() }

// Clock returns what Telegram's clock shows, by which messages are dated. ok is false as long as Telegram has not answered.
func (c *Client) Clock() (now time.Time, ok bool) { return c.http.clock.Now() }

// Now is Clock, or this machine's clock as long as nothing is known of Telegram's.
func (c *Client) Now() time.Time {
	if now, ok := c.Clock(); ok {
		return now
	}
	return time.Now()
}

// GetMe returns the bot's account.
func (c *Client) GetMe(ctx context.Context) (Self, error) {
	me, err := c.api.GetMe(ctx)
	if err != nil {
		return Self{}, fmt.Errorf("ask for the bot's account: %w", err)
	}
	return Self{ID: me.ID, Username: me.Username}, nil
}

// Menu is the list of commands that Telegram shows in one kind of chat.
type Menu struct {
	Scope    models.BotCommandScope
	Commands []models.BotCommand
}

// PublishMenus gives the bot its menus of commands, where they differ from what Telegram has.
func (c *Client) PublishMenus(ctx context.Context, menus ...Menu) error {
	for _, menu := range menus {
		there, err := c.api.GetMyCommands(ctx, &bot.GetMyCommandsParams{Scope: menu.Scope})
		if err != nil {
			return fmt.Errorf("read menu: %w", err)
		}
		if slices.Equal(there, menu.Commands) {
			continue
		}
		_, err = c.api.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: menu.Commands, Scope: menu.Scope})
		if err != nil {
			return fmt.Errorf("publish menu: %w", err)
		}
	}
	return nil
}

// allowedUpdates are the kinds of updates that the bot asks for. They are sent with every request, because Telegram
// keeps the last setting otherwise.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"}

// pollMargin is how much longer than Telegram may wait a request for updates waits for its answer.
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
	var ignored []json.RawMessage // what comes back is not confirmed, and comes again
	return c.getUpdates(ctx, pollParams{Offset: offset, Limit: 1, Allowed: allowedUpdates}, &ignored)
}

type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

// getUpdates makes the request that the library offers only together with its own way of taking updates.
func (c *Client) getUpdates(ctx context.Context, params pollParams, updates *[]json.RawMessage) error {
	result, err := c.Call(ctx, "getUpdates", params)
	if err != nil {
		return pollError(err)
	}
	if err := json.Unmarshal(result, updates); err != nil {
		return fmt.Errorf("read updates: %w", err)
	}
	return nil
}

// Call makes a request with the parameters of a method, and returns its result as it came. Whatever comes often, or may
// hold what the library does not know, goes this way: the library's own way would refuse all of an answer for one unknown
// type in it, though what was asked for has been done, and hands the request on in a form, piece by piece. Parameters that
// the library marshals in a way of its own, as files and the scopes of commands, cannot go this way.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", method, withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	a, err := c.http.ask(req)
	return a.Result, err
}
