package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"elobot/internal/bot"
	"elobot/internal/intake"
	"elobot/internal/postgres"
	"elobot/internal/telegram"
)

// source is the leader's source of updates. While the lease is expired, it neither begins a poll
// nor confirms anything: a poll would cut off a poll of a successor, and only the successor may
// confirm updates. A long poll that has already begun continues.
type source struct {
	client   *telegram.Client
	lease    *postgres.Lease
	token    *token
	incoming *incoming
}

// Updates implements intake.Source.
func (s source) Updates(ctx context.Context, offset int64, wait time.Duration) ([]intake.Update, error) {
	if err := s.awaitLease(ctx); err != nil {
		return nil, err
	}
	updates, err := s.client.Updates(ctx, offset, wait, bot.ReadUpdate)
	s.incoming.note(arriving, err == nil)
	if failed := (*intake.SourceError)(nil); s.token.mayRetry(ctx, err) && errors.As(err, &failed) {
		failed.Fatal = false
	}
	return updates, err
}

func (s source) awaitLease(ctx context.Context) error {
	const interval = 100 * time.Millisecond
	for s.lease.Remaining() <= 0 {
		s.incoming.note(arriving, false)
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Confirm implements intake.Source.
func (s source) Confirm(ctx context.Context, offset int64) error {
	if s.lease.Remaining() <= 0 {
		return nil
	}
	return s.client.Confirm(ctx, offset)
}

// inputStage is one of the two stages that a message passes through. Each can break while the other
// works.
type inputStage int

const (
	// arriving is broken until a leader's first poll has succeeded, while polls fail, and while a
	// poll must wait for the lease. With a webhook, it is never broken.
	arriving inputStage = iota
	// handling counts as broken until a leader has read the due timers for the first time, and
	// while it fails to read them: reading timers needs the database, as handling messages does.
	handling
)

// incoming tracks for how long both stages have worked without interruption.
type incoming struct {
	mu     sync.Mutex
	broken [2]bool   // by stage
	since  time.Time // when a broken stage last recovered; zero if none has
}

func (i *incoming) note(s inputStage, works bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if works && i.broken[s] {
		i.since = time.Now()
	}
	i.broken[s] = !works
}

// steadyFor returns how long both stages have been working. It returns 0 if either is broken, and
// the maximum duration if neither has ever been broken.
func (i *incoming) steadyFor() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.Contains(i.broken[:], true) {
		return 0
	}
	return time.Since(i.since)
}
