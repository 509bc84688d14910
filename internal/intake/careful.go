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
	// maxCrashes is how many attempts at an update may end the process before it becomes a dead letter.
	maxCrashes = 8
	// An update at which the process has ended before waits until no other one has been handled for so long, so that the
	// others go first and are answered; but no longer than suspectLimit, because others may come without end.
	suspectWait  = time.Second
	suspectLimit = 10 * time.Second
	// endWithin bounds noting that an attempt has returned.
	endWithin = time.Second
)

// errCrashes says of an update that attempts at it have ended the process too often.
var errCrashes = errors.New("the process ended during each attempt")

// Attempts remembers, beyond the end of the process, which attempts at updates have not returned.
type Attempts interface {
	// Lost returns how many attempts at the update have begun and not returned, and when the first of them began.
	Lost(ctx context.Context, update int64) (n int, first time.Time, err error)
	// Begin notes that an attempt begins.
	Begin(ctx context.Context, update int64) error
	// End notes that the last attempt has returned. An update that is done is forgotten.
	End(ctx context.Context, update int64, done bool) error
}

// careful is the mode after a crash, which one of the updates in hand may have caused: one attempt at a time, each noted
// before it begins.
type careful struct {
	attempts Attempts // nil: the mode is never on
	on       atomic.Bool
	turn     chan struct{} // holds one: the attempt that runs

	mu     sync.Mutex
	others int       // updates that are handled, or wait for it, and are not suspects
	last   time.Time // when the last of them ended
}

// join counts an update that is no suspect, as far as is known, until the returned function is called.
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

// awaitOthers has a suspect wait until the others have gone first.
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

// SetAttempts sets where attempts are noted after a crash. It is called before the first update is handled.
func (w *Worker) SetAttempts(a Attempts) { w.careful.attempts = a }

// SetCareful says whether updates are handled one attempt at a time from now on, each noted before it begins, so that an
// update that ends the process is found out and given up.
func (w *Worker) SetCareful(on bool) {
	if w.careful.on.Swap(on) == on {
		return
	}
	if on {
		w.log.Info("handling updates one at a time: perhaps one of them ended a process")
	} else {
		w.log.Info("handling updates side by side again")
	}
}

// Careful says whether updates are handled one attempt at a time.
func (w *Worker) Careful() bool { return w.careful.on.Load() }

// enter waits until an attempt at the update may begin, and returns what has to be called when it has returned. That
// time does not count. It fails with errCrashes if no attempt may begin any more.
func (t *trial) enter(ctx context.Context) (leave func(error), err error) {
	c := &t.careful
	if c.attempts == nil || !c.on.Load() {
		return func(error) {}, nil
	}
	defer func(begun time.Time) { t.skip(time.Since(begun)) }(time.Now())
	done := c.join()
	defer func() {
		if err != nil {
			done()
		}
	}()
	lost, err := t.lost(ctx)
	if err = t.mustNote(ctx, err); err != nil {
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
	if !t.harmless { // else it only waits, and another one may end the process meanwhile
		err = t.mustNote(ctx, t.note(ctx))
	}
	if err == nil && lost >= maxCrashes {
		// This attempt is to keep it. If that ends the process too, nobody looks for whom to tell the next time.
		t.attempts, t.silent = lost, lost > maxCrashes
		err = fmt.Errorf("%w, %d times", errCrashes, lost)
	}
	if err != nil {
		endTurn()
		return nil, err
	}
	return func(err error) {
		t.harmless = true
		if t.noted || err == nil {
			t.returned(ctx, err == nil)
		}
		done()
		endTurn()
	}, nil
}

// takeTurn waits until no other attempt runs. An update of which an attempt has returned goes at once: it may wait for what
// somebody holds, and the others must not wait with it.
func (t *trial) takeTurn(ctx context.Context) (end func(), err error) {
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

// mustNote returns the error of noting an attempt if that may succeed later. Any other one says nothing of the update, which
// is handled all the same.
func (t *trial) mustNote(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if class := t.class(err); class == Away || class == Busy {
		return err
	}
	t.log.ErrorContext(ctx, "failed to note an attempt, handling the update all the same", "update_id", t.update.ID, "error", err)
	return nil
}

// lost returns how many attempts at the update have not returned, and remembers when it was first seen.
func (t *trial) lost(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	n, first, err := t.careful.attempts.Lost(ctx, t.update.ID)
	if err != nil {
		return 0, fmt.Errorf("look for lost attempts: %w", err)
	}
	if t.noted {
		n--
	}
	if n > 0 {
		t.first = first
	}
	return n, nil
}

// note notes that an attempt begins, unless the last one is noted still.
func (t *trial) note(ctx context.Context) error {
	if t.noted {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	if err := t.careful.attempts.Begin(ctx, t.update.ID); err != nil {
		return fmt.Errorf("note an attempt: %w", err)
	}
	t.noted = true
	return nil
}

// returned notes that the attempt has returned.
func (t *trial) returned(ctx context.Context, done bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if err := t.careful.attempts.End(ctx, t.update.ID, done); err != nil {
		t.log.WarnContext(ctx, "failed to note that an attempt has returned", "update_id", t.update.ID, "error", err)
		return
	}
	t.noted = false
}
