package outbox

import (
	"testing"
	"testing/synctest"
	"time"
)

// Lanes that may not send yet are counted as paused, and their pause does not count as waiting.
func TestPausesDoNotCountAsWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{
			1: {rateLimited(time.Hour)}, 2: {failure(Unreachable), failure(Unreachable), failure(Unreachable)},
		}))
		store.add(1, 2, 3, 3, 3)
		store.freeze(4, time.Hour) // by a previous leader
		store.add(4)
		settings := Settings{Limits: Limits{Group: []Window{{1, 10 * time.Second}}}}
		p := dispatch(t, store, sender, settings)
		advance(t, 5*time.Second)
		if waiting, paused := stat(t, p, "waiting_lanes"), stat(t, p, "paused_lanes"); waiting != 0.0 || paused != 4.0 {
			t.Errorf("%v lanes wait and %v are paused, want 0 and 4", waiting, paused)
		}
		advance(t, 2*time.Hour)
		if waiting, paused := stat(t, p, "waiting_lanes"), stat(t, p, "paused_lanes"); waiting != 0.0 || paused != 0.0 {
			t.Errorf("in the end %v lanes wait and %v are paused", waiting, paused)
		}
		if f := p.Stats(); f.AverageWait != 0 || f.Sent != 6 {
			t.Errorf("%d are sent, lanes wait for %v s on average, want 6 and 0", f.Sent, f.AverageWait)
		}
	})
}
