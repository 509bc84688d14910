package outbox

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestHangingSender checks that a hanging sender is canceled at the timeout. If it ignores the
// cancellation, its send slot is free for other lanes a second later.
func TestHangingSender(t *testing.T) {
	t.Parallel()
	heeding := func(ctx context.Context) error { return &Failure{Kind: Ambiguous, Err: hang(ctx)} }
	ignoring := func(context.Context) error { return sleep(context.Background(), time.Hour) }
	late := func(ctx context.Context) error {
		<-ctx.Done()
		return sleep(context.Background(), 300*time.Millisecond)
	}
	panicking := func(ctx context.Context) error {
		<-ctx.Done()
		panic(errPanic)
	}
	for name, c := range map[string]struct {
		settings   Settings
		hang       func(context.Context) error
		want       time.Duration // until the send slot is free
		duplicates int
	}{
		"default":                  {Settings{}, heeding, 5 * time.Second, 1},
		"by setting":               {Settings{SendTimeout: 700 * time.Millisecond}, heeding, 700 * time.Millisecond, 1},
		"ignores the cancellation": {Settings{}, ignoring, 6 * time.Second, 1},
		"returns late":             {Settings{}, late, 5300 * time.Millisecond, 0},
		"panics in the end":        {Settings{}, panicking, 5 * time.Second, 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			store := newMemory()
			var mu sync.Mutex
			begun := make(map[ChatID][]time.Time)
			sender := senderFunc(func(ctx context.Context, m Message) (Receipt, error) {
				mu.Lock()
				begun[m.Lane.Chat] = append(begun[m.Lane.Chat], time.Now())
				mu.Unlock()
				if m.Lane.Chat == 1 && m.Row.Attempts == 1 {
					return Receipt{}, c.hang(ctx)
				}
				return Receipt{}, nil
			})
			store.add(1)
			start := time.Now()
			c.settings.Parallel = 1
			p, tm := dispatchTerm(t, store, sender, c.settings)
			synctest.Wait()
			store.add(2)
			p.Wake(2)
			advance(t, time.Minute)
			equal(t, begun[2][0].Sub(start), c.want, "delay of the other chat")
			if r := store.row(1); r.state != rowSent || r.PossibleDuplicates != c.duplicates {
				t.Errorf("the item is %s with %d possible duplicates, want sent with %d",
					r.state, r.PossibleDuplicates, c.duplicates)
			}
			tm.checkEmpty(t)
			p.stop()
			advance(t, time.Hour)
		})
	}
}

// senderFunc is a Sender that makes one request for each message.
type senderFunc func(ctx context.Context, m Message) (Receipt, error)

func (f senderFunc) Send(ctx context.Context, m Message, begin Begin) (Receipt, error) {
	if err := begin(ctx); err != nil {
		return Receipt{}, err
	}
	return f(ctx, m)
}

// TestHangingStore checks that a hanging call to Store.Advance is canceled after storeTimeout and
// repeated.
func TestHangingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		hung := map[bool]bool{} // whether a call with results (true) or without (false) has hung
		store.onAdvance = func(ctx context.Context, results []Result, _ []Lane) error {
			if persists := len(results) > 0; !hung[persists] {
				hung[persists] = true
				return hang(ctx)
			}
			return nil
		}
		store.add(1)
		dispatch(t, store, sender, Settings{})
		advance(t, 2*storeTimeout+2*time.Second)
		if r := store.row(1); r.state != rowSent || len(sender.to(1)) != 1 || len(hung) != 2 {
			t.Errorf("the item is %s after %d requests, want sent after 1", r.state, len(sender.to(1)))
		}
	})
}
