package outbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
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

// TestLeaseIsLongEnoughForRequests checks that a request starts only if the lease lasts longer than
// the request's timeout, with a margin. After a renewal, requests resume within leasePoll.
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

// TestLeaseIsLost checks that a dispatcher notices at its next write that it has lost the lease. It
// then cancels its requests, returns ErrLeaseLost and writes nothing more.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(p *process, store *memory){
		"when something is taken": func(p *process, store *memory) {
			store.add(9)
			p.Wake(9)
		},
		// Nothing to do: the quick chat is answered after a second, and its result is persisted.
		"when a result is persisted": func(*process, *memory) {},
		"when it stops": func(p *process, _ *memory) {
			p.cancel()
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			store := newMemory()
			const slow, quick = ChatID(1), ChatID(2)
			var canceledAt []time.Time
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if m.Lane.Chat == quick {
					return answersAfter(time.Second)(ctx, m)
				}
				err := hang(ctx)
				canceledAt = append(canceledAt, time.Now())
				return &Failure{Kind: Ambiguous, Err: err}
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
			if len(canceledAt) != 1 || time.Since(canceledAt[0]) != 0 {
				t.Errorf("the request in flight is canceled at %v, want %v", canceledAt, time.Now())
			}
			p.Wake(slow, quick)
			advance(t, time.Minute)
			equal(t, calls.Load(), 1, "calls of the store after the end of the lease")
			for id := int64(1); id <= 2; id++ {
				if r := store.row(id); r.state != rowSending {
					t.Errorf("item %d is %s, want sending", id, r.state)
				}
			}
		})
	}
}
