package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/telegram"
)

// TestRefusedToken checks that a token that has worked is retried until its refusals, interrupted
// by nothing but transient failures, have lasted for ten minutes. The log reports each such period
// once. Any other token is not retried.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("getMe: %w", telegram.ErrTokenRefused)
	ctx := context.Background()
	for _, worked := range []bool{false, true} {
		t.Run(fmt.Sprint("worked: ", worked), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				k := &token{worked: worked, log: slog.New(slog.NewTextHandler(&log, nil))}
				check := func(at time.Duration, err error, want bool) {
					t.Helper()
					<-time.After(at)
					if got := k.mayRetry(ctx, err); got != (want && worked) {
						t.Errorf("retried: %t", got)
					}
				}
				check(0, refused, true)
				check(10*time.Minute-1, refused, true)
				if k.mayRetry(ctx, nil) {
					t.Error("a success is retried")
				}
				check(time.Minute, refused, true)
				check(5*time.Minute, &telegram.ConnectionError{Err: errors.New("reset")}, false)
				check(5*time.Minute-1, refused, true)
				check(1, refused, false)
				check(time.Hour, refused, false)
				check(0, errors.New("something else"), false)
				want := 0
				if worked {
					want = 2
				}
				if got := strings.Count(log.String(), "level=ERROR"); got != want {
					t.Errorf("%d lines in the log, want %d:\n%s", got, want, log.String())
				}
			})
		})
	}
}
