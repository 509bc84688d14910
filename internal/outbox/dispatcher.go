package outbox

import (
	"context"
	"log/slog"
	"sync"
)

// Dispatcher sends the items of all chats while it holds the lease.
type Dispatcher struct {
	store    Store
	sender   Sender
	log      *slog.Logger
	settings Settings

	mu     sync.Mutex
	woken  map[Lane]struct{} // lanes woken since the last takeWoken; nil while Wake accepts none
	signal chan struct{}     // tells the running dispatcher that lanes were woken

	stats statsRecorder
}

// NewDispatcher returns a dispatcher that does nothing until Run.
func NewDispatcher(store Store, sender Sender, log *slog.Logger, settings Settings) *Dispatcher {
	return &Dispatcher{
		store: store, sender: sender, log: log, settings: settings.withDefaults(),
		signal: make(chan struct{}, 1),
	}
}

// Run dispatches until the context ends. It then starts no new requests, gives those in flight
// their full timeout, tries to persist their results and returns nil. Everything else waits in the
// store for the next leader. Run returns ErrLeaseLost if another instance has taken over the lease.
// Run may be called again with another lease, but not concurrently.
func (d *Dispatcher) Run(ctx context.Context, lease Lease) error {
	return newTerm(d, lease).run(ctx)
}

// Wake tells the dispatcher that these lanes have something to send. It never blocks. A lost wake
// delays a lane at most until the next poll. Wake returns false if the dispatcher is stopping or
// not running. The caller then has to notify another instance. No wake is needed for items that
// were committed before Run started.
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

// Stats returns the current measurements.
func (d *Dispatcher) Stats() Stats { return d.stats.read() }

// acceptWakes sets whether Wake accepts lanes, and forgets the lanes woken so far.
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
