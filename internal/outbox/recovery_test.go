package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRecentRequestsAreForgotten checks that a new dispatcher keeps the lanes with recent requests
// in memory until those requests no longer count against the limits.
func TestRecentRequestsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		settings := Settings{PollEvery: noPolls.PollEvery, Limits: Limits{Group: []Window{{1, 10 * time.Second}}}}
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(1, 2, 3)
		dispatch(t, store, sender, settings).stop()
		p := dispatch(t, store, sender, settings)
		synctest.Wait()
		p.stop()
		advance(t, 4*time.Second)
		next, tm := dispatchTerm(t, store, sender, settings)
		synctest.Wait()
		equal(t, tm.laneCount(), 3, "chats in memory")
		advance(t, 6*time.Second)
		tm.checkEmpty(t)
		next.stop()
		advance(t, time.Minute)
		last, tm := dispatchTerm(t, store, sender, settings)
		synctest.Wait()
		tm.checkEmpty(t)
		last.stop()
	})
}

// TestLoadingRecentRequestsFails checks that, until the recent requests are loaded, nothing is
// sent. Loading is retried, and the failure is logged once.
func TestLoadingRecentRequestsFails(t *testing.T) {
	t.Parallel()
	for name, failCall := range map[string]func(context.Context) error{
		"at once":    func(context.Context) error { return errUnavailable },
		"by hanging": hang,
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender, book := newMemory(), newMessenger(t, nil), newLogbook()
			settings := Settings{Limits: Limits{Group: []Window{{2, time.Hour}}}, Bounds: Bounds{Merge: 1}}
			store.add(1, 1)
			first := dispatch(t, store, sender, settings)
			synctest.Wait()
			first.stop()
			store.add(1, 2)
			var calls atomic.Int32
			end := time.Now().Add(30 * time.Second)
			store.onRecent = func(ctx context.Context) error {
				calls.Add(1)
				if time.Now().Before(end) {
					return failCall(ctx)
				}
				return nil
			}
			p := run(t, NewDispatcher(store, sender, slog.New(book), settings), newLease(1))
			for range 30 {
				p.Wake(1, 2)
				p.WakeCallbackAnswers(1)
				advance(t, time.Second-time.Microsecond)
			}
			if n := len(sender.all()); n != 2 {
				t.Errorf("%d requests before the recent ones are known", n-2)
			}
			if n := calls.Load(); n < 3 || n > 36 {
				t.Errorf("the store was called %d times in half a minute", n)
			}
			advance(t, 12*time.Second)
			equal(t, [][]int64{sender.ids(1), sender.ids(2)}, [][]int64{{1, 2}, {4}}, "requests")
			equal(t, len(book.lines("failed to load recent requests, retrying")), 1, "lines in the log")
		})
	}
}

// TestNoLimitsNeedNoRecentRequests checks that, without limits, the dispatcher does not load recent
// requests.
func TestNoLimitsNeedNoRecentRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.onRecent = func(context.Context) error { return errUnavailable }
		store.add(1)
		dispatch(t, store, sender, Settings{})
		synctest.Wait()
		if store.open() != 0 {
			t.Error("the item is not sent")
		}
	})
}
