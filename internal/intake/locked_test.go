package intake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusyUpdate checks that an update that waits for a lock is retried for as long as it takes.
// Only its own lane waits with it; all other updates that the messenger returns are handled.
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
