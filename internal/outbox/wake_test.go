package outbox

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// seldom keeps the poll from finding what a wake has to tell.
var seldom = Settings{PollEvery: 24 * time.Hour}

// An item that comes while its lane is busy is sent without a poll, at whatever moment of a step it comes.
func TestWakeWhileLaneRuns(t *testing.T) {
	t.Parallel()
	const chat = ChatID(1)
	moments := map[string]func(store *memory, sender *messenger, come func()){
		"before the item is taken": func(store *memory, _ *messenger, come func()) {
			store.onTake = func(context.Context, ChatID) error { come(); return nil }
		},
		"while it is sent": func(_ *memory, sender *messenger, come func()) {
			sender.answer = func(ctx context.Context, item Item) error {
				come()
				return takes(time.Second)(ctx, item)
			}
		},
		"when it has been sent": func(store *memory, _ *messenger, come func()) {
			store.onFinish = func(context.Context, Result) error { come(); return nil }
		},
		"when nothing was found": func(store *memory, _ *messenger, come func()) {
			store.afterTake = func(_ ChatID, item *Item) {
				if item == nil {
					come()
				}
			}
		},
		"when the chat is rate limited": func(_ *memory, sender *messenger, come func()) {
			sender.answer = func(_ context.Context, item Item) error {
				if come(); item.Attempts == 1 {
					return rateLimited(time.Second)
				}
				return nil
			}
		},
		"when the chat is gone": func(store *memory, sender *messenger, come func()) {
			sender.answer = func(_ context.Context, item Item) error {
				if item.ID == 1 && item.Attempts == 1 {
					return fail(Gone)
				}
				return nil
			}
			store.afterTake = func(chat ChatID, item *Item) {
				if item == nil {
					store.unpark(chat)
					come()
				}
			}
		},
	}
	for name, set := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, sender := newMemory(), newMessenger(t, nil)
				var p *process
				var once sync.Once
				begun := make(chan struct{})
				set(store, sender, func() {
					once.Do(func() {
						<-begun
						store.add(chat)
						p.Wake(chat)
					})
				})
				store.add(chat)
				p = dispatch(t, store, sender, seldom)
				close(begun)
				synctest.Wait()
				p.Wake(chat)
				after(t, 10*time.Second)
				if n := store.count(rowSent); n != 2 {
					t.Errorf("%d items are sent, want 2", n)
				}
				p.stop()
			})
		})
	}
}

// Wakes from many sides at once, with no poll to make up for a lost one.
func TestWakesAreNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, items, writers = 5, 100, 8
		store, sender := newMemory(), newMessenger(t, nil)
		p := dispatch(t, store, sender, seldom)
		synctest.Wait()
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range items {
					c := ChatID((w + i) % chats)
					store.add(c)
					p.Wake(c)
				}
			})
		}
		all.Wait()
		after(t, time.Second)
		if n := store.count(rowSent); n != writers*items {
			t.Errorf("%d items are sent, want %d", n, writers*items)
		}
		p.stop()
	})
}

func TestPollFindsItems(t *testing.T) {
	t.Parallel()
	for every, settings := range map[time.Duration]Settings{
		time.Second:      {},
		30 * time.Second: {PollEvery: 30 * time.Second},
	} {
		t.Run(every.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, sender := newMemory(), newMessenger(t, nil)
				store.add(1) // from before the start: at once
				p := dispatch(t, store, sender, settings)
				synctest.Wait()
				if store.open() != 0 {
					t.Error("the item from before the start is not sent")
				}
				after(t, every/3)
				store.add(1, 2, 2)
				after(t, every-every/3-1)
				if n := store.open(); n != 3 {
					t.Errorf("%d items are open before the poll, want 3", n)
				}
				after(t, 1)
				if n := store.open(); n != 0 {
					t.Errorf("%d items are open after the poll, want 0", n)
				}
				p.stop()
			})
		})
	}
}

func TestPollFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		back := time.Now().Add(time.Minute)
		store.onWaiting = func(context.Context) error {
			if time.Now().Before(back) {
				return errAway
			}
			return nil
		}
		store.add(1)
		p := dispatch(t, store, sender, Settings{})
		after(t, time.Minute-1)
		if store.open() != 1 {
			t.Error("the item is sent although nobody knows of it")
		}
		after(t, time.Second)
		if store.open() != 0 {
			t.Error("the item is not found when the database is back")
		}
		p.stop()
	})
}

// Nothing stays in memory of chats that have nothing to say.
func TestIdleLanesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 1000
		store, sender := newMemory(), newMessenger(t, func(_ context.Context, item Item) error {
			if item.Attempts > 1 {
				return nil
			}
			switch item.ID % 5 {
			case 0:
				return fail(Unreachable)
			case 1:
				return rateLimited(time.Second)
			case 2:
				return fail(Rejected)
			default:
				return nil
			}
		})
		p := dispatch(t, store, sender, Settings{})
		for c := range ChatID(chats) {
			store.add(c)
			p.Wake(c, c+chats) // and of chats that have nothing at all
		}
		after(t, time.Minute)
		if store.open() != 0 {
			t.Errorf("%d items are open", store.open())
		}
		if len(p.lanes) != 0 || len(p.ready) != 0 || len(p.woken) != 0 || p.running != 0 {
			t.Errorf("kept: %d lanes, %d of them ready, %d running, %d chats woken", len(p.lanes), len(p.ready), p.running, len(p.woken))
		}
		p.stop()
	})
}

// If Wake blocked, the bubble would be in a deadlock.
func TestWakeNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.onWaiting = func(context.Context) error { return errAway }
		d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), Settings{})
		for range 1000 {
			store.add(1, 2)
			d.Wake(1)
			d.Wake(2, 3)
			d.Wake()
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		synctest.Wait()
		if store.open() != 0 {
			t.Error("wakes from before Run are lost")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ends with %v", err)
		}
		for range 1000 {
			d.Wake(1, 2)
		}
	})
}

// Nor does it block while all that may be sent at once hangs.
func TestWakeWhileAllHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, _ Item) error {
			return &Failure{Class: Ambiguous, Err: hang(ctx)}
		})
		store.onWaiting, store.onFinish = hang, func(ctx context.Context, _ Result) error { return hang(ctx) }
		p := dispatch(t, store, sender, Settings{Parallel: 2})
		begun := time.Now()
		for c := range ChatID(1000) {
			store.add(c)
			p.Wake(c)
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("Wake blocks for %v", waited)
		}
		p.stop()
	})
}
