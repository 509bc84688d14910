package outbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// play lets it all happen, waits for the end and looks at what there is.
func (s scenario) play() (map[string]int, error) {
	w := newWorld(s)
	for _, e := range s.events {
		_ = sleep(context.Background(), e.after)
		w.apply(e)
	}
	_ = sleep(context.Background(), s.faultTail)
	w.mu.Lock()
	w.faultFree = true
	w.mu.Unlock()
	_ = sleep(context.Background(), time.Minute) // until all are up again
	w.directPuts.Wait()
	w.drain()
	// one more is told like the first one
	w.put(event{adds: []addition{{chat: 3, action: Send, purpose: Outcome, fates: []fate{{}}}}, wake: true})
	w.drain()
	_ = sleep(context.Background(), 2*time.Minute)
	synctest.Wait()
	err := w.checkIdle()
	for _, h := range w.hosts {
		h.instance.stop()
		for _, i := range h.past {
			<-i.ended
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.model.Full() > 0 {
		w.counts.add("a limit was used up")
	}
	err = errors.Join(err, errors.Join(w.errs...), w.model.Verdict())
	if err != nil {
		err = fmt.Errorf("%w\nwhat has happened:\n%s", err, strings.Join(w.model.History(), "\n"))
	}
	return w.counts.counts, err
}

// Whatever fails, and whichever instance dispatches: each chat gets all that was put into the queue for it, in that
// order, and nothing twice but what the store counts as perhaps sent, and never more than the messenger takes.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		var err error
		synctest.Test(t, func(*testing.T) { _, err = s.play() })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// everything is what a scenario can meet.
var allSituations = []string{
	"a chat could not be moved",
	"a chat was moved",
	"a chat was parked",
	"a freeze was taken over",
	"a frozen process sent after its lease",
	"a handover by expiry",
	"a handover by release",
	"a kill between send and mark",
	"a kill while a request was under way",
	"a limit was used up",
	"a merged message of unknown outcome",
	"a merged message was sent once more",
	"a panic",
	"a request that took longer",
	"a request arrived after the end of its process",
	"a sender that did not come back",
	"a wait of many minutes",
	"all lanes stood still",
	"an answer of the store got lost",
	"an answer: ",
	"an answer: ambiguous",
	"an answer: failed",
	"an answer: gone",
	"an answer: migrated",
	"an answer: pointless",
	"an answer: rate_limited",
	"an answer: rejected",
	"an answer: unauthorized",
	"an answer: unreachable",
	"an edit",
	"an edit that was needless",
	"an item came too late",
	"an item that was perhaps sent too often",
	"an item that was sent as it was added",
	"an item whose place was of no use",
	"an unknown outcome that arrived",
	"an unknown outcome that did not",
	"items that are not named",
	"items that did not fit",
	"several items in a message",
	"the lease was lost",
	"too much waited",
}

// What is drawn for TestModel meets everything that the model is there for.
func TestModelCoversAllSituations(t *testing.T) {
	t.Parallel()
	const scenarios = 200
	seen := make(map[string]int)
	for seed := range scenarios {
		s := rapid.Custom(drawScenario).Example(seed)
		var counts map[string]int
		var err error
		synctest.Test(t, func(*testing.T) { counts, err = s.play() })
		if err != nil {
			t.Errorf("scenario %d: %v", seed, err)
		}
		for what := range counts {
			seen[what]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("met in %3d of %d scenarios: %s", seen[what], scenarios, what)
	}
	for _, what := range allSituations {
		if seen[what] == 0 {
			t.Errorf("never met: %s", what)
		}
	}
}
