package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

var errKilled = errors.New("the process is gone")

// instance is one process: a dispatcher that dispatches while it has the lease, and how it is cut off from the world
// when it is frozen or gone.
type instance struct {
	w          *world
	dispatcher *Dispatcher
	cancel     context.CancelFunc
	ended      chan struct{} // its last goroutine is at its end, but for senders that do not come back
	killed     chan struct{} // nobody notices any more what it does

	mu            sync.Mutex
	thaw          chan struct{} // nil: it is not frozen
	thawedAt      time.Time     // the last time
	frozenCheckAt time.Time     // when it has come out of a check in which it was frozen
	isolatedUntil time.Time     // until then it cannot prolong its lease
	lease         *heldLease
	term          *term // nil: it is not dispatching
	traps         map[moment]*trap
	refusedEpoch  int64 // the epoch that is known to be over
}

// trap is something that is done to an instance at a certain moment.
type trap struct {
	nth int
	do  func()
}

// trap has something be done to the instance at the so many next moment of a kind.
func (i *instance) trap(m moment, nth int, do func()) {
	if m == atOnce {
		do()
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.traps[m] = &trap{nth, do}
}

// spring is that such a moment has come.
func (i *instance) trigger(m moment) {
	i.mu.Lock()
	t := i.traps[m]
	due := t != nil
	if due {
		t.nth--
		due = t.nth == 0
	}
	i.mu.Unlock()
	if due {
		t.do()
	}
}

// leads tells whether the instance dispatches.
func (i *instance) leads() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.term != nil
}

// current returns the lease that the instance has got last.
func (i *instance) currentLease() *heldLease {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lease
}

// rented is the lease as the instance knows it that has it.
type heldLease struct {
	*instance
	epoch   int64
	expires time.Time
}

func (r *heldLease) Epoch() int64 { return r.epoch }

func (r *heldLease) left() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.expires)
}

// Left is where a process may be frozen at the worst moment: when it has found that it may begin.
func (r *heldLease) Left() time.Duration {
	r.waitThaw()
	left := r.left()
	r.trigger(whenChecked)
	if r.waitThaw() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.frozenCheckAt = time.Now()
	}
	return left
}

// start starts an instance.
func (w *world) start() *instance {
	ctx, cancel := context.WithCancel(context.Background())
	i := &instance{
		w: w, cancel: cancel, ended: make(chan struct{}), killed: make(chan struct{}), traps: make(map[moment]*trap),
	}
	settings := w.settings
	if w.hasMovedHook {
		settings.Moved = i.moved
	}
	i.dispatcher = NewDispatcher(connection{i}, i, slog.New(slog.DiscardHandler), settings)
	go func() {
		defer close(i.ended)
		for ctx.Err() == nil {
			if lease := w.db.acquire(i); lease != nil {
				i.dispatch(ctx, lease)
			}
			_ = sleep(ctx, 500*time.Millisecond)
		}
	}()
	return i
}

// dispatch runs the dispatcher with a lease, which is prolonged until it is lost.
func (i *instance) dispatch(ctx context.Context, lease *heldLease) {
	i.mu.Lock()
	i.lease = lease
	i.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var renewer sync.WaitGroup
	renewer.Go(func() {
		for sleep(ctx, i.w.ttl/3) == nil {
			if !i.w.db.renew(lease) {
				cancel()
			}
		}
	})
	err := i.run(ctx, lease)
	cancel()
	renewer.Wait()
	switch {
	case i.isKilled():
	case err == nil:
		i.w.db.release(lease)
	case !errors.Is(err, ErrLeaseLost):
		i.w.fail(fmt.Errorf("Run ends with %w", err))
	}
}

// run is Run of the dispatcher, which does not let anybody see its tenure.
func (i *instance) run(ctx context.Context, lease Lease) error {
	t := newTerm(i.dispatcher, lease)
	i.mu.Lock()
	i.term = t
	i.mu.Unlock()
	defer func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.term = nil
	}()
	return t.dispatch(ctx)
}

// isGone tells whether nobody notices any more what the instance does.
func (i *instance) isKilled() bool {
	select {
	case <-i.killed:
		return true
	default:
		return false
	}
}

// stand returns when the instance is not frozen, and tells whether it was.
func (i *instance) waitThaw() bool {
	wasFrozen := false
	for {
		i.mu.Lock()
		thaw := i.thaw
		i.mu.Unlock()
		if thaw == nil {
			return wasFrozen
		}
		wasFrozen = true
		select {
		case <-thaw:
		case <-i.killed:
			return wasFrozen
		}
	}
}

// freeze has the instance stand still for a while.
func (i *instance) freeze(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.thaw != nil {
		return
	}
	thaw := make(chan struct{})
	i.thaw = thaw
	go func() {
		_ = sleep(context.Background(), d)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.thaw, i.thawedAt = nil, time.Now()
		close(thaw)
	}()
}

// isolate keeps the instance from prolonging its lease for a while, and returns how long that lasts still.
func (i *instance) isolate(d time.Duration) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.isolatedUntil = time.Now().Add(d)
	if i.lease == nil {
		return 0
	}
	return time.Until(i.lease.expires)
}

// stop asks the instance to stop and waits until it has.
func (i *instance) stop() {
	begun := time.Now()
	i.cancel()
	<-i.ended
	i.mu.Lock()
	defer i.mu.Unlock()
	limit := i.w.settings.SendTimeout + hangGrace + finishTimeout
	if took := time.Since(begun); took > limit && i.thawedAt.Before(begun) {
		i.w.fail(fmt.Errorf("stopping takes %v, %v are good", took, limit))
	}
}

// kill has the instance be gone. What it has under way may arrive nevertheless.
func (i *instance) kill() {
	if lease := i.currentLease(); lease != nil {
		switch underWay, arrived := i.w.model.Unwritten(lease.epoch); {
		case arrived > 0:
			i.w.counts.add("a kill between send and mark")
		case underWay > 0:
			i.w.counts.add("a kill while a request was under way")
		}
	}
	close(i.killed)
	i.cancel()
}

// call makes a call of the store meet its fate. It tells whether the effect has taken place.
func (i *instance) call(ctx context.Context, calls *[]call, effect func() error) (bool, error) {
	c := i.w.next(calls)
	i.waitThaw()
	err := i.wait(ctx, c.slow/2)
	if c.fails {
		err = errUnavailable
	}
	if err != nil {
		i.w.model.Trouble()
		return false, err
	}
	if err := effect(); err != nil {
		return false, err
	}
	if i.waitThaw() {
		err = i.wait(context.Background(), 0) // the answer is there before anybody looks at the clock
	} else {
		err = i.wait(ctx, c.slow/2)
	}
	if c.answerLost {
		err = errLost
	}
	if err != nil {
		i.w.model.Trouble()
	}
	return true, err
}

// wait lets time go by, unless the context ends or the process is gone.
func (i *instance) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	if i.isKilled() {
		return errKilled
	}
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-i.killed:
		return errKilled
	}
}

// refuse is that the store says that the lease is over. It does so only once.
func (i *instance) leaseRefused(epoch int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refusedEpoch == epoch {
		i.w.fail(errors.New("an instance that has lost its lease goes on"))
	}
	i.refusedEpoch = epoch
}

// moved is the hook that is called when a chat has another id.
func (i *instance) moved(ctx context.Context, from, to int64) error {
	i.waitThaw()
	if err := i.wait(ctx, 0); err != nil {
		return err
	}
	if !i.w.nextMove() {
		i.w.counts.add("a chat could not be moved")
		return errUnavailable
	}
	i.w.counts.add("a chat was moved")
	i.w.db.move(from, to)
	return nil
}

// rent returns a lease if nobody has one.
func (db *database) acquire(i *instance) *heldLease {
	db.mu.Lock()
	defer db.mu.Unlock()
	if i.isKilled() || time.Now().Before(db.expires) {
		return nil
	}
	switch {
	case db.epoch == 0:
	case db.expires.IsZero():
		db.counts.add("a handover by release")
	default:
		db.counts.add("a handover by expiry")
	}
	db.epoch++
	db.expires = time.Now().Add(i.w.ttl)
	db.model.Leads(db.epoch)
	return &heldLease{instance: i, epoch: db.epoch, expires: db.expires}
}

// prolong prolongs a lease, and tells whether it is not lost.
func (db *database) renew(r *heldLease) bool {
	r.waitThaw()
	db.mu.Lock()
	defer db.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.isKilled() || time.Now().Before(r.isolatedUntil):
		return true
	case r.epoch != db.epoch || !time.Now().Before(db.expires):
		return false
	}
	r.expires = time.Now().Add(r.w.ttl)
	db.expires = r.expires
	return true
}

// release gives a lease back.
func (db *database) release(r *heldLease) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if r.epoch == db.epoch {
		db.expires = time.Time{}
	}
}
