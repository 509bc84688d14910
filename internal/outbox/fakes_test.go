package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/rapidtest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	rapidtest.Same(20)
	debug.SetGCPercent(400) // the heap is small, and collecting it would take a fifth of the time
	goleak.VerifyTestMain(m)
}

// fakeLease is a Lease that lasts until lost is closed.
type fakeLease struct {
	epoch int64
	lost  chan struct{}
}

func newLease(epoch int64) *fakeLease { return &fakeLease{epoch: epoch, lost: make(chan struct{})} }

func (h *fakeLease) Epoch() int64 { return h.epoch }

func (h *fakeLease) Remaining() time.Duration {
	select {
	case <-h.lost:
		return 0
	default:
		return time.Hour
	}
}

// request is a request that the messenger received.
type request struct {
	ids     []int64 // of the covered items
	extra   bool    // not the first request for the message
	chat    ChatID
	message Message
	begun   time.Time
	ended   time.Time // zero while in flight
	err     error
}

// messenger is a scripted Sender. The test fails if two messages of a lane are being sent at the
// same time.
type messenger struct {
	t      *testing.T
	answer func(ctx context.Context, m Message) error // answers a request; nil: immediate success
	fits   int                                        // items that fit into one message; 0: all
	silent func(m Message) bool                       // skips begin if it returns true; nil: never
	forms  func(m Message) int                        // number of requests for m; nil: one

	mu          sync.Mutex
	busy        map[Lane]bool
	maxInFlight int // maximum number of messages being sent at the same time
	requests    []request
}

func newMessenger(t *testing.T, answer func(ctx context.Context, m Message) error) *messenger {
	t.Helper()
	return &messenger{t: t, answer: answer, busy: make(map[Lane]bool)}
}

// messageID returns the id that messenger gives to the message for an item.
func messageID(item int64) int64 { return 1000 + item }

func (m *messenger) Send(ctx context.Context, message Message, begin Begin) (_ Receipt, err error) {
	covered, receipt := len(message.Items), Receipt{}
	if m.fits > 0 {
		covered = min(covered, m.fits)
		receipt.Covered = covered
	}
	m.setBusy(message.Lane, true)
	defer m.setBusy(message.Lane, false)
	forms := 1
	if m.forms != nil {
		forms = m.forms(message)
	}
	for form := range forms {
		if m.silent == nil || !m.silent(message) {
			if err := begin(ctx); err != nil {
				return receipt, err
			}
		}
		if err = m.request(ctx, message, covered, form > 0); ctx.Err() != nil {
			break
		}
	}
	if err == nil {
		receipt.MessageID = messageID(message.Row.ID)
	}
	return receipt, err
}

func (m *messenger) setBusy(l Lane, busy bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !busy {
		delete(m.busy, l)
		return
	}
	if m.busy[l] {
		m.t.Errorf("two messages for %+v at the same time", l)
	}
	m.busy[l] = true
	m.maxInFlight = max(m.maxInFlight, len(m.busy))
}

// request makes a request for the first covered items of a message.
func (m *messenger) request(ctx context.Context, message Message, covered int, extra bool) (err error) {
	r := request{chat: message.Lane.Chat, extra: extra, message: message, begun: time.Now()}
	for _, item := range message.Items[:covered] {
		r.ids = append(r.ids, item.ID)
	}
	m.mu.Lock()
	at := len(m.requests)
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.requests[at].ended, m.requests[at].err = time.Now(), err
	}()
	if m.answer == nil {
		return nil
	}
	return m.answer(ctx, message)
}

// to returns the requests to a chat.
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

func (m *messenger) all() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// ids returns the ids of the items in the requests to a chat.
func (m *messenger) ids(chat ChatID) []int64 {
	var ids []int64
	for _, r := range m.to(chat) {
		ids = append(ids, r.ids...)
	}
	return ids
}

func failure(kind FailureKind) *Failure {
	return &Failure{Kind: kind, Err: errors.New("scripted failure")}
}

func rateLimited(advance time.Duration) *Failure {
	return &Failure{Kind: RateLimited, RetryAfter: advance, Err: errors.New("too many requests")}
}

// scripted returns a function that answers the requests for an item with the errors listed under
// its id, in order, and then with success. For errPanic, it panics.
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

// answersAfter returns a function that succeeds after a delay, or fails as Ambiguous if the context
// ends before that.
func answersAfter(d time.Duration) func(context.Context, Message) error {
	return func(ctx context.Context, _ Message) error {
		if err := sleep(ctx, d); err != nil {
			return &Failure{Kind: Ambiguous, Err: err}
		}
		return nil
	}
}

// sleep waits for a duration. If the context ends before that, sleep returns its error.
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

// advance lets time pass, and then waits until all goroutines of the bubble are blocked.
func advance(t *testing.T, d time.Duration) {
	t.Helper()
	if err := sleep(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// hang blocks until the context ends.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// ignoresCancel returns a function that succeeds after a delay, even if its context ends before
// that.
func ignoresCancel(d time.Duration) func(context.Context, Message) error {
	return func(context.Context, Message) error { return sleep(context.Background(), d) }
}

// inBubble runs a parallel subtest in a bubble of fake time.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}

// process is a running dispatcher, which is stopped when the test ends. An error of Run fails the
// test, unless the test has received it from ended.
type process struct {
	*Dispatcher
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error // result of Run
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
		select {
		case err := <-p.ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		default: // the test has received its result
		}
	})
	return p
}

// dispatch starts a dispatcher. Unless settings.Bounds.Merge is set, it sends each item in its own
// message.
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

func run(t *testing.T, d *Dispatcher, lease Lease) *process {
	t.Helper()
	return start(t, d, func(ctx context.Context) error { return d.Run(ctx, lease) })
}

// dispatchTerm is like dispatch but also returns the term. A test may read the fields of the term
// only while all other goroutines are blocked.
func dispatchTerm(t *testing.T, store Store, sender Sender, settings Settings) (*process, *term) {
	t.Helper()
	if settings.Bounds.Merge == 0 {
		settings.Bounds.Merge = 1
	}
	d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), settings)
	term := newTerm(d, newLease(1))
	return start(t, d, term.run), term
}

// checkEmpty fails the test if the dispatcher still keeps anything in memory.
func (t *term) checkEmpty(test *testing.T) {
	test.Helper()
	inMemory := map[string]int{
		"lanes": len(t.lanes), "due": len(t.due), "ready": len(t.ready), "callback answers": len(t.callbackAnswers),
		"sending": t.sending, "sending callback answers": t.answeringCallbacks, "taken": len(t.takes), "results": len(t.results),
		"woken": len(t.woken), "extra requests": len(t.extra),
	}
	for what, n := range inMemory {
		if n != 0 {
			test.Errorf("kept in memory: %d %s", n, what)
		}
	}
	t.Wake() // locks a mutex, so that the reads above happen before the next step
}

// laneCount returns the number of lanes in memory.
func (t *term) laneCount() int {
	n := len(t.lanes)
	t.Wake() // locks a mutex, so that the reads above happen before the next step
	return n
}

// Wake wakes the Messages lanes of the chats.
func (p *process) Wake(chats ...ChatID) { p.Dispatcher.Wake(lanesOf(chats)...) }

// WakeCallbackAnswers wakes the CallbackAnswers lane of a chat.
func (p *process) WakeCallbackAnswers(chat ChatID) {
	p.Dispatcher.Wake(Lane{Chat: chat, Kind: CallbackAnswers})
}

func lanesOf(chats []ChatID) []Lane {
	var all []Lane
	for _, c := range chats {
		all = append(all, Lane{Chat: c})
	}
	return all
}

// stop stops the dispatcher and returns how long stopping took.
func (p *process) stop() time.Duration {
	p.t.Helper()
	begun := time.Now()
	p.cancel()
	if err := <-p.ended; err != nil {
		p.t.Errorf("Run: %v", err)
	}
	return time.Since(begun)
}

func repeat(chat ChatID, n int) []ChatID { return slices.Repeat([]ChatID{chat}, n) }

// sequence returns the ids from, from+1, … to.
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

// messengerLimits returns the limits of https://core.telegram.org/bots/faq: one message per second
// in a private chat, 20 per minute in a group, and 30 per second in total. To a group,
// messengerLimits also allows at most five messages within five seconds.
func messengerLimits() Limits {
	return Limits{
		Private: []Window{{1, time.Second}},
		Group:   []Window{{20, time.Minute}, {5, 5 * time.Second}},
		Total:   []Window{{30, time.Second}},
	}
}

// equal fails the test if got differs from want. The format and its arguments describe the compared
// values.
func equal[T any](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}
