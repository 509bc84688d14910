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

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("the database is away")

type rowState string

const (
	rowPlanned rowState = "planned"
	rowSending rowState = "sending"
	rowSent    rowState = "sent"
	rowDead    rowState = "dead"
	rowExpired rowState = "expired"
)

type row struct {
	item      Item
	state     rowState
	messageID int64
	lastError string
}

func (r row) open() bool { return r.state == rowPlanned || r.state == rowSending }

// memory is a Store that keeps its rows as the database does. The hooks run first and may fail or hang.
type memory struct {
	onWaiting func(ctx context.Context) error
	onTake    func(ctx context.Context, chat ChatID) error
	onFinish  func(ctx context.Context, r Result) error
	afterTake func(chat ChatID, item *Item)

	mu     sync.Mutex
	rows   []*row // in the order of their ids
	frozen map[ChatID]time.Time
	parked map[ChatID]bool
}

func newMemory() *memory {
	return &memory{frozen: make(map[ChatID]time.Time), parked: make(map[ChatID]bool)}
}

// add adds a row for each chat and returns the id of the last one.
func (m *memory) add(chats ...ChatID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range chats {
		m.rows = append(m.rows, &row{item: Item{ID: int64(len(m.rows) + 1), Chat: c, Action: Send, To: -int64(c), Kind: "test"}, state: rowPlanned})
	}
	return int64(len(m.rows))
}

func (m *memory) unpark(chat ChatID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parked, chat)
}

// row returns a copy of the row with this id.
func (m *memory) row(id int64) row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.rows[id-1]
}

// open returns how many rows are not at their end.
func (m *memory) open() int {
	return m.count(rowPlanned) + m.count(rowSending)
}

func (m *memory) count(state rowState) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, r := range m.rows {
		if r.state == state {
			n++
		}
	}
	return n
}

// closed tells whether nothing may be sent to the chat now.
func (m *memory) closed(chat ChatID) bool {
	return m.parked[chat] || m.frozen[chat].After(time.Now())
}

func (m *memory) Waiting(ctx context.Context) ([]ChatID, error) {
	if m.onWaiting != nil {
		if err := m.onWaiting(ctx); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var chats []ChatID
	for _, r := range m.rows {
		if r.open() && !m.closed(r.item.Chat) && !slices.Contains(chats, r.item.Chat) {
			chats = append(chats, r.item.Chat)
		}
	}
	return chats, ctx.Err()
}

func (m *memory) Take(ctx context.Context, chat ChatID) (*Item, error) {
	if m.onTake != nil {
		if err := m.onTake(ctx, chat); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	item := m.head(chat)
	if m.afterTake != nil {
		m.afterTake(chat, item)
	}
	return item, nil
}

func (m *memory) head(chat ChatID) *Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.item.Chat != chat || !r.open() {
			continue
		}
		if m.closed(chat) {
			break
		}
		r.item.Attempts++
		if r.state == rowSending {
			r.item.PerhapsSent++
		}
		r.state = rowSending
		item := r.item
		return &item
	}
	return nil
}

func (m *memory) Finish(ctx context.Context, r Result) error {
	if m.onFinish != nil {
		if err := m.onFinish(ctx, r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := r.Failure; f != nil {
		switch f.Class {
		case RateLimited:
			if until := time.Now().Add(r.Pause); until.After(m.frozen[r.Item.Chat]) {
				m.frozen[r.Item.Chat] = until
			}
		case Gone:
			m.parked[r.Item.Chat] = true
		}
	}
	row := m.rows[r.Item.ID-1]
	if row.state != rowSending {
		return nil
	}
	if r.Failure == nil {
		row.state, row.messageID = rowSent, r.MessageID
		return nil
	}
	row.lastError = r.Failure.Err.Error()
	switch r.Failure.Class {
	case Rejected:
		row.state = rowDead
	case Pointless:
		row.state = rowExpired
	case Ambiguous:
	default:
		row.state = rowPlanned
	}
	return nil
}

// request is one request that a messenger has got.
type request struct {
	id    int64 // of the item
	chat  ChatID
	begun time.Time
}

// messenger is a Sender that answers as it is told and complains about two requests for a chat at the same time.
type messenger struct {
	t      *testing.T
	answer func(ctx context.Context, item Item) error // nil: all is well at once

	mu       sync.Mutex
	busy     map[ChatID]bool
	most     int // requests at the same time
	requests []request
}

func newMessenger(t *testing.T, answer func(ctx context.Context, item Item) error) *messenger {
	t.Helper()
	return &messenger{t: t, answer: answer, busy: make(map[ChatID]bool)}
}

// messageID is what the messenger calls the message of an item.
func messageID(item int64) int64 { return 1000 + item }

func (m *messenger) Send(ctx context.Context, item Item) (int64, error) {
	m.mu.Lock()
	if m.busy[item.Chat] {
		m.t.Errorf("two requests for chat %d at the same time", item.Chat)
	}
	m.busy[item.Chat] = true
	m.most = max(m.most, len(m.busy))
	m.requests = append(m.requests, request{id: item.ID, chat: item.Chat, begun: time.Now()})
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.busy, item.Chat)
	}()
	if m.answer != nil {
		if err := m.answer(ctx, item); err != nil {
			return 0, err
		}
	}
	return messageID(item.ID), nil
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

// ids returns the items of the requests for a chat.
func (m *messenger) ids(chat ChatID) []int64 {
	var ids []int64
	for _, r := range m.to(chat) {
		ids = append(ids, r.id)
	}
	return ids
}

func fail(class Class) *Failure { return &Failure{Class: class, Err: errors.New("as told")} }

func rateLimited(after time.Duration) *Failure {
	return &Failure{Class: RateLimited, RetryAfter: after, Err: errors.New("too many requests")}
}

// inTurn answers the requests for an item with its errors in turn, then well. An error "panic" is a panic.
func inTurn(errs map[int64][]error) func(context.Context, Item) error {
	return func(_ context.Context, item Item) error {
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
func takes(d time.Duration) func(context.Context, Item) error {
	return func(ctx context.Context, _ Item) error {
		if err := pass(ctx, d); err != nil {
			return &Failure{Class: Ambiguous, Err: err}
		}
		return nil
	}
}

// pass lets time go by.
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

// after lets time go by in a test, and then everything that happens at that moment.
func after(t *testing.T, d time.Duration) {
	t.Helper()
	if err := pass(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// hang waits until it is cut off.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// process is a dispatcher that runs.
type process struct {
	*Dispatcher
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error
}

// dispatch starts a dispatcher.
func dispatch(t *testing.T, store Store, sender Sender, settings Settings) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{
		Dispatcher: NewDispatcher(store, sender, slog.New(slog.DiscardHandler), settings),
		t:          t, cancel: cancel, ended: make(chan error, 1),
	}
	go func() { p.ended <- p.Run(ctx) }()
	return p
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

func between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %v, want between %v and %v", what, got, low, high)
	}
}
