package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxCrashes is how many attempts may crash the process before the update becomes a dead letter.
	maxCrashes = 8
	// A suspect is an update whose earlier attempt did not return, so that it may have crashed the process. It waits until no
	// other update has been in progress for suspectWait, so that the others are answered first; but no longer than
	// suspectLimit, because others may keep coming.
	suspectWait  = time.Second
	suspectLimit = 10 * time.Second
	// endTimeout limits the time for recording that an attempt has returned.
	endTimeout = time.Second
)

// errCrashes is the reason of a dead letter whose attempts crashed the process too often.
var errCrashes = errors.New("the process ended during each attempt")

// Attempts records durably which attempts at updates have not returned, so that they survive a crash.
type Attempts interface {
	// Lost returns how many attempts at the update began and did not return, and when the first of them began.
	Lost(ctx context.Context, update int64) (n int, first time.Time, err error)
	// Begin records the start of an attempt.
	Begin(ctx context.Context, update int64) error
	// End records that the last attempt has returned. If done is true, it deletes all records of the update.
	End(ctx context.Context, update int64, done bool) error
}

// careful is the mode after a crash that one of the updates in progress may have caused: attempts run one at a time, and
// each is recorded before it begins.
type careful struct {
	attempts Attempts               // nil: the mode has no effect
	reason   atomic.Pointer[string] // why the mode is on; nil or empty: it is off
	turn     chan struct{}          // capacity 1: held by the running attempt

	mu     sync.Mutex
	others int       // updates that are being handled or wait, not counting the suspects
	last   time.Time // when the last of the others left
}

// join counts an update among the others until leave is called.
func (c *careful) join() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.others--
		c.last = time.Now()
	})
}

// awaitOthers blocks a suspect until the others are done.
func (c *careful) awaitOthers(ctx context.Context) {
	quiet := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.others == 0 && time.Since(c.last) >= suspectWait
	}
	for begun := time.Now(); ctx.Err() == nil && time.Since(begun) < suspectLimit && !quiet(); {
		pause(ctx, suspectWait)
	}
}

// SetAttempts sets where attempts are recorded after a crash. It must be called before the first update is handled.
func (w *Worker) SetAttempts(a Attempts) { w.careful.attempts = a }

// SetCareful turns careful mode on for a reason, which is for the log, or off if there is none. In that mode attempts run one
// at a time, and each is recorded before it begins, so that an update that crashes the process can be identified and given up.
func (w *Worker) SetCareful(reason string) {
	last := w.careful.reason.Swap(&reason)
	switch {
	case last == nil && reason == "", last != nil && *last == reason:
	case reason == "":
		w.log.Info("handling updates in parallel again")
	default:
		w.log.Info("handling updates one at a time", "reason", reason)
	}
}

// Careful reports whether careful mode is on.
func (w *Worker) Careful() bool { return w.careful.isOn() }

func (c *careful) isOn() bool {
	reason := c.reason.Load()
	return reason != nil && *reason != ""
}

// enter waits until an attempt at the update may begin. The caller must call leave when the attempt has returned. The time
// spent in enter does not count towards giving up. It returns errCrashes after too many lost attempts. Outside careful mode it
// returns at once.
func (t *task) enter(ctx context.Context) (leave func(error), err error) {
	c := &t.careful
	if c.attempts == nil || !c.isOn() {
		return func(error) {}, nil
	}
	defer func(begun time.Time) { t.extend(time.Since(begun)) }(time.Now())
	done := c.join()
	defer func() {
		if err != nil {
			done()
		}
	}()
	lost, err := t.lost(ctx)
	if err = t.ifRetryable(ctx, err); err != nil {
		return nil, err
	}
	if lost > 0 {
		done()
		c.awaitOthers(ctx)
	}
	endTurn, err := t.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	// Do not record an update that has had an attempt return: if another one crashes the process now, this one would be blamed.
	if !t.harmless {
		err = t.ifRetryable(ctx, t.record(ctx))
	}
	if err == nil && lost >= maxCrashes {
		// This attempt only stores the dead letter. If that crashes the process too, the next one does so without looking for
		// the sender.
		t.attempts, t.silent = lost, lost > maxCrashes
		err = fmt.Errorf("%w, %d times", errCrashes, lost)
	}
	if err != nil {
		endTurn()
		return nil, err
	}
	return func(err error) {
		t.harmless = true
		if t.recorded || err == nil {
			t.returned(ctx, err == nil)
		}
		done()
		endTurn()
	}, nil
}

// takeTurn waits until no other attempt runs. An update that has had an attempt return takes no turn: it may be waiting for
// a lock, and the others must not wait with it.
func (t *task) takeTurn(ctx context.Context) (end func(), err error) {
	if t.harmless {
		return func() {}, nil
	}
	select {
	case t.careful.turn <- struct{}{}:
		return func() { <-t.careful.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ifRetryable returns an error of reading or recording attempts if a retry may succeed. It logs any other error and returns
// nil: such an error says nothing about the update, which is handled anyway.
func (t *task) ifRetryable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if class := t.class(err); class == Unavailable || class == Locked {
		return err
	}
	t.log.ErrorContext(ctx, "failed to record an attempt, handling the update anyway", "update_id", t.update.ID, "error", err)
	return nil
}

// lost returns how many earlier attempts at the update did not return. It sets t.first to the start of the first of them.
func (t *task) lost(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	n, first, err := t.careful.attempts.Lost(ctx, t.update.ID)
	if err != nil {
		return 0, fmt.Errorf("read lost attempts: %w", err)
	}
	if t.recorded {
		n--
	}
	if n > 0 {
		t.first = first
	}
	return n, nil
}

// record records the start of an attempt, unless the record of the last one still exists.
func (t *task) record(ctx context.Context) error {
	if t.recorded {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	if err := t.careful.attempts.Begin(ctx, t.update.ID); err != nil {
		return fmt.Errorf("record attempt: %w", err)
	}
	t.recorded = true
	return nil
}

// returned records that the attempt has returned.
func (t *task) returned(ctx context.Context, done bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := t.careful.attempts.End(ctx, t.update.ID, done); err != nil {
		t.log.WarnContext(ctx, "failed to record that an attempt has returned", "update_id", t.update.ID, "error", err)
		return
	}
	t.recorded = false
}
