package intake

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestDeliveredAgain checks that a redelivered update is not handled again if it was handled or
// became a dead letter within the last minute. Any other redelivered update gets another attempt.
func TestDeliveredAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(_ context.Context, u Update) error {
			switch {
			case u.ID == 2:
				return ErrUnreadable
			case u.ID == 3 && len(b.tries(3)) == 1:
				return errAway
			}
			return nil
		}
		p := newPosts(b)
		deliver := func(want map[int64]int) {
			t.Helper()
			p.post(t.Context(), updates(1, 3, 1, 2, 3)...)
			p.all.Wait()
			for id, n := range want {
				equal(t, len(b.tries(id)), n, "attempts at update %d", id)
			}
		}
		deliver(map[int64]int{1: 1, 2: 1, 3: 1})
		deliver(map[int64]int{1: 1, 2: 1, 3: 2})
		after(t, rememberRecent-1)
		deliver(map[int64]int{1: 1, 2: 1, 3: 2})
		after(t, 1)
		deliver(map[int64]int{1: 2, 2: 2, 3: 3})
		if got := p.statuses(); got[1] != 200 || got[2] != 200 || got[3] != 200 {
			t.Errorf("answers: %v", got)
		}
	})
}
