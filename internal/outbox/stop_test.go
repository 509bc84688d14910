package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestStopLeavesWaitingItems checks that a stop does not wait for the pause after a failure. The
// next dispatcher sends the items that are left.
func TestStopLeavesWaitingItems(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"rate limited": rateLimited(time.Second),
		"unreachable":  failure(Unreachable),
		"unauthorized": failure(Unauthorized),
		"forbidden":    failure(Forbidden),
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{1: {err}}))
			store.add(1, 1, 1)
			p := dispatch(t, store, sender, noPolls)
			synctest.Wait()
			equal(t, p.stop(), 0, "time to stop")
			equal(t, sender.ids(1), []int64{1}, "requests")
			equal(t, store.count(rowPlanned), 3, "waiting items")
			store.unpark(1)
			next := dispatch(t, store, sender, Settings{})
			advance(t, 5*time.Second)
			equal(t, sender.ids(1), []int64{1, 1, 2, 3}, "requests in the end")
			next.stop()
		})
	}
}

// TestStopIsBounded checks that a stop takes no longer than the timeouts allow, even if many items
// wait or something hangs. No item is lost, and no request begins after the stop.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	hangWriting := func(ctx context.Context, results []Result, _ []Lane) error {
		if len(results) == 0 {
			return nil
		}
		return hang(ctx)
	}
	hangTaking := func(ctx context.Context, _ []Result, lanes []Lane) error {
		if len(lanes) == 0 {
			return nil
		}
		return hang(ctx)
	}
	hangSend := func(ctx context.Context, _ Message) error { return &Failure{Kind: Ambiguous, Err: hang(ctx)} }
	cases := map[string]struct {
		settings Settings
		answer   func(context.Context, Message) error
		set      func(store *memory)
		limit    time.Duration // for the stop
	}{
		"many items":                    {Settings{}, answersAfter(30 * time.Millisecond), func(*memory) {}, 30 * time.Millisecond},
		"many items, no latency":        {Settings{}, nil, func(*memory) {}, 0},
		"sender hangs":                  {Settings{}, hangSend, func(*memory) {}, 5 * time.Second},
		"sender hangs, one by one":      {Settings{Parallel: 1}, hangSend, func(*memory) {}, 5 * time.Second},
		"sender ignores cancellation":   {Settings{}, ignoresCancel(5 * time.Minute), func(*memory) {}, 6 * time.Second},
		"taking hangs":                  {Settings{}, nil, func(s *memory) { s.onAdvance = hangTaking }, 8500 * time.Millisecond},
		"waiting hangs":                 {Settings{}, nil, func(s *memory) { s.onWaiting = hang }, 0},
		"counting hangs":                {Settings{}, nil, func(s *memory) { s.onSurvey = hang }, 0},
		"loading recent requests hangs": {Settings{Limits: messengerLimits()}, nil, func(s *memory) { s.onRecent = hang }, 0},
		"persisting hangs":              {Settings{}, nil, func(s *memory) { s.onAdvance = hangWriting }, 8500 * time.Millisecond},
		"persisting hangs, one by one":  {Settings{Parallel: 1}, nil, func(s *memory) { s.onAdvance = hangWriting }, 8500 * time.Millisecond},
		"everything hangs":              {Settings{}, hangSend, func(s *memory) { s.onAdvance, s.onWaiting = hangWriting, hang }, 8500 * time.Millisecond},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			const chats, items = 50, 400
			store, sender := newMemory(), newMessenger(t, c.answer)
			c.set(store)
			for chat := range ChatID(chats) {
				store.add(repeat(chat, items/chats)...)
			}
			store.add(repeat(chats, 500)...)
			p := dispatch(t, store, sender, c.settings)
			for chat := range ChatID(chats + 1) {
				p.Wake(chat)
			}
			advance(t, 10*time.Millisecond)
			checkBetween(t, "stopping", p.stop(), 0, c.limit)
			equal(t, store.open()+store.count(rowSent), items+500, "items left or sent")
			before := len(sender.all())
			advance(t, time.Hour)
			if n := len(sender.all()); n != before {
				t.Errorf("%d requests after the end", n-before)
			}
		})
	}
}

// TestStopWhilePersistingFails checks that, if a result cannot be persisted during the stop, the
// next dispatcher counts a possible duplicate.
func TestStopWhilePersistingFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		unavailable := true
		store.onAdvance = func(_ context.Context, results []Result, _ []Lane) error {
			if unavailable && len(results) > 0 {
				return errUnavailable
			}
			return nil
		}
		store.add(1, 1)
		p := dispatch(t, store, sender, Settings{})
		advance(t, 10*time.Second)
		checkBetween(t, "stopping", p.stop(), 8500*time.Millisecond, 8500*time.Millisecond)
		unavailable = false
		next := dispatch(t, store, sender, Settings{})
		advance(t, time.Second)
		equal(t, sender.ids(1), []int64{1, 1, 2}, "requests")
		if r := store.row(1); r.state != rowSent || r.PossibleDuplicates != 1 {
			t.Errorf("the item is %s with %d possible duplicates, want sent with 1", r.state, r.PossibleDuplicates)
		}
		next.stop()
	})
}

// TestStopPersistsLastResult checks that, if a request succeeds just when it is canceled at its
// timeout, its result is persisted before the dispatcher stops.
func TestStopPersistsLastResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, func(ctx context.Context, _ Message) error {
			<-ctx.Done()
			return nil
		})
		store.add(1)
		p := dispatch(t, store, sender, Settings{SendTimeout: time.Second})
		synctest.Wait()
		equal(t, p.stop(), time.Second, "time to stop")
		if r := store.row(1); r.state != rowSent || r.messageID != messageID(1) {
			t.Errorf("the item is %s as message %d, want sent", r.state, r.messageID)
		}
	})
}

// TestStopLetsRequestsFinish checks that a request in flight keeps its full timeout when the
// dispatcher stops, because a canceled request would be repeated and its message might arrive
// twice.
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
		equal(t, len(sender.all()), 3, "requests")
		next.stop()
	})
}

// TestStopStartsNothing checks that a stopping dispatcher starts no request, even if lanes are due
// or woken, or their items are already marked as sending.
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
		synctest.Wait() // the store is marking the item as sending
		store.add(4)
		p.Wake(4) // together with the stop
		p.cancel()
		synctest.Wait()
		if p.Dispatcher.Wake(Lane{Chat: 4}) {
			t.Error("it still accepts wakes")
		}
		checkBetween(t, "stopping", p.stop(), 200*time.Millisecond, 200*time.Millisecond)
		equal(t, len(sender.all()), 2, "requests")
		equal(t, store.count(rowPlanned), 23, "waiting items")
		if r := store.row(24); r.chat != 3 || r.notBefore.After(time.Now()) {
			t.Errorf("the item that was being marked waits until %v", r.notBefore)
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
