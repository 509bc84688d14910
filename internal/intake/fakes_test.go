package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errAway     = errors.New("the database is away")
	errBusy     = errors.New("somebody else holds it")
	errOwn      = errors.New("this update fails")
	errHopeless = errors.New("this update always fails")
)

// blame classifies the errors above.
func blame(err error) Blame {
	switch {
	case errors.Is(err, errAway):
		return Unavailable
	case errors.Is(err, errBusy):
		return Locked
	case errors.Is(err, errHopeless):
		return Permanent
	default:
		return Failed
	}
}

// ask is one request for updates.
type ask struct {
	offset int64
	wait   time.Duration
	begun  time.Time
	shown  int
}

// messenger is a Source with Telegram's rules: an update stays until a later offset confirms it,
// the oldest updates are returned first, and the same offset requested again too soon returns a
// single update.
type messenger struct {
	t         *testing.T
	onUpdates func(ctx context.Context) error // runs first and may fail or hang
	onConfirm func(ctx context.Context) error
	isDone    func(id int64) bool
	show      int // maximum number of updates returned at once

	mu      sync.Mutex
	arrived chan struct{} // closed when there is something new
	queue   []Update      // unconfirmed updates
	highest int64         // id of the newest update
	asks    []ask
	stopped []int64 // the offsets of Confirm
}

// come adds updates. An id lower than the last id restarts the ids.
func (m *messenger) come(updates ...Update) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range updates {
		m.queue = append(m.queue, u)
		m.highest = u.ID
	}
	close(m.arrived)
	m.arrived = make(chan struct{})
}

func (m *messenger) unconfirmed() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []int64
	for _, u := range m.queue {
		ids = append(ids, u.ID)
	}
	return ids
}

// confirm drops the updates before the offset, unless the offset is from before the ids restarted.
func (m *messenger) confirm(offset int64) {
	if offset > m.highest+1 {
		return
	}
	m.queue = slices.DeleteFunc(m.queue, func(u Update) bool {
		if u.ID < offset && !m.isDone(u.ID) {
			m.t.Errorf("offset %d confirms update %d, which is not persisted", offset, u.ID)
		}
		return u.ID < offset
	})
}

func (m *messenger) Updates(ctx context.Context, offset int64, wait time.Duration) ([]Update, error) {
	m.mu.Lock()
	again := false
	if n := len(m.asks); n > 0 && m.asks[n-1].offset == offset {
		since := time.Since(m.asks[n-1].begun)
		if again = since < 500*time.Millisecond; since < 600*time.Millisecond {
			m.t.Errorf("offset %d is asked again after %v", offset, since)
		}
	}
	m.asks = append(m.asks, ask{offset: offset, wait: wait, begun: time.Now()})
	m.mu.Unlock()
	if m.onUpdates != nil {
		if err := m.onUpdates(ctx); err != nil {
			return nil, err
		}
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for over := wait == 0; ; {
		m.mu.Lock()
		m.confirm(offset)
		shown := slices.Clone(m.queue[:min(len(m.queue), m.show)])
		if again {
			shown = shown[:min(len(shown), 1)]
		}
		m.asks[len(m.asks)-1].shown = len(shown)
		arrived := m.arrived
		m.mu.Unlock()
		if len(shown) > 0 || over {
			return shown, nil
		}
		select {
		case <-arrived:
		case <-deadline.C:
			over = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *messenger) Confirm(ctx context.Context, offset int64) error {
	m.mu.Lock()
	m.stopped = append(m.stopped, offset)
	m.mu.Unlock()
	if m.onConfirm != nil {
		if err := m.onConfirm(ctx); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.confirm(offset)
	return nil
}

func (m *messenger) asked() []ask {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asks)
}

// offsets returns the requested offsets, without consecutive repetitions.
func (m *messenger) offsets() []int64 {
	var offsets []int64
	for _, a := range m.asked() {
		offsets = append(offsets, a.offset)
	}
	return slices.Compact(offsets)
}

// bot is everything that a poller or a webhook needs: a messenger, a handler that returns what
// answer returns and reports overlapping updates of a lane, a store of dead letters, and a record
// of lost attempts.
type bot struct {
	*messenger
	t      *testing.T
	answer func(ctx context.Context, u Update) error // nil: succeed at once
	onKeep func(ctx context.Context) error
	lost   *attempts // in careful mode
	worker *Worker
	log    logbook

	mu       sync.Mutex
	busy     map[int64]int64 // lane → update
	attempts map[int64][]time.Time
	handled  map[int64][]int64 // by lane: ids in the order in which they were handled
	letters  []DeadLetter
	done     map[int64]bool

	cancel context.CancelFunc
	ended  chan error
}

func newBot(t *testing.T) *bot {
	t.Helper()
	b := &bot{
		t: t, busy: make(map[int64]int64), attempts: make(map[int64][]time.Time),
		handled: make(map[int64][]int64), done: make(map[int64]bool), ended: make(chan error, 1),
	}
	b.lost = &attempts{lost: make(map[int64]int)}
	b.worker = NewWorker(b.handle, b, b.lost, blame, time.Now, slog.New(&b.log))
	b.messenger = &messenger{t: t, show: 100, arrived: make(chan struct{}), isDone: func(id int64) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.done[id]
	}}
	return b
}

// inBubble runs a subtest in a bubble of fake time, in parallel with others.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}

// start runs a poller until stop or the end of the test.
func (b *bot) start() *Poller {
	p := NewPoller(b.messenger, b.worker)
	b.run(p)
	return p
}

func (b *bot) run(p *Poller) {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() { b.ended <- p.Run(ctx) }()
	b.t.Cleanup(func() {
		if ctx.Err() == nil {
			b.stop()
		}
	})
}

// stop ends the poller and returns how long that took.
func (b *bot) stop() time.Duration {
	b.t.Helper()
	begun := time.Now()
	b.cancel()
	if err := <-b.ended; err != nil {
		b.t.Errorf("Run ends with %v", err)
	}
	if n := b.inHand(); n != 0 {
		b.t.Errorf("%d handlers still run after the end", n)
	}
	return time.Since(begun)
}

func (b *bot) handle(ctx context.Context, u Update) error {
	b.mu.Lock()
	if other, ok := b.busy[u.Lane]; ok {
		b.t.Errorf("updates %d and %d of lane %d are handled at the same time", other, u.ID, u.Lane)
	}
	b.busy[u.Lane] = u.ID
	b.attempts[u.ID] = append(b.attempts[u.ID], time.Now())
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.busy, u.Lane)
	}()
	if b.answer != nil {
		if err := b.answer(ctx, u); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handled[u.Lane] = append(b.handled[u.Lane], u.ID)
	b.done[u.ID] = true
	return nil
}

// Save implements DeadLetters.
func (b *bot) Save(ctx context.Context, letter DeadLetter) error {
	if b.onKeep != nil {
		if err := b.onKeep(ctx); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = append(b.letters, letter)
	b.done[letter.Update.ID] = true
	return nil
}

// tries returns the times of the attempts at an update, relative to the first attempt.
func (b *bot) tries(id int64) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var tries []time.Duration
	for _, at := range b.attempts[id] {
		tries = append(tries, at.Sub(b.attempts[id][0]))
	}
	return tries
}

// inHand returns the number of updates being handled.
func (b *bot) inHand() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.busy)
}

// count returns the number of handled updates.
func (b *bot) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, ids := range b.handled {
		n += len(ids)
	}
	return n
}

// kept returns the dead letters, sorted by update.
func (b *bot) kept() []DeadLetter {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.SortedFunc(slices.Values(b.letters),
		func(x, y DeadLetter) int { return cmp.Compare(x.Update.ID, y.Update.ID) })
}

func (b *bot) checkConfirmed() {
	b.t.Helper()
	if ids := b.unconfirmed(); len(ids) > 0 {
		b.t.Errorf("%d updates are not confirmed, the first is %d", len(ids), ids[0])
	}
}

// updates returns n updates with consecutive ids, beginning at from. It assigns them to the lanes
// in turn.
func updates(from int64, n int, lanes ...int64) []Update {
	var us []Update
	for i := range n {
		us = append(us, Update{ID: from + int64(i), Lane: lanes[i%len(lanes)]})
	}
	return us
}

// sequence returns from, from+step, from+2*step, … as long as they are below to.
func sequence(from, to, step int64) []int64 {
	var ids []int64
	for id := from; id < to; id += step {
		ids = append(ids, id)
	}
	return ids
}

// after waits for d, and then until everything due at that moment has happened.
func after(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	synctest.Wait()
}

// hang blocks until the context ends.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// pass waits for d. If the context ends before that, pass returns its error.
func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const ms = time.Millisecond

// equal fails the test if got differs from want. The format and its arguments describe the compared
// values.
func equal[T any](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}
