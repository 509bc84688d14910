package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Dispatcher sends the items of all chats while it holds the lease.
type Dispatcher struct {
	store    Store
	sender   Sender
	log      *slog.Logger
	settings Settings

	mu     sync.Mutex
	woken  map[Lane]struct{} // since last taken; nil while not dispatching
	signal chan struct{}     // woken is not empty

	stats statsRecorder
}

// NewDispatcher returns a dispatcher that does nothing until Run.
func NewDispatcher(store Store, sender Sender, log *slog.Logger, settings Settings) *Dispatcher {
	return &Dispatcher{
		store: store, sender: sender, log: log, settings: settings.withDefaults(),
		signal: make(chan struct{}, 1),
	}
}

// Wake reports that these lanes have something to send. It never blocks. A lost wake costs at most the time until the
// next poll. While the dispatcher does not run, Wake keeps nothing and returns false: another instance has to be
// notified. Run finds by itself whatever was committed before it starts.
func (d *Dispatcher) Wake(lanes ...Lane) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.woken == nil {
		return false
	}
	for _, l := range lanes {
		d.woken[l] = struct{}{}
	}
	select {
	case d.signal <- struct{}{}:
	default:
	}
	return true
}

// acceptWakes sets whether Wake keeps lanes.
func (d *Dispatcher) acceptWakes(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.woken = nil
	if on {
		d.woken = make(map[Lane]struct{})
	}
}

func (d *Dispatcher) takeWoken() map[Lane]struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	woken := d.woken
	if woken != nil {
		d.woken = make(map[Lane]struct{})
	}
	return woken
}

// Run dispatches until the context ends. It then starts no new requests, gives those in flight their full timeout,
// persists their results and returns nil; everything else waits in the store for the next leader. It returns
// ErrLeaseLost when the lease is over. It can be run again with another lease, but not concurrently.
func (d *Dispatcher) Run(ctx context.Context, lease Lease) error {
	return newTerm(d, lease).run(ctx)
}

// run polls and surveys the store while loop dispatches.
func (t *term) run(ctx context.Context) error {
	t.stats.dispatching(true)
	defer t.stats.dispatching(false)
	t.acceptWakes(true) // before the first poll: that finds whatever was committed earlier
	defer t.acceptWakes(false)
	ctx, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { t.pollStore(ctx) })
	watchers.Go(func() { t.survey(ctx) })
	err := t.loop(ctx)
	stop()
	watchers.Wait()
	return err
}

// Stats returns the current measurements.
func (d *Dispatcher) Stats() Stats { return d.stats.read() }

// survey counts the contents of the store periodically.
func (t *term) survey(ctx context.Context) {
	const interval, largest = 10 * time.Second, 20
	tick := time.NewTicker(interval)
	defer tick.Stop()
	failing := false
	for {
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		s, err := t.store.Survey(storeCtx, largest)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.WarnContext(ctx, "failed to count waiting notices, retrying", "error", err)
		case err == nil:
			t.stats.surveyed(s, time.Now())
			t.overloaded.Store(s.Waiting > t.settings.WaitingTotal)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pollStore polls the store for lanes with something to send: those from before the start, those whose wake was lost, and
// those whose pause is over.
func (t *term) pollStore(ctx context.Context) {
	failing := false
	for {
		begun := time.Now()
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		backlogs, err := t.store.Waiting(storeCtx, t.bounds())
		cancel()
		took := time.Since(begun)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.ErrorContext(ctx, "failed to look for notices to send, retrying", "error", err)
		}
		if err == nil {
			select {
			case t.polled <- backlogs:
			case <-ctx.Done():
				return
			}
		}
		failing = err != nil
		interval := t.settings.PollEvery
		if err == nil {
			// with many waiting lanes the query is slow; do not keep the database busy with it
			interval = max(interval, 10*took)
		}
		pause := time.NewTimer(interval)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}
