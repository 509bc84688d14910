package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A request in flight at the stop keeps its full timeout: no request is cancelled that would have been answered, so
// nothing is sent twice.
func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(4*time.Second))
		store.add(1, 1, 2)
		p := dispatch(t, store, sender, noPolls)
		synctest.Wait()
		checkBetween(t, "stopping", p.stop(), 4*time.Second, 4*time.Second)
		if got := store.count(rowSent); got != 2 || store.count(rowPlanned) != 1 {
			t.Errorf("%d items are sent and %d wait, want 2 and 1", got, store.count(rowPlanned))
		}
		next := dispatch(t, store, sender, noPolls)
		advance(t, time.Minute)
		if n := len(sender.all()); n != 3 {
			t.Errorf("%d requests for 3 items", n)
		}
		next.stop()
	})
}

// A stopping dispatcher starts no request, even if lanes are due, woken or already marked as sending.
func TestStopStartsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(100*time.Millisecond))
		store.onAdvance = func(ctx context.Context, _ []Result, lanes []Lane) error {
			if len(lanes) > 0 && lanes[0].Chat == 3 {
				return sleep(ctx, 200*time.Millisecond)
			}
			return nil
		}
		store.add(repeat(1, 20)...)
		store.add(2, 2, 2)
		p := dispatch(t, store, sender, noPolls)
		advance(t, 50*time.Millisecond)
		store.add(3)
		p.Wake(3)
		synctest.Wait() // it is being marked
		store.add(4)
		p.Wake(4) // together with the stop
		p.cancel()
		synctest.Wait()
		if p.Dispatcher.Wake(Lane{Chat: 4}) {
			t.Error("it still accepts wakes")
		}
		checkBetween(t, "stopping", p.stop(), 200*time.Millisecond, 200*time.Millisecond)
		if n := len(sender.all()); n != 2 {
			t.Errorf("%d requests, want the 2 that were in flight", n)
		}
		if n := store.count(rowPlanned); n != 23 {
			t.Errorf("%d items wait, want 23", n)
		}
		next := dispatch(t, store, sender, Settings{})
		advance(t, time.Minute)
		for id := int64(1); id <= 25; id++ {
			if r := store.row(id); r.state != rowSent || r.PossibleDuplicates != 0 {
				t.Errorf("item %d is %s, with %d possible duplicates", id, r.state, r.PossibleDuplicates)
			}
		}
		next.stop()
	})
}
