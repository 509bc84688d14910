package intake

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestEveryFailedAttemptIsLogged checks that each failed attempt at an update is logged, with the
// count of attempts so far. During a database outage, attempts are not logged: the outage is logged
// for all updates together.
func TestEveryFailedAttemptIsLogged(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a fault of its own": errOwn, "a lock": errBusy, "the database is away": errAway,
	} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer = func(_ context.Context, u Update) error { return failing(4, err)(len(b.tries(u.ID)) - 1) }
			b.come(Update{ID: 5, Lane: 3})
			b.start()
			after(t, 8*time.Second)
			equal(t, len(b.tries(5)), 5, "attempts")
			for attempt := 1; attempt <= 5; attempt++ {
				want := 1
				if attempt == 5 || errors.Is(err, errAway) {
					want = 0
				}
				equal(t, len(b.log.with(fmt.Sprintf("update_id=5 attempt=%d error=%v", attempt, err))),
					want, "lines about failed attempt %d", attempt)
			}
		})
	}
}
