package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/telegram"
)

// tokenPatience is how long the bot keeps trying while Telegram refuses a token that has worked
// before. Telegram does so for a while when a bot moves between Bot API servers.
const tokenPatience = 10 * time.Minute

type token struct {
	// worked reports whether Telegram has accepted a token of this bot before. If the bot owns the
	// database, Telegram has: a bot claims the database only after Telegram has accepted its token.
	worked bool
	log    *slog.Logger

	mu           sync.Mutex
	refusedSince time.Time // zero if the token is not refused
}

// retry repeats a request, with a time limit for each attempt, until it succeeds or ctx ends. It
// retries after a transient error, and after a refusal of the token if mayRetry returns true. It
// gives up after any other error. failed is the log message for a failure that is retried.
func (t *token) retry(ctx context.Context, failed string, request func(context.Context) error) error {
	backoff := retry.WithJitterPercent(30,
		retry.WithCappedDuration(20*time.Second, retry.NewExponential(500*time.Millisecond)))
	return retry.Do(ctx, backoff, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err := request(ctx)
		if t.mayRetry(ctx, err) || err != nil && telegram.IsTransient(err) {
			t.log.WarnContext(ctx, failed, "error", err) //nolint:sloglint // each caller has a constant
			return retry.RetryableError(err)
		}
		return err
	})
}

// mayRetry takes the outcome of a request to Telegram. It reports whether Telegram refused the
// token but may accept it later: a token of this bot has worked before, and refusals have not
// lasted for tokenPatience yet. Any outcome but a refusal or a transient failure ends the refusals.
func (t *token) mayRetry(ctx context.Context, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := errors.Is(err, telegram.ErrTokenRefused)
	// A transient failure does not show whether the token is valid.
	if err == nil || !refused && !telegram.IsTransient(err) {
		t.refusedSince = time.Time{}
	}
	if !t.worked || !refused {
		return false
	}
	if t.refusedSince.IsZero() {
		t.refusedSince = time.Now()
		t.log.ErrorContext(ctx, "Telegram refuses the token, retrying for ten minutes", "error", err)
	}
	return time.Since(t.refusedSince) < tokenPatience
}
