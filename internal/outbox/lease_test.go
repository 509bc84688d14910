package outbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// limitedLease is a Lease that lasts until a given time, unless it is renewed.
type limitedLease struct {
	mu    sync.Mutex
	until time.Time
}

func (l *limitedLease) Epoch() int64 { return 1 }

func (l *limitedLease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

func (l *limitedLease) renew(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(d)
}

// A request starts only if it ends before another instance can take the lease. After a renewal requests resume soon.
func TestLeaseIsLongEnoughForRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration
		minLeft time.Duration
		action  Action
	}{
		"default":            {0, 6 * time.Second, Send},
		"by setting":         {2 * time.Second, 2400 * time.Millisecond, Send},
		"answers to buttons": {0, 6 * time.Second, CallbackAnswer},
	} {
		inBubble(t, name, func(t *testing.T) {
			lease := &limitedLease{until: time.Now().Add(15 * time.Second)}
			store := newMemory()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if left := lease.Remaining(); left < c.minLeft {
					t.Errorf("a request starts with %v left", left)
				}
				return answersAfter(70*time.Millisecond)(ctx, m)
			})
			for range 1000 {
				store.put(row{chat: 1, action: c.action})
			}
			begun := time.Now()
			dispatchWith(t, store, sender, Settings{SendTimeout: c.timeout, Bounds: Bounds{Merge: 1}}, lease)
			advance(t, 15*time.Second)
			n := len(sender.to(1))
			last := sender.to(1)[n-1].begun.Sub(begun)
			checkBetween(t, "the last request", last, 15*time.Second-c.minLeft-70*time.Millisecond, 15*time.Second-c.minLeft)
			advance(t, time.Minute)
			if got := len(sender.to(1)); got != n {
				t.Fatalf("%d requests without a lease", got-n)
			}
			renewed := time.Now()
			lease.renew(time.Hour)
			advance(t, time.Second)
			if len(sender.to(1)) == n {
				t.Fatal("no request with a new lease")
			}
			checkBetween(t, "resuming", sender.to(1)[n].begun.Sub(renewed), 0, leasePoll)
		})
	}
}

// Items that are taken when the lease is already too short are put back, and do not count as possible duplicates.
func TestLeaseEndsWhileTaking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lease := &limitedLease{until: time.Now().Add(7 * time.Second)}
		store, sender := newMemory(), newMessenger(t, nil)
		store.onAdvance = func(ctx context.Context, _ []Result, lanes []Lane) error {
			if len(lanes) > 0 {
				return sleep(ctx, 2*time.Second)
			}
			return nil
		}
		store.add(1, 2, 3, 4, 5)
		p := dispatchWith(t, store, sender, Settings{}, lease)
		advance(t, 10*time.Second)
		if len(sender.all()) != 0 || store.count(rowPlanned) != 5 {
			t.Errorf("%d requests, %d items wait, want none and 5", len(sender.all()), store.count(rowPlanned))
		}
		if p.Stats().CircuitOpen {
			t.Error("the circuit is open")
		}
		lease.renew(time.Hour)
		advance(t, 10*time.Second)
		for id := int64(1); id <= 5; id++ {
			if r := store.row(id); r.state != rowSent || r.PossibleDuplicates != 0 {
				t.Errorf("item %d is %s, with %d possible duplicates", id, r.state, r.PossibleDuplicates)
			}
		}
	})
}

// A dispatcher that has lost the lease ends at once, cancels its requests and writes nothing more.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(p *process, store *memory){
		"when something is taken": func(p *process, store *memory) {
			store.add(9)
			p.Wake(9)
		},
		"when a result is persisted": func(*process, *memory) {}, // the quick chat is answered after a second
		"when it stops": func(p *process, _ *memory) {
			p.cancel()
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			store := newMemory()
			const slow, quick = ChatID(1), ChatID(2)
			var cancelledAt []time.Time
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if m.Lane.Chat == quick {
					return answersAfter(time.Second)(ctx, m)
				}
				err := hang(ctx)
				cancelledAt = append(cancelledAt, time.Now())
				return &Failure{Class: Ambiguous, Err: err}
			})
			var lost atomic.Bool
			var calls atomic.Int32
			store.onAdvance = func(context.Context, []Result, []Lane) error {
				if lost.Load() {
					calls.Add(1)
				}
				return nil
			}
			store.add(slow, quick)
			p := dispatchWith(t, store, sender, Settings{PollEvery: noPolls.PollEvery}, newLease(1))
			advance(t, 500*time.Millisecond)
			store.handOver(2)
			lost.Store(true)
			act(p, store)
			err := <-p.ended
			if !errors.Is(err, ErrLeaseLost) {
				t.Errorf("Run: %v", err)
			}
			if len(cancelledAt) != 1 || time.Since(cancelledAt[0]) != 0 {
				t.Errorf("the request in flight is cancelled at %v, want %v", cancelledAt, time.Now())
			}
			p.Wake(slow, quick)
			advance(t, time.Minute)
			if n := calls.Load(); n != 1 {
				t.Errorf("the store is called %d times after the end of the lease, want once", n)
			}
			for id := int64(1); id <= 2; id++ {
				if r := store.row(id); r.state != rowSending {
					t.Errorf("item %d is %s, want sending", id, r.state)
				}
			}
		})
	}
}

// Two instances that hand over do not overwrite each other, and everything is sent in order.
func TestLeaseIsHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 60
		store, sender := newMemory(), newMessenger(t, answersAfter(100*time.Millisecond))
		store.add(repeat(1, items)...)
		book := newLogbook()
		settings := Settings{Bounds: Bounds{Merge: 1}}
		first := dispatchWith(t, store, sender, settings, newLease(1))
		advance(t, 2*time.Second+50*time.Millisecond)
		store.handOver(2)
		if err := <-first.ended; !errors.Is(err, ErrLeaseLost) {
			t.Errorf("Run: %v", err)
		}
		second := run(t, NewDispatcher(store, sender, slog.New(book), settings), newLease(2))
		advance(t, time.Minute)
		second.stop()
		ids := sender.ids(1)
		if n := len(ids); n != items+1 {
			t.Fatalf("%d requests for %d items, want one item twice", n, items)
		}
		for i, id := range ids {
			if want := int64(i + 1); i < 21 && id != want || i >= 21 && id != want-1 {
				t.Fatalf("requests %v", ids)
			}
		}
		if r := store.row(21); r.PossibleDuplicates != 1 {
			t.Errorf("the item in flight has %d possible duplicates, want 1", r.PossibleDuplicates)
		}
	})
}
