package intake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusyUpdate: an update blamed on a lock is retried for as long as it takes. Only its own lane
// waits with it; all other updates that the messenger returns are handled.
func TestBusyUpdate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		free := time.Now().Add(10 * time.Minute)
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID == 1 && time.Now().Before(free) {
				return errors.Join(pass(ctx, 8*time.Second), errBusy)
			}
			return nil
		}
		b.come(Update{ID: 1, Lane: 1}, Update{ID: 2, Lane: 1})
		b.come(updates(3, 50, 2, 3, 4)...)
		b.start()
		after(t, time.Second)
		b.come(updates(53, 100, 2, 3, 4)...)
		after(t, time.Second)
		equal(t, b.count(), 98, "updates of other lanes handled")
		after(t, 10*time.Minute+5*time.Second)
		equal(t, len(b.kept()), 0, "dead letters in %v", b.kept())
		equal(t, b.handled[1], []int64{1, 2}, "handled in the lane")
		if tried := b.tries(1); len(tried) != 68 || tried[1] != 8100*ms || tried[67]-tried[66] != 9*time.Second {
			t.Errorf("%d attempts, the second after %v", len(tried), tried[1])
		}
		if failed := b.log.with("WARN failed to handle update update_id=1 "); len(failed) != 67 {
			t.Errorf("%d failed attempts logged, want 67", len(failed))
		}
		if away := b.log.with(awayLine); len(away) != 0 {
			t.Errorf("the log says %v", away)
		}
		after(t, time.Second)
		equal(t, b.count(), 152, "updates handled")
		b.checkConfirmed()
	})
}

// TestWholeTimeAfterWaiting: time lost to Locked or Unavailable does not shorten the next attempt,
// even if the update has failed through its own fault before.
func TestWholeTimeAfterWaiting(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]error{"busy": errBusy, "away": errAway} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer = func(ctx context.Context, u Update) error {
				switch len(b.tries(u.ID)) {
				case 1:
					return errors.Join(pass(ctx, 4*time.Second), errOwn)
				case 2, 3: // 4.9 seconds, and then the whole time
					return errors.Join(lost, hang(ctx))
				default:
					return pass(ctx, attemptTimeout-1)
				}
			}
			b.come(Update{ID: 1})
			b.start()
			after(t, time.Minute)
			want := []time.Duration{0, 4100 * ms, 9100 * ms, 18300 * ms}
			equal(t, b.tries(1), want, "attempts")
			if b.count() != 1 || len(b.kept()) != 0 {
				t.Errorf("%d updates are handled, dead letters: %v", b.count(), b.kept())
			}
			b.checkConfirmed()
		})
	}
}

// TestWaitingBetweenFailures: an update that alternates between waiting and its own failures
// becomes a dead letter in the end. The time spent waiting does not count.
func TestWaitingBetweenFailures(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]error{"busy": errBusy, "away": errAway} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer = func(context.Context, Update) error {
				if len(b.tries(1))%2 == 0 {
					return lost
				}
				return errOwn
			}
			b.come(Update{ID: 1})
			b.start()
			after(t, time.Minute)
			if letters := b.kept(); len(letters) != 1 || letters[0].LastError != errOwn.Error() ||
				letters[0].Attempts != 2*len(retries)-1 {
				t.Errorf("dead letters: %v", letters)
			}
			b.checkConfirmed()
		})
	}
}
