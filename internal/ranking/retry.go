package ranking

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	// How often a command that conflicts with others is tried again, and how long it waits first: 10, 20 and 40 ms.
	maxRetries = 3
	firstWait  = 10 * time.Millisecond
	// lockPause is the wait before a command asks once more for what somebody else holds.
	lockPause = 100 * time.Millisecond
	// patience bounds a command whose context has no deadline.
	patience = 10 * time.Second
	// rivalFor is how long a conflict in a chat is remembered.
	conflictMemory = time.Second
	// slowFor is how long a command is remembered that was not done in time.
	slowFor = 10 * time.Minute
)

// insist tries until there is no conflict with another transaction, a few times at most. It waits for what somebody else
// holds as long as there is time. A quarter of the time that the context has is left for an answer to a command that could
// not be done. What insist logs says what it is about.
func (s *Service) retryOnConflict(ctx context.Context, chat ExternalChatID, try func(ctx context.Context, attempt int) error,
	about ...any,
) error {
	left := patience
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, left*3/4)
	defer cancel()
	attempt := 0
	var conflict error // what the last attempt has ended with
	backoff := retry.WithMaxRetries(maxRetries, retry.NewExponential(firstWait))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		attempt++
		conflict = nil
		err := s.await(ctx, func() error { return try(ctx, attempt) }, about...)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		s.recentConflicts.seen(chat, time.Now())
		s.log.WarnContext(ctx, "conflict with another transaction",
			slices.Concat(about, []any{"attempt", attempt, "error", err})...)
		conflict = err
		return retry.RetryableError(err)
	})
	if conflict != nil { // the time may have run out in the pause after it, which is no reason of its own
		return conflict
	}
	return err
}

// await tries again while somebody else holds what is needed, as long as there is time for one more wait like the last.
func (s *Service) await(ctx context.Context, try func() error, about ...any) error {
	deadline, _ := ctx.Deadline()
	for attempt := 1; ; attempt++ {
		begun := time.Now()
		err := try()
		if !errors.Is(err, ErrLocked) {
			return err
		}
		s.log.WarnContext(ctx, "somebody else holds what a command needs",
			slices.Concat(about, []any{"attempt", attempt, "error", err})...)
		if time.Until(deadline) < lockPause+time.Since(begun) {
			return err
		}
		timer := time.NewTimer(lockPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// apologises says whether to answer a command that ended with the error by asking its sender to try again. After a time-out
// it waits for a second one, and for a store that answers: the first may only mean that the database stood still, and each
// command gets one whole attempt against a database that works.
func (s *Service) asksToRetry(ctx context.Context, o Origin, err error) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrConflict), errors.Is(err, ErrLocked):
		return true
	case !errors.Is(err, ErrTimeout):
		return false
	}
	if _, err := s.store.Read(ctx, Query{Key: o.Key, Chat: o.Chat}); err != nil {
		return false
	}
	redecide := s.slow.has(o.Key, time.Now(), slowFor)
	s.slow.seen(o.Key, time.Now())
	return redecide
}
