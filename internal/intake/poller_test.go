package intake

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestOffset checks that no offset confirms an update too early or is requested again too soon; the
// messenger reports both. The poller ignores updates that are returned again, persisted or not.
func TestOffset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		takes := map[int64]time.Duration{3: 4 * time.Second, 6: 9 * time.Second, 8: 700 * ms}
		b.answer = func(ctx context.Context, u Update) error { return pass(ctx, takes[u.ID]) }
		b.come(updates(1, 10, sequence(0, 10, 1)...)...)
		begun := time.Now()
		b.start()
		after(t, time.Second)
		b.come(Update{ID: 11, Lane: 100}) // arrives while others are in progress
		after(t, time.Minute)
		equal(t, b.offsets(), []int64{0, 3, 6, 12}, "offsets")
		for i, a := range b.asked() {
			at := time.Duration(i) * reaskAfter
			switch {
			case at < 9*time.Second && (a.begun.Sub(begun) != at || a.wait != 0 && i > 0):
				t.Errorf("request %d after %v, waiting for %v", i, a.begun.Sub(begun), a.wait)
			case a.offset == 12 && a.wait != longPoll:
				t.Errorf("a poll waits for %v, want %v", a.wait, longPoll)
			}
		}
		if at := b.attempts[11][0].Sub(begun); at > time.Second+reaskAfter {
			t.Errorf("an update that arrives while others are in progress is handled after %v", at)
		}
		for id := int64(1); id <= 11; id++ {
			equal(t, len(b.tries(id)), 1, "attempts at update %d", id)
		}
		b.checkConfirmed()
	})
}

// TestUpdateComesDuringPoll checks that, after a long poll has returned an update, the next poll
// waits until a quick handler has finished, and then confirms the update.
func TestUpdateComesDuringPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, _ Update) error { return pass(ctx, 200*ms) }
		b.start()
		begun := time.Now()
		after(t, 30*time.Second)
		b.come(Update{ID: 1})
		after(t, 80*time.Second)
		want := []time.Duration{0, 30*time.Second + 200*ms, 80*time.Second + 200*ms}
		var got []time.Duration
		for _, a := range b.asked() {
			got = append(got, a.begun.Sub(begun))
		}
		equal(t, got, want, "requests")
		b.checkConfirmed()
	})
}

func TestBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 250
		b, free := newBot(t), make(chan struct{})
		b.answer = func(context.Context, Update) error { <-free; return nil }
		b.come(updates(1, items, sequence(0, items, 1)...)...)
		begun := time.Now()
		b.start()
		after(t, time.Minute)
		equal(t, b.inHand(), maxInProgress, "updates in progress")
		close(free)
		after(t, 0)
		equal(t, b.offsets(), []int64{0, 101, 201, 251}, "offsets after %v", time.Since(begun))
		for _, a := range b.asked() {
			if want := min(100, items+1-int(max(a.offset, 1))); a.shown != want {
				t.Errorf("%d updates are returned from offset %d, want %d", a.shown, a.offset, want)
			}
		}
		b.checkConfirmed()
	})
}

// TestEmptyAnswers checks that a messenger that does not wait is not polled in a busy loop.
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		source := noWait{b.messenger}
		p := NewPoller(source, b.worker)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		after(t, time.Minute)
		equal(t, len(b.asked()), 1+int(time.Minute/reaskAfter), "requests in a minute")
		b.come(Update{ID: 1})
		after(t, reaskAfter)
		b.checkConfirmed()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ends with %v", err)
		}
	})
}

// noWait is a messenger that answers at once.
type noWait struct{ *messenger }

func (i noWait) Updates(ctx context.Context, offset int64, _ time.Duration) ([]Update, error) {
	return i.messenger.Updates(ctx, offset, 0)
}

// TestNumbersBeginAnew checks that updates are handled and confirmed in order even if their ids
// restart at a lower or higher number, as they may after a quiet week.
func TestNumbersBeginAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.start()
		for _, first := range []int64{900_000, 17, 5_000_000, 4_000_000, 1} {
			b.come(updates(first, 3, 1)...)
			after(t, 8*24*time.Hour)
			b.checkConfirmed()
		}
		want := slices.Concat(sequence(900_000, 900_003, 1), sequence(17, 20, 1), sequence(5_000_000, 5_000_003, 1),
			sequence(4_000_000, 4_000_003, 1), sequence(1, 4, 1))
		equal(t, b.handled[1], want, "order")
		b.checkConfirmed()
	})
}

func TestFatalSourceError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		invalid := &SourceError{Fatal: true, Err: errors.New("the token is not valid")}
		begun := time.Now()
		b.onUpdates = func(context.Context) error {
			if time.Since(begun) >= 5*time.Second {
				return invalid
			}
			return nil
		}
		b.come(Update{ID: 1})
		b.answer = func(ctx context.Context, _ Update) error { return errors.Join(errAway, hang(ctx)) }
		b.start()
		err := <-b.ended
		b.cancel()
		if !errors.Is(err, invalid) || err.Error() != "receive updates: the token is not valid" {
			t.Errorf("Run ends with %v", err)
		}
		if took := time.Since(begun); took > 5*time.Second+reaskAfter {
			t.Errorf("Run ends after %v", took)
		}
		if b.inHand() != 0 || len(b.unconfirmed()) != 1 {
			t.Errorf("%d handlers run, %d updates are not confirmed", b.inHand(), len(b.unconfirmed()))
		}
	})
}

// TestRetryAfter checks that the poller asks again when the messenger allows it, and then confirms
// the updates persisted in the meantime.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{5 * time.Second, 3 * time.Hour} {
		inBubble(t, wait.String(), func(t *testing.T) {
			b := newBot(t)
			n := 0
			b.onUpdates = func(context.Context) error {
				if n++; n == 2 {
					return &SourceError{RetryAfter: wait, Err: errors.New("too many requests")}
				}
				return nil
			}
			b.answer = func(ctx context.Context, _ Update) error { return pass(ctx, time.Second) }
			b.come(Update{ID: 1})
			begun := time.Now()
			b.start()
			after(t, wait+time.Minute)
			if got := b.asked()[2].begun.Sub(begun) - reaskAfter; got != wait || b.asked()[2].offset != 2 {
				t.Errorf("asked from %d after %v, want from 2 after %v", b.asked()[2].offset, got, wait)
			}
			b.checkConfirmed()
		})
	}
}

func TestSourceBackoff(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"plain": errors.New("connection reset"), "known": &SourceError{Err: errors.New("bad gateway")},
	} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			begun := time.Now()
			b.onUpdates = func(context.Context) error {
				if since := time.Since(begun); since < 10*time.Minute || since > time.Hour && since < time.Hour+10*time.Minute {
					return err
				}
				return nil
			}
			b.come(Update{ID: 1})
			b.start()
			after(t, 10*time.Minute-1)
			checkBackoff(t, b.asked())
			after(t, 26*time.Second+1)
			b.checkConfirmed()
			after(t, time.Until(begun.Add(time.Hour)))
			before := len(b.asked())
			after(t, 10*time.Minute)
			checkBackoff(t, b.asked()[before:]) // the backoff starts over
		})
	}
}

// checkBackoff checks that the waits between failed requests double, give or take 30%, from half a
// second to 20 s, but are at least reaskAfter.
func checkBackoff(t *testing.T, asks []ask) {
	t.Helper()
	if len(asks) < 20 {
		t.Errorf("%d requests", len(asks))
	}
	base := 500 * ms
	for i := range len(asks) - 1 {
		got := asks[i+1].begun.Sub(asks[i].begun)
		if got < max(base*7/10, reaskAfter) || got > max(base*13/10, reaskAfter)+time.Microsecond {
			t.Errorf("wait %d is %v, want about %v", i, got, base)
		}
		base = min(2*base, 20*time.Second)
	}
}
