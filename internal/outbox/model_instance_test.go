package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

var errKilled = errors.New("the process is dead")

// instance simulates a process with a dispatcher, which dispatches while it holds the lease. It can
// be frozen, killed, and cut off from renewing its lease.
type instance struct {
	w          *world
	dispatcher *Dispatcher
	cancel     context.CancelFunc
	ended      chan struct{} // closed when all goroutines have ended, except hanging senders
	killed     chan struct{} // closed by kill: from then on, only requests in flight have an effect

	mu            sync.Mutex
	thaw          chan struct{} // nil: not frozen
	thawedAt      time.Time     // end of the last freeze
	frozenCheckAt time.Time     // end of the last lease check that a freeze interrupted
	isolatedUntil time.Time     // until then, it cannot renew its lease
	lease         *heldLease
	term          *term // nil: not dispatching
	traps         map[moment]*trap
	refusedEpoch  int64 // last epoch that the store refused
}

// trap is an action to run at the nth moment of a kind after the trap was set.
type trap struct {
	nth int
	do  func()
}

// trap sets the action to run at the nth moment m from now on. For atOnce, it runs the action
// immediately.
func (i *instance) trap(m moment, nth int, do func()) {
	if m == atOnce {
		do()
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.traps[m] = &trap{nth, do}
}

// trigger counts down the trap for the moment m, if one is set, and runs its action when the count
// reaches 0.
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

func (i *instance) leads() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.term != nil
}

// currentLease returns the last lease that the instance acquired, nil if there is none.
func (i *instance) currentLease() *heldLease {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lease
}

// heldLease is a lease as its holder knows it.
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

// Remaining implements Lease. It reads the lease before it lets the process freeze: a freeze right
// after the check does the most harm.
func (r *heldLease) Remaining() time.Duration {
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

// start starts an instance, which acquires the lease and dispatches whenever the lease is free.
func (w *world) start() *instance {
	ctx, cancel := context.WithCancel(context.Background())
	i := &instance{
		w: w, cancel: cancel, ended: make(chan struct{}), killed: make(chan struct{}), traps: make(map[moment]*trap),
	}
	settings := w.settings
	if w.hasMovedHook {
		settings.ChatMigrated = i.moved
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

// dispatch runs the dispatcher with a lease, and renews the lease meanwhile.
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
		i.w.fail(fmt.Errorf("Run: %w", err))
	}
}

// run is like Dispatcher.Run, but keeps the term so that tests can look into it.
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
	return t.run(ctx)
}

func (i *instance) isKilled() bool {
	select {
	case <-i.killed:
		return true
	default:
		return false
	}
}

// waitThaw blocks while the instance is frozen, unless the instance is killed. It reports whether
// the instance was frozen.
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

// freeze suspends the instance for a while. It does nothing if the instance is frozen already.
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

// isolate prevents the instance from renewing its lease for a while. It returns how long the lease
// still lasts, 0 if the instance has never had a lease.
func (i *instance) isolate(d time.Duration) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.isolatedUntil = time.Now().Add(d)
	if i.lease == nil {
		return 0
	}
	return time.Until(i.lease.expires)
}

// stop stops the instance gracefully, waits for it, and checks how long that takes, unless a freeze
// may have delayed it.
func (i *instance) stop() {
	begun := time.Now()
	i.cancel()
	<-i.ended
	i.mu.Lock()
	defer i.mu.Unlock()
	limit := i.w.settings.timeout(true) + hangGrace
	if took := time.Since(begun); took > limit && i.thawedAt.Before(begun) {
		i.w.fail(fmt.Errorf("stopping takes %v, want at most %v", took, limit))
	}
}

// kill ends the instance abruptly. Its requests in flight may still arrive.
func (i *instance) kill() {
	if lease := i.currentLease(); lease != nil {
		switch inFlight, arrived := i.w.model.Unwritten(lease.epoch); {
		case arrived > 0:
			i.w.counts.add("a kill between send and mark")
		case inFlight > 0:
			i.w.counts.add("a kill while a request was in flight")
		}
	}
	close(i.killed)
	i.cancel()
}

// call runs effect as a call to the store, with the next scripted outcome in calls. It reports
// whether effect succeeded. If effect succeeded but the answer was lost, call returns true and an
// error.
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
		// After a freeze, the instance sees the answer before it sees that ctx has ended.
		err = i.wait(context.Background(), 0)
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

// wait waits for the duration d. It fails if the context ends or the instance is killed before
// that.
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

// leaseRefused records that the store refused an epoch. A second refusal of the same epoch is an
// error: the instance should have stopped.
func (i *instance) leaseRefused(epoch int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refusedEpoch == epoch {
		i.w.fail(errors.New("an instance continues after it has lost its lease"))
	}
	i.refusedEpoch = epoch
}

// moved implements Settings.ChatMigrated, with the next scripted outcome.
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
	i.w.db.move(ChatID(-from), to)
	return nil
}

// acquire takes the lease for an instance. It returns nil if the lease is not free or the instance
// is killed.
func (m *memory) acquire(i *instance) *heldLease {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.isKilled() || time.Now().Before(m.leased) {
		return nil
	}
	switch {
	case m.epoch == 0:
	case m.leased.IsZero():
		m.counts.add("a handover by release")
	default:
		m.counts.add("a handover by expiry")
	}
	m.epoch++
	m.leased = time.Now().Add(i.w.ttl)
	m.model.Leads(m.epoch)
	return &heldLease{instance: i, epoch: m.epoch, expires: m.leased}
}

// renew extends a lease, and returns false if the lease is lost. For an isolated or killed
// instance, it does nothing and returns true, because that instance cannot learn of the loss.
func (m *memory) renew(r *heldLease) bool {
	r.waitThaw()
	m.mu.Lock()
	defer m.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.isKilled() || time.Now().Before(r.isolatedUntil):
		return true
	case r.epoch != m.epoch || !time.Now().Before(m.leased):
		return false
	}
	r.expires = time.Now().Add(r.w.ttl)
	m.leased = r.expires
	return true
}

func (m *memory) release(r *heldLease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.epoch == m.epoch {
		m.leased = time.Time{}
	}
}
