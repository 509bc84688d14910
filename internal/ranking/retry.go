package ranking

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	// maxRetries is the maximum number of retries of a conflicting command. The delays before them
	// are 100, 200 and 400 ms.
	maxRetries   = 3
	firstBackoff = 100 * time.Millisecond
	// lockRetryDelay is the wait before a command retries after ErrLocked.
	lockRetryDelay = 100 * time.Millisecond
	// defaultTimeout is the time for a command whose context has no deadline.
	defaultTimeout = 10 * time.Second
	// defaultReplay is the default of Settings.LongestReplay. On two shared cores, replaying that
	// many matches and rewriting half of them takes less than a quarter of the time of an attempt.
	// A replay therefore fits into an attempt even on a machine that is several times slower.
	defaultReplay = 10_000
	// contentionMemory is how long the service remembers a conflict in a chat.
	contentionMemory = time.Second
	// timeoutMemory is how long the service remembers the timeout of a command.
	timeoutMemory = 10 * time.Minute
	// maxRemembered is the maximum number of chats, and of commands, to remember.
	maxRemembered = 1000
)

// retryOnConflict calls try, and calls it again while it fails with ErrConflict, at most maxRetries
// times. Within each attempt, it also retries while try fails with ErrLocked and there is time. All
// attempts together get three quarters of the context's time, or of defaultTimeout if the context
// has no deadline. The remaining time is left for a refusal if all attempts fail. logAttrs are
// added to its log messages.
func (s *Service) retryOnConflict(
	ctx context.Context, chat ExternalChatID, try func(ctx context.Context, attempt int) error, logAttrs ...any,
) error {
	left := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, left*3/4)
	defer cancel()
	attempt := 0
	var conflict error // the error of the last attempt, if it was a conflict
	backoff := retry.WithMaxRetries(maxRetries, retry.NewExponential(firstBackoff))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		attempt++
		conflict = nil
		err := s.retryWhileLocked(ctx, func() error { return try(ctx, attempt) }, logAttrs...)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		s.contended.Add(chat, contentionMemory)
		s.log.WarnContext(ctx, "conflict with another transaction",
			slices.Concat(logAttrs, []any{"attempt", attempt, "error", err})...)
		conflict = err
		return retry.RetryableError(err)
	})
	if conflict != nil { // rather than the deadline, which may have passed during the backoff
		return conflict
	}
	return err
}

// retryWhileLocked calls try again while it fails with ErrLocked. It stops when the remaining time
// is too short for the delay and another call of the same length.
func (s *Service) retryWhileLocked(ctx context.Context, try func() error, logAttrs ...any) error {
	deadline, _ := ctx.Deadline()
	for attempt := 1; ; attempt++ {
		started := time.Now()
		err := try()
		if !errors.Is(err, ErrLocked) {
			return err
		}
		s.log.WarnContext(ctx, "lock held by another session",
			slices.Concat(logAttrs, []any{"attempt", attempt, "error", err})...)
		if time.Until(deadline) < lockRetryDelay+time.Since(started) {
			return err
		}
		select {
		case <-time.After(lockRetryDelay):
		case <-ctx.Done():
			return err
		}
	}
}

// shouldAskToRetry reports whether to tell the sender of a failed command to try again. After
// ErrTimeout, the command must have timed out before, and the store must respond now. The first
// timeout may only mean that the database stalled, so the command gets another full attempt.
func (s *Service) shouldAskToRetry(ctx context.Context, o Origin, err error) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrConflict), errors.Is(err, ErrLocked):
		return true
	case !errors.Is(err, ErrTimeout):
		return false
	}
	if _, err := s.store.Read(ctx, Query{Key: o.Key, Chat: o.Chat, KnownChat: true}); err != nil {
		return false
	}
	timedOutBefore := s.timedOut.Has(o.Key)
	s.timedOut.Add(o.Key, timeoutMemory)
	return timedOutBefore
}
