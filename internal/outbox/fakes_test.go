package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/rapidtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rapidtest.Same(20)
	goleak.VerifyTestMain(m)
}

// held is a Lease that lasts until it is taken away.
type fakeLease struct {
	epoch int64
	lost  chan struct{}
}

func newLease(epoch int64) *fakeLease { return &fakeLease{epoch: epoch, lost: make(chan struct{})} }

func (h *fakeLease) Epoch() int64 { return h.epoch }

func (h *fakeLease) Left() time.Duration {
	select {
	case <-h.lost:
		return 0
	default:
		return time.Hour
	}
}

// request is one request that a messenger has got.
type request struct {
	ids     []int64 // of the items that it told
	chat    ChatID
	message Message
	begun   time.Time
	ended   time.Time // zero: it is under way
	err     error
}

// messenger is a Sender that answers as it is told and complains about two requests for a lane at the same time.
type messenger struct {
	t      *testing.T
	answer func(ctx context.Context, m Message) error // nil: all is well at once
	fits   int                                        // how many items fit into one message, 0: all

	mu          sync.Mutex
	busy        map[Lane]bool
	maxInFlight int // requests at the same time
	requests    []request
}

func newMessenger(t *testing.T, answer func(ctx context.Context, m Message) error) *messenger {
	t.Helper()
	return &messenger{t: t, answer: answer, busy: make(map[Lane]bool)}
}

// messageID is what the messenger calls the message of an item.
func messageID(item int64) int64 { return 1000 + item }

func (m *messenger) Send(ctx context.Context, message Message) (_ Receipt, err error) {
	covered, receipt := len(message.Items), Receipt{}
	if m.fits > 0 {
		covered = min(covered, m.fits)
		receipt.Covered = covered
	}
	m.mu.Lock()
	if m.busy[message.Lane] {
		m.t.Errorf("two requests for %+v at the same time", message.Lane)
	}
	m.busy[message.Lane] = true
	m.maxInFlight = max(m.maxInFlight, len(m.busy))
	r := request{chat: message.Lane.Chat, message: message, begun: time.Now()}
	for _, item := range message.Items[:covered] {
		r.ids = append(r.ids, item.ID)
	}
	at := len(m.requests)
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.requests[at].ended, m.requests[at].err = time.Now(), err
		delete(m.busy, message.Lane)
	}()
	if m.answer != nil {
		if err = m.answer(ctx, message); err != nil {
			return receipt, err
		}
	}
	receipt.MessageID = messageID(message.Row.ID)
	return receipt, nil
}

// to returns the requests for a chat.
func (m *messenger) to(chat ChatID) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	var to []request
	for _, r := range m.requests {
		if r.chat == chat {
			to = append(to, r)
		}
	}
	return to
}

// all returns all requests.
func (m *messenger) all() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// ids returns the items of the requests for a chat.
func (m *messenger) ids(chat ChatID) []int64 {
	var ids []int64
	for _, r := range m.to(chat) {
		ids = append(ids, r.ids...)
	}
	return ids
}

func failure(class Class) *Failure { return &Failure{Class: class, Err: errors.New("as told")} }

func rateLimited(advance time.Duration) *Failure {
	return &Failure{Class: RateLimited, RetryAfter: advance, Err: errors.New("too many requests")}
}

// inTurn answers the requests for an item with its errors in turn, then well. An error "panic" is a panic.
func scripted(errs map[int64][]error) func(context.Context, Message) error {
	return func(_ context.Context, m Message) error {
		item := m.Row
		if item.Attempts > len(errs[item.ID]) {
			return nil
		}
		err := errs[item.ID][item.Attempts-1]
		if errors.Is(err, errPanic) {
			panic(err)
		}
		return err
	}
}

var errPanic = errors.New("sender is broken")

// takes answers well, after a time, or as a client does whose request is cut off.
func answersAfter(d time.Duration) func(context.Context, Message) error {
	return func(ctx context.Context, _ Message) error {
		if err := sleep(ctx, d); err != nil {
			return &Failure{Class: Ambiguous, Err: err}
		}
		return nil
	}
}

// pass lets time go by.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// after lets time go by in a test, and then everything that happens at that moment.
func advance(t *testing.T, d time.Duration) {
	t.Helper()
	if err := sleep(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// hang waits until it is cut off.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// hangForGood answers well after a long time, whatever anybody says.
func ignoresCancel(d time.Duration) func(context.Context, Message) error {
	return func(context.Context, Message) error { return sleep(context.Background(), d) }
}

// process is a dispatcher that runs, until it is stopped or the test ends.
type process struct {
	*Dispatcher
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error // what Run returns
}

func start(t *testing.T, d *Dispatcher, serve func(ctx context.Context) error) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{Dispatcher: d, t: t, cancel: cancel, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ended <- serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return p
}

// dispatch starts a dispatcher that tells each item in a message of its own, unless the settings say more.
func dispatch(t *testing.T, store Store, sender Sender, settings Settings) *process {
	t.Helper()
	if settings.Bounds.Merge == 0 {
		settings.Bounds.Merge = 1
	}
	return dispatchWith(t, store, sender, settings, newLease(1))
}

func dispatchWith(t *testing.T, store Store, sender Sender, settings Settings, lease Lease) *process {
	t.Helper()
	return run(t, NewDispatcher(store, sender, slog.New(slog.DiscardHandler), settings), lease)
}

// run starts a dispatcher.
func run(t *testing.T, d *Dispatcher, lease Lease) *process {
	t.Helper()
	return start(t, d, func(ctx context.Context) error { return d.Run(ctx, lease) })
}

// look starts a dispatcher as dispatch does, and returns what it has in memory too. That may be looked at when all of
// it is blocked.
func dispatchTerm(t *testing.T, store Store, sender Sender, settings Settings) (*process, *term) {
	t.Helper()
	if settings.Bounds.Merge == 0 {
		settings.Bounds.Merge = 1
	}
	d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), settings)
	term := newTerm(d, newLease(1))
	return start(t, d, term.dispatch), term
}

// forgotten complains about everything that a dispatcher with nothing to do still has in memory.
func (t *term) checkEmpty(test *testing.T) {
	test.Helper()
	inMemory := map[string]int{
		"lanes": len(t.lanes), "due": len(t.due), "waiting": t.waitingCount, "ready": len(t.ready), "toasts": len(t.callbackAnswers),
		"slow":    len(t.slow),
		"sending": t.sending, "sending toasts": t.answeringCallbacks, "taken": len(t.takes), "results": len(t.results),
		"woken": len(t.woken),
	}
	for what, n := range inMemory {
		if n != 0 {
			test.Errorf("kept in memory: %d %s", n, what)
		}
	}
	t.Wake() // what it does next comes after this
}

// remembered returns how many lanes a dispatcher has in memory.
func (t *term) laneCount() int {
	n := len(t.lanes)
	t.Wake() // what it does next comes after this
	return n
}

// Wake wakes the lanes of chats.
func (p *process) Wake(chats ...ChatID) { p.Dispatcher.Wake(lanesOf(chats)...) }

// WakeToasts wakes the lane of the answers to buttons in a chat.
func (p *process) WakeCallbackAnswers(chat ChatID) {
	p.Dispatcher.Wake(Lane{Chat: chat, CallbackAnswers: true})
}

func lanesOf(chats []ChatID) []Lane {
	var all []Lane
	for _, c := range chats {
		all = append(all, Lane{Chat: c})
	}
	return all
}

// stop ends the dispatcher and returns how long that takes.
func (p *process) stop() time.Duration {
	p.t.Helper()
	begun := time.Now()
	p.cancel()
	if err := <-p.ended; err != nil {
		p.t.Errorf("Run ends with %v", err)
	}
	return time.Since(begun)
}

func repeat(chat ChatID, n int) []ChatID { return slices.Repeat([]ChatID{chat}, n) }

// sequence is from, from+1 … to.
func sequence(from, to int64) []int64 {
	var ids []int64
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

func checkBetween(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %v, want between %v and %v", what, got, low, high)
	}
}
