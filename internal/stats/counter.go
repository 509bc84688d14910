package stats

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const (
	// countInterval is how often new matches are counted. With the time that it takes, questions get answers that are at most a few
	// seconds old.
	countInterval = time.Second
	// turn is how long other steps go on before new matches are counted again.
	turn = 500 * time.Millisecond
	// progressInterval is how often the progress of recounts is logged.
	progressInterval = 5 * time.Second
	// stepTimeout limits one step.
	stepTimeout = 30 * time.Second
)

// TallyStore keeps the tallies of ladders. Each method is a step that takes effect completely or not at all, so it can be repeated
// after a failure. If steps of two instances meet, one fails or comes after the other.
type TallyStore interface {
	// Count brings up to date what the oldest marks ask for, and removes them. It reports whether there may be more.
	Count(ctx context.Context) (more bool, err error)
	// Recount counts some matches of a ladder that is being recounted. The step has no ladder if there is none.
	Recount(ctx context.Context) (RecountStep, error)
	// Place calculates the places of some days ago in a ladder where that is due. It returns false if there is none.
	Place(ctx context.Context, now time.Time) (bool, error)
}

// RecountStep is a step of the recount of a ladder.
type RecountStep struct {
	Ladder             ranking.LadderID // 0 if no ladder is to be recounted
	Players, OfPlayers int              // how many players are done, unless all are
	Complete           bool
}

// Counter keeps the tallies up to date. Only the leader runs it.
type Counter struct {
	store    TallyStore
	now      func() time.Time
	log      *slog.Logger
	reported time.Time // when progress was last logged
}

// NewCounter returns a counter. now is the messenger's clock, which dates matches.
func NewCounter(store TallyStore, now func() time.Time, log *slog.Logger) *Counter {
	return &Counter{store: store, now: now, log: log}
}

// Run counts at intervals until the context ends or the lease is lost.
func (c *Counter) Run(ctx context.Context) {
	tick := time.NewTicker(countInterval)
	defer tick.Stop()
	failing := false
	for {
		more, err := c.CatchUp(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, outbox.ErrLeaseLost):
			return
		case err != nil && !failing:
			c.log.WarnContext(ctx, "failed to count matches for questions, retrying", "error", err)
		}
		if failing = err != nil; more {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// CatchUp counts all new matches, and does other steps for a while. It reports whether there are more.
func (c *Counter) CatchUp(ctx context.Context) (more bool, err error) {
	for more = true; more; {
		if more, err = limited(ctx, c.store.Count); err != nil {
			return false, err
		}
	}
	for began := time.Now(); time.Since(began) < turn; {
		placed, err := limited(ctx, func(ctx context.Context) (bool, error) { return c.store.Place(ctx, c.now()) })
		if err != nil {
			return false, err
		}
		if placed {
			continue
		}
		step, err := limited(ctx, c.store.Recount)
		if err != nil || step.Ladder == 0 {
			return false, err
		}
		c.report(ctx, step)
	}
	return true, nil
}

// report logs the progress of a recount.
func (c *Counter) report(ctx context.Context, s RecountStep) {
	if !s.Complete && time.Since(c.reported) < progressInterval {
		return
	}
	if s.Complete {
		c.log.DebugContext(ctx, "counted the matches of a group for questions", "ladder_id", s.Ladder)
		return
	}
	c.reported = time.Now()
	c.log.InfoContext(ctx, "counting the matches of a group for questions", "ladder_id", s.Ladder, "players", s.Players, "of_players", s.OfPlayers)
}

// limited runs a step for a limited time.
func limited[T any](ctx context.Context, step func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return step(ctx)
}
