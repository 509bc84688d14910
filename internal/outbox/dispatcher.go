package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Settings of a Dispatcher. The zero value of a field stands for its default.
type Settings struct {
	Parallel    int           // requests under way at the same time, default 32
	PollEvery   time.Duration // how often the store is asked for chats that nobody has woken, default 1 s
	SendTimeout time.Duration // for one request, default 5 s
	DrainFor    time.Duration // how long a dispatcher that stops goes on with what is due, default 3 s
}

func (s Settings) withDefaults() Settings {
	or := func(d *time.Duration, fallback time.Duration) {
		if *d == 0 {
			*d = fallback
		}
	}
	or(&s.PollEvery, time.Second)
	or(&s.SendTimeout, 5*time.Second)
	or(&s.DrainFor, 3*time.Second)
	if s.Parallel == 0 {
		s.Parallel = 32
	}
	return s
}

// Dispatcher sends the items of all chats. One goroutine, that of Run, owns the lanes; each step of a lane, which is
// one item, runs in a goroutine of its own and reports back. So every step ends by giving its lane free, whatever
// came of it.
type Dispatcher struct {
	store    Store
	sender   Sender
	log      *slog.Logger
	settings Settings

	mu     sync.Mutex
	woken  map[ChatID]struct{}
	signal chan struct{} // there is something in woken

	lanes   map[ChatID]*lane
	waiting map[*lane]struct{} // lanes that wait for their time
	ready   []*lane            // lanes that may take a step, in the order in which they asked
	running int
	freeze  freeze
	ended   chan *lane
}

// NewDispatcher returns a dispatcher that waits for Run.
func NewDispatcher(store Store, sender Sender, log *slog.Logger, settings Settings) *Dispatcher {
	settings = settings.withDefaults()
	return &Dispatcher{
		store: store, sender: sender, log: log, settings: settings,
		woken:   make(map[ChatID]struct{}),
		signal:  make(chan struct{}, 1),
		lanes:   make(map[ChatID]*lane),
		waiting: make(map[*lane]struct{}),
		ended:   make(chan *lane, settings.Parallel),
	}
}

// Wake says that these chats have something to be sent. It never blocks. A wake that gets lost costs no more than the
// time until the next poll.
func (d *Dispatcher) Wake(chats ...ChatID) {
	d.mu.Lock()
	for _, c := range chats {
		d.woken[c] = struct{}{}
	}
	d.mu.Unlock()
	select {
	case d.signal <- struct{}{}:
	default:
	}
}

// Run dispatches until the context ends. Then it goes on, for a bounded time, with what can be sent at once, and
// returns nil; the rest waits in the store for the next one.
func (d *Dispatcher) Run(ctx context.Context) error {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		d.watch(ctx)
	}()
	defer func() { <-watching }()

	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for ctx.Err() == nil {
		d.start(work)
		due.Reset(d.untilDue(time.Now()))
		select {
		case <-d.signal:
			d.takeWoken()
		case l := <-d.ended:
			d.release(l)
		case <-due.C:
			d.takeDue(time.Now())
		case <-ctx.Done():
		}
	}
	d.drain(work, abort)
	return nil
}

// drain goes on until no lane can take a step at once, at most as long as the settings say. Requests that are under
// way then are cut off; their items stay marked as being sent.
func (d *Dispatcher) drain(work context.Context, abort func()) {
	deadline := time.AfterFunc(d.settings.DrainFor, abort)
	defer deadline.Stop()
	d.takeWoken()
	for {
		if work.Err() == nil {
			d.start(work)
		}
		if d.running == 0 {
			return
		}
		select {
		case <-d.signal:
			d.takeWoken()
		case l := <-d.ended:
			d.release(l)
		}
	}
}

// watch asks the store again and again for chats with something to be sent: those from before the start, those whose
// wake was lost, and those whose pause is over.
func (d *Dispatcher) watch(ctx context.Context) {
	tick := time.NewTicker(d.settings.PollEvery)
	defer tick.Stop()
	failing := false
	for {
		chats, err := d.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			d.log.ErrorContext(ctx, "cannot look for notices to be sent, trying again", "error", err)
		case len(chats) > 0:
			d.Wake(chats...)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (d *Dispatcher) look(ctx context.Context) ([]ChatID, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return d.store.Waiting(ctx)
}

// start lets lanes take their steps, as many as may run at the same time.
func (d *Dispatcher) start(ctx context.Context) {
	for len(d.ready) > 0 && d.running < d.settings.Parallel && d.freeze.allows(d.running, time.Now()) {
		l := d.ready[0]
		d.ready = d.ready[1:]
		l.state = running
		d.running++
		go func() {
			defer func() { d.ended <- l }()
			d.step(ctx, l)
		}()
	}
}

func (d *Dispatcher) takeWoken() {
	d.mu.Lock()
	woken := d.woken
	d.woken = make(map[ChatID]struct{})
	d.mu.Unlock()
	for chat := range woken {
		l, ok := d.lanes[chat]
		switch {
		case !ok:
			l = &lane{chat: chat}
			d.lanes[chat] = l
			d.enqueue(l)
		case l.state == running:
			l.again = true
		}
		// a lane that is ready or waits for its time will come to the new item anyway
	}
}

func (d *Dispatcher) enqueue(l *lane) {
	l.state = ready
	d.ready = append(d.ready, l)
}

// release takes a lane back after a step. A lane with nothing left to do is forgotten.
func (d *Dispatcher) release(l *lane) {
	d.running--
	d.thaw(l)
	again := l.again
	l.again = false
	switch l.outcome {
	case more:
		d.enqueue(l)
	case wait:
		l.state = waiting
		d.waiting[l] = struct{}{}
	case idle:
		if again {
			d.enqueue(l)
		} else {
			delete(d.lanes, l.chat)
		}
	}
}

// thaw learns from what came of a lane's step whether all lanes have to stand still, or may go on.
func (d *Dispatcher) thaw(l *lane) {
	now := time.Now()
	switch {
	case l.limited > 0:
		if pause := d.freeze.limited(l.chat, l.limited, now); pause > 0 {
			d.log.Warn("the messenger turns many chats away: all of them wait", "pause_ms", pause.Milliseconds())
		}
	case l.answered:
		d.freeze.passed(now)
	}
	l.limited, l.answered = 0, false
}

// untilDue returns how long it is until the first waiting lane may go on, or all of them may.
func (d *Dispatcher) untilDue(now time.Time) time.Duration {
	next := time.Hour
	if d.freeze.probing && len(d.ready) > 0 && now.Before(d.freeze.until) {
		next = d.freeze.until.Sub(now)
	}
	for l := range d.waiting {
		next = min(next, max(0, l.notBefore.Sub(now)))
	}
	return next
}

func (d *Dispatcher) takeDue(now time.Time) {
	for l := range d.waiting {
		if !l.notBefore.After(now) {
			delete(d.waiting, l)
			d.enqueue(l)
		}
	}
}
