package botsim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"elobot/internal/botsim/webhook"
)

// Option changes how a Server is made.
type Option func(*options)

type options struct {
	address     string
	token       string
	botUsername string
	clock       func() time.Time
	recordLimit int
	limits      Limits

	webhookDelays func(attempt int) time.Duration
}

func defaultOptions() options {
	return options{
		address:     "127.0.0.1:0",
		token:       "7000000001:AAsimulated_bot_token_opens_nothing",
		botUsername: "elo_bot",
		clock:       time.Now,

		webhookDelays: webhook.RetryDelay,
	}
}

// WithAddress sets the address to listen on. The default is a free port of the loopback interface. The server asks nobody who they
// are, so the address must not be reachable from other machines.
func WithAddress(address string) Option { return func(o *options) { o.address = address } }

// WithToken sets the bot's token. The number before the colon is the bot's user id.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// WithBotUsername sets the bot's username, without the @. The default is elo_bot.
func WithBotUsername(name string) Option { return func(o *options) { o.botUsername = name } }

// WithClock sets the clock for the dates of messages, the limits and the lifetime of faults. Long polls, delays and
// retries of deliveries always use real time.
func WithClock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// WithRecordLimit keeps only the last n calls and the last n deliveries in the record; 0, the default, keeps all.
func WithRecordLimit(n int) Option { return func(o *options) { o.recordLimit = n } }

// WithLimits makes the server respond 429 to sends beyond the limits. By default there are no limits.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = l } }

// WithWebhookDelays sets the delay before the next attempt of a delivery, after attempt 1, 2, 3 … has failed without a
// Retry-After. The default is 0, then 2, 4, 8 … seconds, at most 60.
func WithWebhookDelays(after func(attempt int) time.Duration) Option {
	return func(o *options) { o.webhookDelays = after }
}

func botUser(o options) (User, error) {
	prefix, _, ok := strings.Cut(o.token, ":")
	id, err := strconv.ParseInt(prefix, 10, 64)
	if !ok || err != nil || id <= 0 {
		return User{}, fmt.Errorf("bot token %q does not begin with the bot's id and a colon", o.token)
	}
	return User{ID: id, IsBot: true, FirstName: "Elo", Username: o.botUsername}, nil
}
