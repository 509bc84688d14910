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
	// boardGather is the longest time for which touched chats are collected before the updates of
	// their boards are queued together.
	boardGather = 250 * time.Millisecond
	// boardsEvery is how often all boards are updated, because places also change without a match,
	// as time passes.
	boardsEvery = time.Hour
	// boardRetry is the pause after the store has failed.
	boardRetry = time.Second
	// boardTimeout limits each call to the store.
	boardTimeout = 5 * time.Second
)

type boardStore interface {
	// QueueBoards queues updates of the boards in the given chats, and returns the chats with
	// queued updates.
	QueueBoards(ctx context.Context, chats []outbox.ChatID) ([]outbox.ChatID, error)
	// QueueAllBoards is like QueueBoards, but for all chats. It also queues updates for messages of
	// boards that were turned off or moved.
	QueueAllBoards(ctx context.Context) ([]outbox.ChatID, error)
}

// boards keeps the boards of all chats up to date. It queues an update after something has happened
// in a chat, but waits until interval has passed since the chat's last update. The interval starts
// when an update is queued, and again when the update is sent, because it may wait a long time in
// between. Updates for all chats are queued every boardsEvery.
//
// What an update shows is read when it is sent. The touched chats are lost when the process ends,
// but the next leader makes up for that: it starts by updating all boards.
type boards struct {
	store    boardStore
	interval time.Duration
	wake     func(...outbox.Lane)
	log      *slog.Logger

	mu      sync.Mutex
	touched map[outbox.ChatID]struct{}
	updated map[outbox.ChatID]time.Time // when a board's last update was queued or sent

	// retry is the earliest time of the next call to the store, if the last call failed; otherwise
	// it is zero. Only the goroutine of run uses it.
	retry time.Time
}

func newBoards(store boardStore, interval time.Duration, wake func(...outbox.Lane), log *slog.Logger) *boards {
	return &boards{
		store: store, interval: interval, wake: wake, log: log,
		touched: make(map[outbox.ChatID]struct{}), updated: make(map[outbox.ChatID]time.Time),
	}
}

// touch notes that something has happened in a chat. It does not wait for the store.
func (b *boards) touch(chat outbox.ChatID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched[chat] = struct{}{}
}

// noteUpdate notes that an update of a chat's board was queued or is being sent. It does not wait
// for the store.
func (b *boards) noteUpdate(chat outbox.ChatID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.updated[chat] = time.Now()
}

func (b *boards) run(ctx context.Context) {
	tick := time.NewTicker(min(boardGather, b.interval))
	defer tick.Stop()
	var all time.Time // when all boards are due next
	for ctx.Err() == nil {
		switch now := time.Now(); {
		case now.Before(b.retry):
		case now.Before(all):
			b.queueTouched(ctx)
		case b.queue(ctx, b.store.QueueAllBoards):
			all = now.Add(boardsEvery)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// queueTouched queues updates for the touched chats whose interval is over. If that fails, the
// chats stay touched.
func (b *boards) queueTouched(ctx context.Context) {
	now := time.Now()
	var due []outbox.ChatID
	b.mu.Lock()
	maps.DeleteFunc(b.updated, func(_ outbox.ChatID, at time.Time) bool { return now.Sub(at) >= b.interval })
	for chat := range b.touched {
		if _, recent := b.updated[chat]; !recent {
			due = append(due, chat)
			delete(b.touched, chat)
		}
	}
	b.mu.Unlock()
	if len(due) == 0 {
		return
	}
	slices.Sort(due)
	if !b.queue(ctx, func(ctx context.Context) ([]outbox.ChatID, error) { return b.store.QueueBoards(ctx, due) }) {
		for _, chat := range due {
			b.touch(chat)
		}
	}
}

// queue calls the given function, which queues updates and returns their chats, and reports whether
// the function succeeded. After a success, queue notes the updates and wakes the lanes of their
// chats. After a failure, it sets b.retry.
func (b *boards) queue(ctx context.Context, queue func(context.Context) ([]outbox.ChatID, error)) bool {
	storeCtx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	chats, err := queue(storeCtx)
	if err != nil {
		if ctx.Err() == nil && b.retry.IsZero() {
			b.log.WarnContext(ctx, "failed to queue updates of boards, retrying", "error", err)
		}
		b.retry = time.Now().Add(boardRetry)
		return false
	}
	b.retry = time.Time{}
	lanes := make([]outbox.Lane, len(chats))
	for i, chat := range chats {
		b.noteUpdate(chat)
		lanes[i] = outbox.Lane{Chat: chat, Kind: outbox.Boards}
	}
	b.wake(lanes...)
	return true
}
