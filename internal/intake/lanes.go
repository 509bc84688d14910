package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// maxInHand is how many updates there can be at the same time: what Telegram shows of the unconfirmed ones.
	maxInHand = 100
	// giveUpAfter is how long an update is tried that fails for a reason of its own. It must not be long: everything
	// behind it stays unconfirmed meanwhile.
	giveUpAfter = 5 * time.Second
	// attemptTimeout bounds one attempt, to handle or to bury, so that a connection that hangs is noticed.
	attemptTimeout = 10 * time.Second
	// Waits between attempts: they double from firstRetry to lastRetry.
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Second
	// tellEvery is how often the log says that the database is away.
	tellEvery = time.Minute
)

// lanes handles the updates of each lane one after the other, different lanes side by side.
type lanes struct {
	worker worker
	done   chan int64 // the ids of updates that are done with

	mu      sync.Mutex
	waiting map[int64][]Update // by lane; a lane that is here has a goroutine
	all     sync.WaitGroup
}

func newLanes(w worker) *lanes {
	return &lanes{worker: w, done: make(chan int64, maxInHand), waiting: make(map[int64][]Update)}
}

// add puts an update into its lane. When the context ends, the updates that are not done stay undone.
func (l *lanes) add(ctx context.Context, u Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, active := l.waiting[u.Lane]
	l.waiting[u.Lane] = append(queue, u)
	if !active {
		l.all.Go(func() { l.run(ctx, u.Lane) })
	}
}

// run handles the updates of a lane until there are none.
func (l *lanes) run(ctx context.Context, lane int64) {
	for {
		l.mu.Lock()
		queue := l.waiting[lane]
		if len(queue) == 0 || ctx.Err() != nil {
			delete(l.waiting, lane)
			l.mu.Unlock()
			return
		}
		u := queue[0]
		l.waiting[lane] = queue[1:]
		l.mu.Unlock()
		if !l.worker.process(ctx, u) {
			continue
		}
		select {
		case l.done <- u.ID:
		case <-ctx.Done():
		}
	}
}

// wait returns when no lane is running. The context given to add must have ended.
func (l *lanes) wait() { l.all.Wait() }

// worker brings one update to its end.
type worker struct {
	handle      Handler
	dead        DeadLetters
	unavailable func(error) bool
	log         *slog.Logger
}

// process tries an update until it has been handled or lies among the dead letters, and returns false if the context
// ended before.
func (w worker) process(ctx context.Context, u Update) bool {
	first, failing := time.Now(), time.Time{} // when it came, and since when it fails for a reason of its own
	told := time.Time{}
	pause := firstRetry
	for attempt := 1; ctx.Err() == nil; attempt++ {
		err := w.attempt(ctx, u)
		if err == nil {
			return true
		}
		switch {
		case ctx.Err() != nil:
			return false
		case w.unavailable(err):
			failing, pause = time.Time{}, lastRetry
			if time.Since(told) >= tellEvery {
				w.log.ErrorContext(ctx, "updates have to wait for the database", "update_id", u.ID, "error", err)
				told = time.Now()
			}
		case failing.IsZero() && !errors.Is(err, ErrUnreadable):
			failing, pause = time.Now(), firstRetry
			w.log.WarnContext(ctx, "update failed, trying again", "update_id", u.ID, "error", err)
		case errors.Is(err, ErrUnreadable), time.Since(failing) >= giveUpAfter:
			letter := DeadLetter{Update: u, LastError: err.Error(), Attempts: attempt, FirstSeen: first}
			if err := w.bury(ctx, letter); err == nil {
				return true
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, lastRetry)
	}
	return false
}

// attempt handles the update once. A handler that panics has failed.
func (w worker) attempt(ctx context.Context, u Update) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(ctx, "handler panicked", "update_id", u.ID, "stack", string(debug.Stack()))
			err = fmt.Errorf("handler panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return w.handle(ctx, u)
}

func (w worker) bury(ctx context.Context, letter DeadLetter) error {
	keeping, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if err := w.dead.Keep(keeping, letter); err != nil {
		w.log.ErrorContext(ctx, "cannot keep a dead letter, trying again", "update_id", letter.Update.ID, "error", err)
		return err
	}
	w.log.ErrorContext(ctx, "update was given up and lies among the dead letters", "update_id", letter.Update.ID,
		"attempts", letter.Attempts, "error", letter.LastError)
	return nil
}
