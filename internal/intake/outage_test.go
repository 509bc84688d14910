package intake

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// The log lines at the beginning and the end of an outage.
const (
	awayLine = "database unavailable, updates have to wait"
	backLine = "database available again, handling updates"
)

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const known = 150
		b := newBot(t)
		back := time.Now().Add(10 * time.Minute)
		b.answer = func(context.Context, Update) error {
			if time.Now().Before(back) {
				return fmt.Errorf("record match: %w", errAway)
			}
			return nil
		}
		b.onKeep = func(context.Context) error { return errAway }
		b.come(updates(1, known, 0, 1, 2, 3, 4)...)
		b.start()
		after(t, 10*time.Minute-1)
		if len(b.kept()) != 0 || len(b.unconfirmed()) != known {
			t.Errorf("%d dead letters, %d updates are not confirmed", len(b.kept()), len(b.unconfirmed()))
		}
		tried := 0
		for lane := range int64(5) {
			n := len(b.tries(lane + 1))
			if tried += n; n < 590 {
				t.Errorf("only %d attempts in lane %d", n, lane)
			}
		}
		if tried > 5*(4+10*60) {
			t.Errorf("%d attempts in ten minutes", tried)
		}
		after(t, time.Second)
		if n := b.count(); n != known || len(b.kept()) != 0 {
			t.Errorf("%d updates are handled within a second, %d dead letters", n, len(b.kept()))
		}
		after(t, time.Second)
		b.checkOutages(back.Add(-10*time.Minute), 10, 10*time.Minute)
		b.checkConfirmed()
	})
}

// TestSomeDoNotNeedDatabase checks that an update that does not need the database is handled and
// does not end the outage.
func TestSomeDoNotNeedDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		begun := time.Now()
		b.answer = func(ctx context.Context, u Update) error {
			switch {
			case u.Lane == 1 && time.Since(begun) < 5*time.Second:
				return errAway
			case u.Lane == 2:
				return pass(ctx, 100*ms)
			case u.Lane == 3:
				return ErrUnreadable
			}
			return nil
		}
		b.onKeep = func(context.Context) error {
			if time.Since(begun) < 5*time.Second {
				return errAway
			}
			return nil
		}
		b.come(updates(1, 90, 1, 2, 3)...)
		b.start()
		after(t, 4*time.Second)
		b.come(Update{ID: 100, Lane: 2})
		after(t, 900*ms)
		equal(t, b.count(), 31, "updates handled")
		after(t, 10*time.Second)
		if n := b.count(); n != 61 || len(b.kept()) != 30 {
			t.Errorf("%d updates are handled, %d are dead letters", n, len(b.kept()))
		}
		b.checkOutages(begun, 1, 5*time.Second)
		b.checkConfirmed()
	})
}

// TestOutageOutlivesPoller checks that a new poller takes over its predecessor's outage, which
// still ends even if the update that failed last does not come again.
func TestOutageOutlivesPoller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		begun := time.Now()
		b.answer = func(context.Context, Update) error { return errAway }
		b.come(updates(1, 3, 1, 2, 3)...)
		b.start()
		after(t, time.Second)
		b.stop()
		b.answer = nil
		b.messenger.queue = nil // another instance has handled them
		b.start()
		after(t, time.Second)
		b.come(updates(10, 3, 1, 2, 3)...)
		after(t, 2*time.Second)
		equal(t, b.count(), 3, "updates handled")
		b.checkConfirmed()
		after(t, 2*time.Minute)
		lasted := time.Since(begun)
		b.come(updates(20, 3, 1, 2, 3)...)
		after(t, time.Second)
		equal(t, b.count(), 6, "updates handled")
		b.checkOutages(begun, 1, lasted)
	})
}

// TestOutageEndsWithFailure checks that an outage also ends when the update that last failed
// because of it fails again, this time through its own fault.
func TestOutageEndsWithFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		begun := time.Now()
		b.answer = func(_ context.Context, u Update) error {
			switch {
			case len(b.tries(u.ID)) == 1:
				return errAway
			case u.ID == 1:
				return errOwn
			}
			return nil
		}
		b.come(Update{ID: 1})
		b.start()
		after(t, 1500*ms)
		b.come(Update{ID: 2, Lane: 2}) // finds a second outage
		after(t, 10*time.Second)
		if b.count() != 1 || len(b.kept()) != 1 {
			t.Errorf("%d updates are handled, %d are dead letters", b.count(), len(b.kept()))
		}
		away, back := b.log.with(awayLine), b.log.with(backLine)
		if len(away) != 2 || len(back) != 2 ||
			back[0].at.Sub(begun) != firstRetry {
			t.Errorf("away: %v, back: %v", away, back)
		}
		b.checkConfirmed()
	})
}

// checkOutages checks that the log reports one outage that began at begun and lasted about the
// duration lasted. There must be one line a minute, as many as reports in all, and one line when
// the outage ends.
func (b *bot) checkOutages(begun time.Time, reports int, lasted time.Duration) {
	b.t.Helper()
	away, back := b.log.with("ERROR "+awayLine), b.log.with("INFO "+backLine)
	if len(away) != reports || len(back) != 1 {
		b.t.Fatalf("away: %v, back: %v", away, back)
	}
	for i, e := range away {
		if d := e.at.Sub(begun) - time.Duration(i)*outageLogEvery; d < 0 || d >= 10*time.Second {
			b.t.Errorf("line %d after %v", i, e.at.Sub(begun))
		}
	}
	if got := back[0].at.Sub(begun); got < lasted || got > lasted+lastRetry {
		b.t.Errorf("back after %v, want %v", got, lasted)
	}
}
