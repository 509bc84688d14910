package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"elobot/internal/outbox"
)

const (
	// boardGather is how long to gather chats in which something happens before their boards are looked up together.
	boardGather = 250 * time.Millisecond
	// boardsEvery is how often all boards are brought up to date: places also change with time.
	boardsEvery = time.Hour
	// boardRetry is how long to wait after a failure.
	boardRetry = time.Second
	// boardTimeout limits a call of the store.
	boardTimeout = 5 * time.Second
)

type boardStore interface {
	// QueueBoards queues an update of the board of each of these chats that has one, and returns those chats.
	QueueBoards(ctx context.Context, chats []outbox.ChatID) ([]outbox.ChatID, error)
	// QueueAllBoards is QueueBoards for all chats.
	QueueAllBoards(ctx context.Context) ([]outbox.ChatID, error)
}

// boards keeps the boards of all chats up to date. It queues an update whenever something happens in a chat, but not before the interval
// since the last one is over: that counts from when the update was queued, and again from when it was sent, because it may wait for long.
// What an update shows is read when it is sent, so one that is lost with the process is made good by the next leader, which begins with all
// boards.
type boards struct {
	store    boardStore
	interval time.Duration
	wake     func(...outbox.Lane)
	log      *slog.Logger

	mu      sync.Mutex
	touched map[outbox.ChatID]struct{}
	updated map[outbox.ChatID]time.Time // when the last update of a board was queued, or sent
	signal  chan struct{}

	failing bool // whether the last call of the store failed; used by run alone
}

func newBoards(store boardStore, interval time.Duration, wake func(...outbox.Lane), log *slog.Logger) *boards {
	return &boards{
		store: store, interval: interval, wake: wake, log: log, signal: make(chan struct{}, 1),
		touched: make(map[outbox.ChatID]struct{}), updated: make(map[outbox.ChatID]time.Time),
	}
}

// touch notes that something has happened in a chat. It never blocks.
func (b *boards) touch(chat outbox.ChatID) {
	b.note(chat)
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// noteUpdate notes that an update of a board was queued or is being sent. It never blocks.
func (b *boards) noteUpdate(chat outbox.ChatID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.updated[chat] = time.Now()
}

func (b *boards) note(chats ...outbox.ChatID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, chat := range chats {
		b.touched[chat] = struct{}{}
	}
}

// run keeps the boards up to date until the context ends.
func (b *boards) run(ctx context.Context) {
	all := time.NewTicker(boardsEvery)
	defer all.Stop()
	everything := true
	for ctx.Err() == nil {
		var wait time.Duration
		if everything {
			everything = !b.queue(ctx, b.store.QueueAllBoards)
			wait = b.interval
		} else {
			wait = b.queueTouched(ctx)
		}
		var next <-chan time.Time
		if b.failing {
			next = time.After(boardRetry)
		} else if wait > 0 {
			next = time.After(max(wait, boardGather))
		}
		select {
		case <-b.signal:
			select { // more will be touched at about the same time
			case <-time.After(min(boardGather, b.interval)):
			case <-ctx.Done():
			}
		case <-next:
		case <-all.C:
			everything = true
		case <-ctx.Done():
		}
	}
}

// queueTouched queues updates for the touched chats whose interval is over, and returns how long the next one has to wait; 0 if none waits.
func (b *boards) queueTouched(ctx context.Context) (wait time.Duration) {
	now := time.Now()
	var due []outbox.ChatID
	b.mu.Lock()
	maps.DeleteFunc(b.updated, func(_ outbox.ChatID, at time.Time) bool { return now.Sub(at) >= b.interval })
	for chat := range b.touched {
		at, recent := b.updated[chat]
		if !recent {
			due = append(due, chat)
			delete(b.touched, chat)
		} else if left := b.interval - now.Sub(at); wait == 0 || left < wait {
			wait = left
		}
	}
	b.mu.Unlock()
	if len(due) == 0 {
		return wait
	}
	slices.Sort(due)
	if !b.queue(ctx, func(ctx context.Context) ([]outbox.ChatID, error) { return b.store.QueueBoards(ctx, due) }) {
		b.note(due...)
	}
	return wait
}

// queue queues updates and wakes their lanes. It says whether that succeeded.
func (b *boards) queue(ctx context.Context, queue func(context.Context) ([]outbox.ChatID, error)) bool {
	storeCtx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	chats, err := queue(storeCtx)
	if err != nil {
		if ctx.Err() == nil && !b.failing {
			b.log.WarnContext(ctx, "failed to queue updates of boards, retrying", "error", err)
		}
		b.failing = true
		return false
	}
	b.failing = false
	lanes := make([]outbox.Lane, len(chats))
	for i, chat := range chats {
		b.noteUpdate(chat)
		lanes[i] = outbox.Lane{Chat: chat, Kind: outbox.Boards}
	}
	b.wake(lanes...)
	return true
}
