package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
)

// fakeBoards has boards in all chats except chat 2. It records every call. From failsAt on, it
// fails for two seconds.
type fakeBoards struct {
	since  time.Time
	queued []queuedBoards
}

const failsAt = time.Minute

func (f *fakeBoards) err() error {
	if since := time.Since(f.since); failsAt <= since && since < failsAt+2*time.Second {
		return errors.New("no database")
	}
	return nil
}

// queuedBoards records a call to the store. Chats is empty for a call to QueueAllBoards.
type queuedBoards struct {
	At    time.Duration
	Chats []outbox.ChatID
}

func (f *fakeBoards) QueueBoards(_ context.Context, chats []outbox.ChatID) (with []outbox.ChatID, err error) {
	f.queued = append(f.queued, queuedBoards{time.Since(f.since), chats})
	for _, chat := range chats {
		if chat != 2 {
			with = append(with, chat)
		}
	}
	return with, f.err()
}

func (f *fakeBoards) QueueAllBoards(context.Context) ([]outbox.ChatID, error) {
	f.queued = append(f.queued, queuedBoards{At: time.Since(f.since)})
	return []outbox.ChatID{1, 3}, f.err()
}

// TestWhenBoardsAreUpdated checks that updates of all boards are queued at the start and every
// hour. An update of a chat's board is queued when something happens in the chat, but not within an
// interval after its last update was queued or sent. Failed attempts to queue an update are
// repeated.
func TestWhenBoardsAreUpdated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeBoards{since: time.Now()}
		var woken []outbox.Lane
		b := newBoards(store, 10*time.Second, func(lanes ...outbox.Lane) { woken = append(woken, lanes...) },
			slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.run(ctx)
		}()
		at := func(d time.Duration, do func()) {
			time.Sleep(d - time.Since(store.since)) //nolint:forbidigo // the clock of synctest
			synctest.Wait()
			do()
		}
		touch := func(chats ...outbox.ChatID) func() {
			return func() {
				for _, chat := range chats {
					b.touch(chat)
				}
			}
		}
		at(4*time.Second, touch(1, 2)) // 2 has no board, so no interval has begun
		at(20*time.Second, touch(3))
		at(22*time.Second, touch(3))
		at(29*time.Second, func() { b.noteUpdate(3) }) // the update queued at 20 s is sent late
		at(failsAt, touch(1))
		at(time.Hour+time.Minute, stop)
		<-done
		const gather = boardGather
		want := []queuedBoards{
			{0, nil},
			{4*time.Second + gather, []outbox.ChatID{2}},
			{10 * time.Second, []outbox.ChatID{1}},
			{20*time.Second + gather, []outbox.ChatID{3}},
			{39 * time.Second, []outbox.ChatID{3}},
			{failsAt + gather, []outbox.ChatID{1}}, {failsAt + gather + boardRetry, []outbox.ChatID{1}}, {failsAt + gather + 2*boardRetry, []outbox.ChatID{1}},
			{time.Hour, nil},
		}
		if diff := cmp.Diff(want, store.queued); diff != "" {
			t.Errorf("queued (-want +got):\n%s", diff)
		}
		lane := func(chat outbox.ChatID) outbox.Lane { return outbox.Lane{Chat: chat, Kind: outbox.Boards} }
		if diff := cmp.Diff([]outbox.Lane{lane(1), lane(3), lane(1), lane(3), lane(3), lane(1), lane(1), lane(3)},
			woken); diff != "" {
			t.Errorf("woken (-want +got):\n%s", diff)
		}
	})
}
