package outbox

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// noPolls disables polling after the first poll, so that only wakes find new items.
var noPolls = Settings{PollEvery: 24 * time.Hour}

// TestWakeWhileLaneRuns checks that an item that is added and woken while its lane is busy is sent
// without a poll.
func TestWakeWhileLaneRuns(t *testing.T) {
	t.Parallel()
	const chat = ChatID(1)
	moments := map[string]func(store *memory, sender *messenger, addItem func()){
		"when it has been sent": func(store *memory, _ *messenger, addItem func()) {
			store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
				if len(results) > 0 {
					addItem()
				}
				return nil
			}
		},
		"when its result cannot be persisted": func(store *memory, _ *messenger, addItem func()) {
			callsLeft := 3
			store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
				if callsLeft--; len(results) > 0 && callsLeft > 0 {
					addItem()
					return errUnavailable
				}
				return nil
			}
		},
		"when nothing was found": func(store *memory, _ *messenger, addItem func()) {
			store.afterAdvance = func(turns []Turn) error {
				if len(turns) > 0 && turns[0].Message == nil {
					addItem()
				}
				return nil
			}
		},
		"when the chat is parked": func(store *memory, sender *messenger, addItem func()) {
			sender.answer = func(_ context.Context, m Message) error {
				if m.Row.ID == 1 && m.Row.Attempts == 1 {
					return failure(Forbidden)
				}
				return nil
			}
			store.afterAdvance = func([]Turn) error {
				if store.isParked(chat) {
					store.unpark(chat)
					addItem()
				}
				return nil
			}
		},
	}
	for name, set := range moments {
		inBubble(t, name, func(t *testing.T) {
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
			p = dispatch(t, store, sender, noPolls)
			close(begun)
			synctest.Wait()
			p.Wake(chat)
			advance(t, 10*time.Second)
			equal(t, store.count(rowSent), 2, "items sent")
		})
	}
}

func TestPollFindsItems(t *testing.T) {
	t.Parallel()
	for every, settings := range map[time.Duration]Settings{
		time.Second:      {},
		30 * time.Second: {PollEvery: 30 * time.Second},
	} {
		inBubble(t, every.String(), func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			store.add(1) // from before the start, found at once
			dispatch(t, store, sender, settings)
			synctest.Wait()
			if store.open() != 0 {
				t.Error("the item from before the start is not sent")
			}
			advance(t, every/3)
			store.add(1, 2, 2)
			store.put(row{chat: 3, action: CallbackAnswer})
			advance(t, every-every/3-1)
			equal(t, store.open(), 4, "open items before the poll")
			advance(t, 1)
			equal(t, store.open(), 0, "open items after the poll")
		})
	}
}

// TestPollFails checks that failed polls and surveys are repeated until they succeed. The log
// reports only the first failure of the polls and of the surveys.
func TestPollFails(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]func(context.Context) error{
		"at once":    func(context.Context) error { return errUnavailable },
		"by hanging": hang,
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender, book := newMemory(), newMessenger(t, nil), newLogbook()
			end := time.Now().Add(time.Minute)
			store.onWaiting = func(ctx context.Context) error {
				if time.Now().Before(end) {
					return failing(ctx)
				}
				return nil
			}
			store.onSurvey = store.onWaiting
			store.add(1)
			run(t, NewDispatcher(store, sender, slog.New(book), Settings{}), newLease(1))
			advance(t, time.Minute-1)
			if store.open() != 1 {
				t.Error("the item is sent before a poll has succeeded")
			}
			advance(t, 12*time.Second)
			if store.open() != 0 {
				t.Error("the item is not found after the outage")
			}
			equal(t, book.countFrom(slog.LevelWarn), 2, "lines in the log")
		})
	}
}

// TestSlowPollsAreRare checks that, after a slow poll, the pause is ten times as long as the poll
// took.
func TestSlowPollsAreRare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		var begun []time.Duration
		start := time.Now()
		store.onWaiting = func(ctx context.Context) error {
			begun = append(begun, time.Since(start))
			return sleep(ctx, 500*time.Millisecond)
		}
		dispatch(t, store, sender, Settings{})
		advance(t, 12*time.Second)
		equal(t, begun, []time.Duration{0, 5500 * time.Millisecond, 11 * time.Second}, "polls")
	})
}

// TestWakeNeverBlocks checks that Wake never blocks, however often it is called. While the
// dispatcher does not run, Wake keeps nothing and returns false.
func TestWakeNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), noPolls)
		wake := func(want bool) {
			t.Helper()
			for range 1000 {
				store.add(1, 2)
				store.put(row{chat: 2, action: CallbackAnswer})
				for _, lanes := range [][]Lane{{{Chat: 1}}, {{Chat: 2}, {Chat: 3}}, {{Chat: 2, Kind: CallbackAnswers}}, nil} {
					if d.Wake(lanes...) != want {
						t.Fatalf("woken: %t, want %t", !want, want)
					}
				}
			}
		}
		for range 2 {
			wake(false)
			if len(d.woken) > 0 {
				t.Errorf("%d lanes are kept", len(d.woken))
			}
			p := run(t, d, newLease(1))
			synctest.Wait()
			wake(true)
			synctest.Wait()
			equal(t, store.open(), 0, "items left")
			wake(true) // together with the stop
			p.stop()
		}
		wake(false)
	})
}

// hookedStore is a memory with a hook that runs right after each poll.
type hookedStore struct {
	*memory
	afterWaiting func()
}

func (l hookedStore) Waiting(ctx context.Context, bounds Bounds) ([]Backlog, error) {
	backlogs, err := l.memory.Waiting(ctx, bounds)
	l.afterWaiting()
	return backlogs, err
}

// TestWakeAtFirstPoll checks that an item that is added and woken just before or after the first
// poll is sent without another poll.
func TestWakeAtFirstPoll(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"before", "after"} {
		inBubble(t, moment, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			var d *Dispatcher
			addItem := func() {
				store.add(1)
				if !d.Wake(Lane{Chat: 1}) {
					t.Error("Wake returns false")
				}
			}
			hooked := hookedStore{memory: store, afterWaiting: func() {}}
			if moment == "after" {
				hooked.afterWaiting = addItem
			} else {
				store.onWaiting = func(context.Context) error { addItem(); return nil }
			}
			d = NewDispatcher(hooked, sender, slog.New(slog.DiscardHandler), noPolls)
			run(t, d, newLease(1))
			synctest.Wait()
			if store.open() != 0 {
				t.Error("the item is not sent")
			}
		})
	}
}
