package intake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestStopFinishesWhatIsInHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, _ Update) error { return pass(ctx, time.Second) }
		b.come(updates(1, 6, 1, 2)...)
		b.start()
		after(t, 500*ms)
		equal(t, b.stop(), 2500*ms, "time to stop")
		equal(t, b.stopped, []int64{7}, "offsets confirmed at the end")
		equal(t, b.count(), 6, "updates handled")
		b.checkConfirmed()
	})
}

func TestStopWithNothingInHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.start()
		after(t, time.Second)
		if took := b.stop(); took != 0 || len(b.stopped) != 0 {
			t.Errorf("stopping takes %v and confirms %v", took, b.stopped)
		}
		b.start()
		b.stop() // at the very beginning
	})
}

// TestStopIsBounded checks that a stop takes at most finishTimeout plus confirmTimeout. An update
// whose handler hangs, or that fails because of an outage, stays unconfirmed together with all
// updates behind it, and the next poller handles it.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	hangs := func(ctx context.Context, u Update) error {
		if u.ID == 3 {
			return hang(ctx)
		}
		return nil
	}
	away := func(_ context.Context, u Update) error {
		if u.ID == 3 {
			return errAway
		}
		return nil
	}
	cases := map[string]struct {
		answer    func(context.Context, Update) error
		onConfirm func(context.Context) error
		took      time.Duration
		left      []int64
	}{
		"handler hangs":            {hangs, nil, finishTimeout, []int64{3, 4, 5, 6}},
		"database away":            {away, nil, finishTimeout, []int64{3, 4, 5, 6}},
		"all hangs":                {hangs, hang, finishTimeout + confirmTimeout, []int64{3, 4, 5, 6}},
		"confirm hangs":            {nil, hang, confirmTimeout, nil},
		"confirm fails":            {nil, func(context.Context) error { return errors.New("reset") }, 0, nil},
		"handler hangs, no answer": {hangs, func(context.Context) error { return errors.New("reset") }, finishTimeout, []int64{3, 4, 5, 6}},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer, b.onConfirm = c.answer, c.onConfirm
			b.come(updates(1, 6, 1, 2, 3)...)
			b.start()
			after(t, time.Second)
			if took := b.stop(); took != c.took {
				t.Errorf("stopping takes %v, want %v", took, c.took)
			}
			equal(t, b.unconfirmed(), c.left, "not confirmed")
			if b.done[3] != (c.answer == nil) || b.done[6] != (c.answer == nil) || !b.done[5] {
				t.Errorf("done: %v", b.done)
			}
			b.answer, b.onConfirm = nil, nil
			b.start() // the next poller
			after(t, time.Minute)
			b.checkConfirmed()
			if len(b.kept()) != 0 || !b.done[3] {
				t.Errorf("%d dead letters, done: %v", len(b.kept()), b.done)
			}
		})
	}
}

// TestStopWhileWaiting checks that the poller stops even during a long wait that the messenger has
// asked for. An update that waits for its next attempt is still handled.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.onUpdates = func(context.Context) error {
			if len(b.asked()) > 1 {
				return &SourceError{RetryAfter: time.Hour, Err: errors.New("too many requests")}
			}
			return nil
		}
		b.answer = func(_ context.Context, u Update) error {
			if u.ID == 1 && len(b.tries(1)) < 6 {
				return errOwn
			}
			return nil
		}
		b.come(Update{ID: 1, Lane: 1}, Update{ID: 2, Lane: 2})
		b.start()
		after(t, time.Second)
		equal(t, b.stop(), retries[5]-time.Second, "time to stop")
		b.checkConfirmed()
	})
}
