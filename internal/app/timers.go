package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const (
	// timerInterval is how often the leader looks for due timers. It leaves half a minute to fire
	// them, so that timers normally fire less than a minute late. Ends of seasons may take longer.
	timerInterval = 30 * time.Second
	// timersAtOnce is the maximum number of timers read at once.
	timersAtOnce = 100
	// timersInParallel is how many timers each loop may fire concurrently. A timer that waits for
	// its group then does not delay all others.
	timersInParallel = 4
	// seasonRest is the pause after ending a season, as a multiple of the time that ending it took.
	// Many seasons end at the same instant, and ending them must not hold up results.
	seasonRest = 9
	// timerTimeout limits each attempt to read due timers, or to fire one.
	timerTimeout = 5 * time.Second
	// longInterval is how often the leader looks for due timers whose action takes long, because
	// somebody waits for them. longTimeout limits each attempt to fire one.
	longInterval = 2 * time.Second
	longTimeout  = 10 * time.Minute
)

type timerService interface {
	DueTimers(ctx context.Context, after ranking.Timer, limit int) ([]ranking.Timer, error)
	FireTimer(ctx context.Context, t ranking.Timer) error
}

// timers fires the timers that are due.
type timers struct {
	service  timerService
	kind     timerKind
	incoming *incoming
	log      *slog.Logger
}

// timerKind is the kind of the timers that a loop fires. Each kind has its own loop, because some
// timers must not delay others: many seasons may end at the same instant, and others take long.
type timerKind int

const (
	shortTimers timerKind = iota
	seasonTimers
	longTimers
)

func kindOf(t ranking.Timer) timerKind {
	switch {
	case strings.HasPrefix(t.Key, ranking.SeasonTimer):
		return seasonTimers
	case strings.HasPrefix(t.Key, ranking.LongTimer):
		return longTimers
	}
	return shortTimers
}

// interval returns how often to look for due timers, and timeout the limit of an attempt to fire
// one.
func (k timerKind) interval() (interval, timeout time.Duration) {
	if k == longTimers {
		return longInterval, longTimeout
	}
	return timerInterval, timerTimeout
}

// run looks for due timers at once and then at intervals, until the context ends or the lease is
// lost.
func (t timers) run(ctx context.Context) {
	t.incoming.note(handling, false) // until the first look has succeeded
	interval, _ := t.kind.interval()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		err := t.look(ctx)
		if ctx.Err() != nil || errors.Is(err, outbox.ErrLeaseLost) {
			return
		}
		if err != nil {
			t.log.WarnContext(ctx, "failed to look for due timers, retrying later", "error", err)
		}
		t.incoming.note(handling, err == nil)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look passes each due timer to fireAll once, unless reading the timers or fireAll fails. A timer
// that was not fired stays due, so the next look retries it.
func (t timers) look(ctx context.Context) error {
	var last ranking.Timer
	for {
		reading, cancel := context.WithTimeout(ctx, timerTimeout)
		due, err := t.service.DueTimers(reading, last, timersAtOnce)
		cancel()
		if err != nil {
			return err
		}
		if err := t.fireAll(ctx, due); err != nil || len(due) < timersAtOnce {
			return err
		}
		last = due[len(due)-1]
	}
}

// fireAll fires the timers in due that t is responsible for. It skips the end of a season while
// messages from before that end may still arrive. It fails only if the context ends or the lease is
// lost.
func (t timers) fireAll(ctx context.Context, due []ranking.Timer) error {
	firing, ctx := errgroup.WithContext(ctx)
	firing.SetLimit(timersInParallel)
	for _, timer := range due {
		if kindOf(timer) != t.kind {
			continue
		}
		if t.kind == seasonTimers && t.incoming.steadyFor() < ranking.AfterSeason {
			continue
		}
		firing.Go(func() error {
			begun := time.Now()
			err := t.fire(ctx, timer)
			var rest time.Duration
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, outbox.ErrLeaseLost):
				return err
			case errors.Is(err, ranking.ErrUnknownTimer):
				t.log.DebugContext(ctx, "left a timer to a newer release", "key", timer.Key, "chat_id", timer.Chat)
			case err != nil:
				t.log.ErrorContext(ctx, "failed to fire a timer, retrying later",
					"key", timer.Key, "chat_id", timer.Chat, "error", err)
				if t.kind == longTimers {
					rest = timerInterval
				}
			case t.kind == seasonTimers:
				rest = seasonRest * time.Since(begun)
			}
			select {
			case <-time.After(rest):
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}
	return firing.Wait()
}

// fire fires one timer. It turns a panic into an error, because otherwise the timer would crash the
// process again after each start.
func (t timers) fire(ctx context.Context, timer ranking.Timer) (err error) {
	_, timeout := t.kind.interval()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	err = t.service.FireTimer(ctx, timer)
	crashpoint.At(crashpoint.Fired)
	return err
}
