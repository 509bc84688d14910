package intake

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// maxCrashes is how many attempts may crash the process before the update becomes a dead
	// letter.
	maxCrashes = 8
	// carefulFor is the minimum duration of careful mode. It exceeds the minute within which the
	// messenger redelivers an update that has crashed the process.
	carefulFor = 2 * time.Minute
	// suspectWait is how long an update waits if an earlier attempt at it did not return. The
	// update may have crashed the process, so other updates go first.
	suspectWait = 2 * time.Second
	// endTimeout limits recording that an attempt has returned.
	endTimeout = time.Second
)

// errCrashes is the reason to give up on an update whose attempts crashed the process too often.
var errCrashes = errors.New("the process ended during each attempt")

// Attempts records which attempts at updates have not returned. The records survive a crash.
type Attempts interface {
	// Lost returns how many attempts at the update began and did not return, and when the
	// first of them began.
	Lost(ctx context.Context, update int64) (n int, first time.Time, err error)
	// Begin records the start of an attempt.
	Begin(ctx context.Context, update int64) error
	// End deletes all records of the update. It is called once an attempt has returned, which shows
	// that the update does not crash the process.
	End(ctx context.Context, update int64) error
	// Open reports whether an attempt at any update began recently and did not return. Updates that
	// have become dead letters do not count.
	Open(ctx context.Context) (bool, error)
}

// careful is the state of careful mode.
type careful struct {
	attempts Attempts
	turn     chan struct{}             // capacity 1: held by the running attempt
	until    atomic.Pointer[time.Time] // the mode does not end before then; nil: the mode is off
}

// BeCareful turns careful mode on, or prolongs it. The reason is for the log.
func (w *Worker) BeCareful(reason string) {
	w.log.Info("handling updates one at a time", "reason", reason)
	until := time.Now().Add(carefulFor)
	w.careful.until.Store(&until)
}

// endIfOver ends careful mode if its minimum duration is over and no attempt is open. The caller
// must hold the turn, so that no recorded attempt is running.
func (w *Worker) endIfOver(ctx context.Context) error {
	if until := w.careful.until.Load(); until == nil || time.Now().Before(*until) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	open, err := w.careful.attempts.Open(ctx)
	if err != nil {
		return fmt.Errorf("end careful mode: %w", err)
	}
	if !open {
		w.careful.until.Store(nil)
		w.log.Info("handling updates in parallel again")
	}
	return nil
}

// enter waits until an attempt at the update may begin. The caller must call leave when the attempt
// has returned. The time spent in enter does not count toward giving up. enter fails with
// errCrashes after too many lost attempts, and with another error if the context ends, the database
// is unavailable or a lock is in the way.
//
// Outside careful mode, enter returns at once. It also does so once a recorded attempt at this
// update has returned: the update may be waiting for a lock, and must not hold up other updates.
func (t *task) enter(ctx context.Context) (leave func(), err error) {
	c := &t.careful
	if c.until.Load() == nil || t.returned {
		return func() {}, nil
	}
	defer func(begun time.Time) { t.extend(time.Since(begun)) }(time.Now())
	lost, first, err := t.lost(ctx)
	if lost > 0 {
		t.first = first
		pause(ctx, suspectWait)
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err == nil && lost == 0 {
		// A failure of Open that is not retryable must not prevent the record of the attempt.
		err = t.ifRetryable(ctx, t.endIfOver(ctx))
	}
	if err == nil {
		err = t.record(ctx)
	}
	err = t.ifRetryable(ctx, err)
	if err == nil && lost >= maxCrashes {
		// This attempt only stores the dead letter. If that crashes the process too, the next
		// attempt stores the dead letter without looking for the sender.
		t.attempts, t.silent = lost, lost > maxCrashes
		err = fmt.Errorf("%w, %d times", errCrashes, lost)
	}
	if err != nil {
		<-c.turn
		return nil, err
	}
	return func() {
		t.returned = true
		t.end(ctx)
		<-c.turn
	}, nil
}

// ifRetryable returns err, an error of reading or recording attempts, if the database is
// unavailable, a lock is in the way or the context has ended. It logs any other error and returns
// nil, because the update is not at fault and can be handled without a record.
func (t *task) ifRetryable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if blame := t.blameOf(err); blame == Unavailable || blame == Locked {
		return err
	}
	t.log.ErrorContext(ctx, "failed to record an attempt, handling the update anyway",
		"update_id", t.update.ID, "error", err)
	return nil
}

func (t *task) lost(ctx context.Context) (n int, first time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	return t.careful.attempts.Lost(ctx, t.update.ID)
}

func (t *task) record(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	return t.careful.attempts.Begin(ctx, t.update.ID)
}

func (t *task) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := t.careful.attempts.End(ctx, t.update.ID); err != nil {
		t.log.WarnContext(ctx, "failed to record that an attempt has returned", "update_id", t.update.ID, "error", err)
	}
}
