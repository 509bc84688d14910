package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"elobot/internal/crashpoint"
)

const (
	// giveUpAfter is how long after it has failed first an update is tried again that fails for a reason of its own. It
	// must not be long: everything behind it stays unconfirmed meanwhile.
	giveUpAfter = 5 * time.Second
	// giveUpSoon is the same where the update before has just been given up, so that many bad ones in one chat do not
	// add up to minutes.
	giveUpSoon = 500 * time.Millisecond
	// rememberDeath is for how long an update counts as the one that has just been given up.
	rememberDeath = time.Minute
	// cutAfter is when an attempt at an update is cut off, so that what hangs comes to its end like what fails. After a failure
	// it is counted from the beginning of the attempt that failed first.
	cutAfter = 9 * time.Second
	// keepWithin bounds the keeping of a dead letter.
	keepWithin = 3 * time.Second
	// Waits between attempts: they double from firstRetry to lastRetry.
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Second
)

// Worker brings updates to their end, whichever way they come. There is one in a process, so that all of them know
// together when the database is away.
type Worker struct {
	handle   Handler
	dead     DeadLetters
	class    func(error) Class
	database *outage
	recent   *recent
	careful  careful
	log      *slog.Logger

	mu   sync.Mutex
	died map[int64]time.Time // the lanes whose last update was given up, and when
}

// NewWorker returns a worker that hands updates to handle and keeps among the dead letters what fails for a reason of
// its own. class says what an error of either means, and may take a second to find out.
func NewWorker(handle Handler, dead DeadLetters, class func(error) Class, log *slog.Logger) *Worker {
	return &Worker{
		handle: handle, dead: dead, class: class, log: log,
		database: newOutage(log),
		recent:   newRecent(),
		careful:  careful{turn: make(chan struct{}, 1)},
		died:     make(map[int64]time.Time),
	}
}

// persist tries an update until it has been handled or lies among the dead letters, and returns false if the context
// ended before.
func (w *Worker) persist(ctx context.Context, u Update) bool {
	t := w.begin(u)
	for ctx.Err() == nil {
		if err := t.run(ctx); err == nil {
			return true
		}
		t.skip(w.database.wait(ctx))
	}
	return false
}

// judge returns what an error means for the update, and takes note of what it says of the database.
func (w *Worker) judge(ctx context.Context, u Update, err error) Class {
	if errors.Is(err, ErrUnreadable) || errors.Is(err, errCrashes) { // which say nothing of the database
		return Hopeless
	}
	class := Failed
	if err != nil {
		class = w.class(err)
	}
	if class == Away {
		w.database.found(ctx, u.ID, err)
	} else {
		w.database.passed(ctx, u.ID)
	}
	return class
}

// patience is how long after it has failed first an update of the lane is tried again.
func (w *Worker) patience(lane int64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, ok := w.died[lane]; ok && time.Since(at) < rememberDeath {
		return giveUpSoon
	}
	return giveUpAfter
}

// ended remembers how the last update of a lane ended.
func (w *Worker) ended(lane int64, died bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !died {
		delete(w.died, lane)
		return
	}
	maps.DeleteFunc(w.died, func(_ int64, at time.Time) bool { return time.Since(at) >= rememberDeath })
	w.died[lane] = time.Now()
}

// trial is one update on the way to its end. Attempts that end with Away or Busy do not count, nor does the time that they
// take.
type trial struct {
	*Worker
	update   Update
	first    time.Time
	attempts int
	pause    time.Duration // before the next attempt
	giveUp   time.Time     // when no attempt begins any more, zero as long as it has not failed
	cut      time.Time     // when the last attempt ends, zero for one that has all the time
	panicked bool
	noted    bool  // as an attempt that has not returned
	harmless bool  // an attempt has returned
	silent   bool  // nobody is told of its death
	reason   error // why it goes to the dead letters, nil as long as it does not
}

func (w *Worker) begin(u Update) *trial {
	return &trial{Worker: w, update: u, first: time.Now(), pause: firstRetry}
}

// skip does not count some time. The next attempt has all the time there is: what the last one has lost was not the
// update's fault.
func (t *trial) skip(d time.Duration) {
	t.cut = time.Time{}
	if !t.giveUp.IsZero() {
		t.giveUp = t.giveUp.Add(d)
	}
}

// run tries the update until it has been handled or lies among the dead letters. It returns an error when the context
// has ended, the database is away, somebody holds what the update needs, or the dead letter could not be kept: then another
// run takes it further.
func (t *trial) run(ctx context.Context) error {
	if t.recent.has(t.update.ID) {
		return nil
	}
	for t.reason == nil {
		t.attempts++
		leave, err := t.enter(ctx)
		begun := time.Now()
		if err == nil {
			err = t.attempt(ctx)
			leave(err)
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		switch class := t.judge(ctx, t.update, err); {
		case class == Away, class == Busy:
			t.skip(time.Since(begun))
			t.logFailed(ctx, class, err)
			return err
		case err == nil:
			crashpoint.At(crashpoint.Handled)
			t.ended(t.update.Lane, false)
			t.recent.add(t.update.ID)
			return nil
		case class == Hopeless || !t.again(ctx, err):
			t.reason = err
			continue
		}
		pause(ctx, t.pause)
		t.pause = min(2*t.pause, lastRetry)
	}
	return t.bury(ctx)
}

// attempt handles the update once. A handler that panics has failed.
func (t *trial) attempt(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if !t.panicked {
				t.log.ErrorContext(ctx, "handler panicked", "update_id", t.update.ID, "stack", string(debug.Stack()))
			}
			t.panicked = true
			err = fmt.Errorf("handler panicked: %v", p)
		}
	}()
	if t.cut.IsZero() {
		t.cut = time.Now().Add(cutAfter)
	}
	ctx, cancel := context.WithDeadline(ctx, t.cut)
	defer cancel()
	crashpoint.AtUpdate(t.update.Raw)
	return t.handle(ctx, t.update)
}

// again says whether there is time for another attempt after one that failed for a reason of its own.
func (t *trial) again(ctx context.Context, err error) bool {
	t.logFailed(ctx, Failed, err)
	if t.giveUp.IsZero() {
		t.giveUp = time.Now().Add(t.patience(t.update.Lane))
	}
	next := time.Now().Add(t.pause)
	return !next.After(t.giveUp) && next.Before(t.cut)
}

// logFailed tells of an attempt that has failed, each one. While the database is away that is no news: the log has warned of
// it for all updates together.
func (t *trial) logFailed(ctx context.Context, class Class, err error) {
	level := slog.LevelWarn
	if class == Away {
		level = slog.LevelInfo
	}
	t.log.Log(ctx, level, "failed to handle update", "update_id", t.update.ID, "attempt", t.attempts, "error", err)
}

// bury puts the update among the dead letters.
func (t *trial) bury(ctx context.Context) error {
	letter := DeadLetter{
		Update:    t.update,
		LastError: cmp.Or(t.reason.Error(), "an error without words"),
		Attempts:  t.attempts,
		FirstSeen: t.first,
		Silent:    t.silent,
	}
	keeping, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	err := t.dead.Keep(keeping, letter)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	t.judge(ctx, t.update, err)
	if err != nil {
		t.log.ErrorContext(ctx, "cannot keep a dead letter, trying again", "update_id", t.update.ID, "error", err)
		return err
	}
	t.ended(t.update.Lane, true)
	t.recent.add(t.update.ID)
	t.log.ErrorContext(ctx, "update was given up and lies among the dead letters", "update_id", t.update.ID,
		"attempts", letter.Attempts, "error", letter.LastError)
	return nil
}
