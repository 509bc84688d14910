package stats

import (
	"context"
	"errors"
	"log/slog"
	"sync"
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
	// leftOutFor is for how long a ladder is left out after a step has failed there.
	leftOutFor = time.Minute
)

// TallyStore keeps the tallies of ladders. Each method except Survey is a step that takes effect completely or not at all, so it can be
// repeated after a failure. If steps of two instances meet, one fails or comes after the other. Ladders in except are left out.
type TallyStore interface {
	// Count brings up to date what the oldest marks ask for, and removes them. It reports whether there may be more.
	Count(ctx context.Context, except ...ranking.LadderID) (more bool, err error)
	// CountNext is Count for a few marks of one ladder, the first after this one that has marks. It returns that ladder even if it fails
	// there, 0 if there is none.
	CountNext(ctx context.Context, after ranking.LadderID, except ...ranking.LadderID) (ranking.LadderID, error)
	// Recount counts some matches of a ladder that is being recounted. The step has no ladder if there is none, and has one even if it
	// fails there.
	Recount(ctx context.Context, except ...ranking.LadderID) (RecountStep, error)
	// Place calculates the places of some days ago in a ladder where that is due. The step has no ladder if there is none, and has one
	// even if it fails there.
	Place(ctx context.Context, now time.Time, except ...ranking.LadderID) (PlaceStep, error)
	// Survey measures what is to be counted.
	Survey(ctx context.Context) (TallySurvey, error)
}

// RecountStep is a step of the recount of a ladder.
type RecountStep struct {
	Ladder             ranking.LadderID // 0 if no ladder is to be recounted
	Players, OfPlayers int              // how many players are done, unless all are
	Complete           bool
}

// PlaceStep says where places were calculated.
type PlaceStep struct {
	Ladder ranking.LadderID // 0 if none were due
	Chat   outbox.ChatID    // that of the ladder, 0 for none
}

// Counter keeps the tallies up to date. Only the leader runs it.
type Counter struct {
	store    TallyStore
	now      func() time.Time
	log      *slog.Logger
	placed   func(outbox.ChatID) // see WhenPlaced
	reported time.Time           // when progress was last logged

	leftOut      []ranking.LadderID // until leftOutUntil, because a step has failed there
	leftOutUntil time.Time

	mu    sync.Mutex
	stats CounterStats
}

// NewCounter returns a counter. now is the messenger's clock, which dates matches.
func NewCounter(store TallyStore, now func() time.Time, log *slog.Logger) *Counter {
	return &Counter{store: store, now: now, log: log, placed: func(outbox.ChatID) {}}
}

// WhenPlaced sets what is called with the chat of a ladder whose places were calculated, which changes how its ranking looks. It must
// not block. Call it before Run.
func (c *Counter) WhenPlaced(f func(outbox.ChatID)) { c.placed = f }

// Run counts at intervals until the context ends or the lease is lost.
func (c *Counter) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	var surveyor sync.WaitGroup
	surveyor.Go(func() { c.survey(ctx) })
	c.count(ctx)
	stop()
	surveyor.Wait()
	c.surveyed(TallySurvey{})
}

func (c *Counter) count(ctx context.Context) {
	tick := time.NewTicker(countInterval)
	defer tick.Stop()
	failing := false
	for {
		more, err := c.CatchUp(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, outbox.ErrLeaseLost):
			return
		case err != nil:
			c.failed()
			if !failing {
				c.log.WarnContext(ctx, "failed to count matches for questions, retrying", "error", err)
			}
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

// CatchUp counts all new matches, and does other steps for a while. It reports whether there are more. It leaves out ladders where a step
// has failed in the last minute, so that they do not keep the others waiting.
func (c *Counter) CatchUp(ctx context.Context) (more bool, err error) {
	if !time.Now().Before(c.leftOutUntil) {
		c.leftOut = nil
	}
	for more = true; more; {
		more, err = limited(ctx, func(ctx context.Context) (bool, error) { return c.store.Count(ctx, c.leftOut...) })
		if err != nil {
			c.countEach(ctx)
			return false, err
		}
	}
	for began := time.Now(); time.Since(began) < turn; {
		place, err := limited(ctx, func(ctx context.Context) (PlaceStep, error) { return c.store.Place(ctx, c.now(), c.leftOut...) })
		if err != nil {
			c.leaveOut(ctx, place.Ladder, err)
			return false, err
		}
		if place.Ladder != 0 {
			if place.Chat != 0 {
				c.placed(place.Chat)
			}
			continue
		}
		step, err := limited(ctx, func(ctx context.Context) (RecountStep, error) { return c.store.Recount(ctx, c.leftOut...) })
		if err != nil {
			c.leaveOut(ctx, step.Ladder, err)
			return false, err
		}
		if step.Ladder == 0 {
			return false, nil
		}
		c.report(ctx, step)
	}
	return true, nil
}

// countEach counts some new matches of each ladder by itself, to find out where that fails.
func (c *Counter) countEach(ctx context.Context) {
	for after := ranking.LadderID(0); ; {
		ladder, err := limited(ctx, func(ctx context.Context) (ranking.LadderID, error) {
			return c.store.CountNext(ctx, after, c.leftOut...)
		})
		if err != nil {
			c.leaveOut(ctx, ladder, err)
		}
		if ladder == 0 {
			return
		}
		after = ladder
	}
}

// leaveOut leaves out a ladder for some time, because a step has failed there.
func (c *Counter) leaveOut(ctx context.Context, ladder ranking.LadderID, err error) {
	if ladder == 0 || ctx.Err() != nil || errors.Is(err, outbox.ErrLeaseLost) {
		return
	}
	c.log.ErrorContext(ctx, "failed to count the matches of a group for questions, retrying in a minute", "ladder_id", ladder, "error", err)
	c.leftOut = append(c.leftOut, ladder)
	c.leftOutUntil = time.Now().Add(leftOutFor)
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
