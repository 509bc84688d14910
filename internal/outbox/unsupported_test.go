package outbox

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnsupportedItemsAreSetAside checks that a leader of an older release sets items of unknown
// kinds aside, logs that once per term, and sends all other items in order. A leader that knows the
// kinds sends them.
func TestUnsupportedItemsAreSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, newer := newMemory(), false
		limits := Limits{Group: []Window{{1, time.Second}}}
		unknown := func(m Message) bool { return m.Row.Kind == "of tomorrow" && !newer }
		sender := newMessenger(t, func(_ context.Context, m Message) error {
			if unknown(m) {
				return failure(Unsupported)
			}
			return nil
		})
		sender.silent = unknown
		var want []int64
		for i := range int64(9) {
			kind := "test"
			if i%3 != 1 {
				want = append(want, i+1)
			} else {
				kind = "of tomorrow"
			}
			store.put(row{chat: 1, Item: Item{Kind: kind}})
		}
		var logged strings.Builder
		d := NewDispatcher(store, sender, slog.New(slog.NewTextHandler(&logged, nil)),
			Settings{Limits: limits, Bounds: Bounds{Merge: 1}})
		sent := func() (ids []int64) {
			for _, r := range sender.all() {
				if r.err == nil {
					ids = append(ids, r.ids...)
				}
			}
			return ids
		}
		for n := 1; n <= 2; n++ {
			p := run(t, d, newLease(1))
			advance(t, time.Minute)
			equal(t, sent(), want, "sent")
			if s := d.Stats(); store.count(rowDeferred) != 3 || s.Waiting != 0 || s.DeadLetters != 0 || s.Expired != 0 {
				t.Errorf("stats %+v", s)
			}
			equal(t, strings.Count(logged.String(), "notices of a newer release are set aside"), n, "lines in the log")
			p.stop()
		}
		if r := store.row(2); r.Attempts != 0 || r.Failures != 0 {
			t.Errorf("%d attempts and %d failures count", r.Attempts, r.Failures)
		}
		newer = true
		run(t, d, newLease(1))
		advance(t, time.Minute)
		equal(t, sent(), append(want, 2, 5, 8), "sent")
	})
}

// TestLeaseLostBeforeTheTerm checks that, if the lease was lost before Run begins, Run returns an
// error at once.
func TestLeaseLostBeforeTheTerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		store.handOver(2)
		p := dispatch(t, store, newMessenger(t, nil), Settings{})
		synctest.Wait()
		select {
		case err := <-p.ended:
			if err == nil {
				t.Error("no error")
			}
		default:
			t.Error("the dispatcher goes on")
		}
	})
}
