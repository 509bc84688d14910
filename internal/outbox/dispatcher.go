package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Dispatcher sends the items of all chats while it has the lease.
type Dispatcher struct {
	store    Store
	sender   Sender
	log      *slog.Logger
	settings Settings

	mu     sync.Mutex
	woken  map[Lane]struct{} // since it was last looked at; nil while nothing is dispatched
	signal chan struct{}     // there is something in woken
	term   *term             // that gives away places; nil while there is none

	meter meter
}

// NewDispatcher returns a dispatcher that waits for Run.
func NewDispatcher(store Store, sender Sender, log *slog.Logger, settings Settings) *Dispatcher {
	return &Dispatcher{
		store: store, sender: sender, log: log, settings: settings.withDefaults(),
		signal: make(chan struct{}, 1),
	}
}

// Wake says that these lanes have something to be sent. It never blocks. A wake that gets lost costs no more than the time
// until the next poll. While the dispatcher does not run it keeps nothing and returns false: the lanes are for another
// instance to hear of. Whatever was committed before it begins to run it finds by itself.
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

// listen has Wake keep lanes from now on, or not any more.
func (d *Dispatcher) listen(on bool) {
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

// Run dispatches until the context ends. Then it begins no request any more, gives those that are under way their whole
// time, writes down what came of them and returns nil; the rest waits in the store for the next one. It ends with ErrLeaseLost when the lease is over. It can be
// run again, with another lease, but not twice at a time.
func (d *Dispatcher) Run(ctx context.Context, lease Lease) error {
	return newTerm(d, lease).dispatch(ctx)
}

// dispatch is Run.
func (t *term) dispatch(ctx context.Context) error {
	t.meter.dispatching(true)
	defer t.meter.dispatching(false)
	t.listen(true) // before the first look at all lanes, which finds what was committed before
	defer t.listen(false)
	ctx, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { t.watch(ctx) })
	watchers.Go(func() { t.survey(ctx) })
	err := t.run(ctx)
	stop()
	watchers.Wait()
	return err
}

// Figures returns what has been measured.
func (d *Dispatcher) Stats() Stats { return d.meter.read() }

// survey counts what there is in the store, again and again.
func (t *term) survey(ctx context.Context) {
	const every, largest = 10 * time.Second, 20
	tick := time.NewTicker(every)
	defer tick.Stop()
	failing := false
	for {
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		s, err := t.store.Survey(asking, largest)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.WarnContext(ctx, "cannot count the notices that wait, trying again", "error", err)
		case err == nil:
			t.meter.surveyed(s, time.Now())
			t.crowded.Store(s.Waiting > t.settings.WaitingTotal)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// watch asks the store again and again for lanes with something to be sent: those from before the start, those whose
// wake was lost, and those whose pause is over.
func (t *term) watch(ctx context.Context) {
	failing := false
	for {
		begun := time.Now()
		asking, cancel := context.WithTimeout(ctx, askTimeout)
		backlogs, err := t.store.Waiting(asking)
		cancel()
		took := time.Since(begun)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.log.ErrorContext(ctx, "cannot look for notices to be sent, trying again", "error", err)
		}
		if err == nil {
			select {
			case t.found <- backlogs:
			case <-ctx.Done():
				return
			}
		}
		failing = err != nil
		every := t.settings.PollEvery
		if err == nil {
			// where many lanes wait, looking for them takes its time; it must not take all of the database's
			every = max(every, 10*took)
		}
		pause := time.NewTimer(every)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}
