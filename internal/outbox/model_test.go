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

	"elobot/internal/notice"
)

// play runs the scenario, drains the queue and checks the result. It returns how often each
// situation occurred, and an error with the history if something was wrong.
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
	_ = sleep(context.Background(), time.Minute) // until all instances are up again
	w.drain()
	// After all faults, a new item must still be sent.
	w.put(event{adds: []addition{{chat: 3, action: Send, purpose: notice.Outcome, fates: []fate{{}}}}, wake: true})
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
		err = fmt.Errorf("%w\nhistory:\n%s", err, strings.Join(w.model.History(), "\n"))
	}
	return w.counts.counts, err
}

// TestModel checks that queuemodel finds no violation, whatever fails and whichever instance
// dispatches. No item is lost, out of order, unexpectedly duplicated, or sent faster than the
// limits allow.
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

// TestNewestPage checks that a page whose first request failed is not sent again if a newer page of
// its message waits.
func TestNewestPage(t *testing.T) {
	t.Parallel()
	for _, class := range []FailureKind{RateLimited, Unreachable, Ambiguous, Failed} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			press := func(content string, after time.Duration, first fate) event {
				a := addition{chat: 1, action: Page, purpose: notice.Answer, content: content,
					deadline: 10 * time.Minute, fates: []fate{first, {}}}
				return event{after: after, wake: true, adds: []addition{a}}
			}
			s := pressed()
			s.events = []event{
				press("a", 0, fate{class: class, lasts: time.Second, wait: 7 * time.Second}),
				press("b", 100*time.Millisecond, fate{}), press("c", 100*time.Millisecond, fate{}),
			}
			var counts map[string]int
			var err error
			synctest.Test(t, func(*testing.T) { counts, err = s.play() })
			if err != nil || counts["a page"] != 1 || counts["a page ended because of a newer one"] != 1 {
				t.Errorf("%d pages are sent and %d end, %v", counts["a page"], counts["a page ended because of a newer one"], err)
			}
		})
	}
}

// TestQuickPresses checks that, after ten quick presses below a message, only two pages are sent,
// the last one among them.
func TestQuickPresses(t *testing.T) {
	t.Parallel()
	press := func(i int) event {
		return event{after: 100 * time.Millisecond, wake: true, adds: []addition{{
			chat: 3, action: Page, purpose: notice.Answer, content: fmt.Sprint(i), deadline: 10 * time.Minute,
			fates: []fate{{lasts: 50 * time.Millisecond}},
		}}}
	}
	s := pressed()
	for i := range 10 {
		s.events = append(s.events, press(i))
	}
	var counts map[string]int
	var err error
	synctest.Test(t, func(*testing.T) { counts, err = s.play() })
	if err != nil || counts["a page"] != 2 {
		t.Errorf("%d pages are sent, %v", counts["a page"], err)
	}
}

// pressed returns a scenario with one instance and without faults. The caller adds the events.
func pressed() scenario {
	return scenario{
		limits: messengerLimits(), capacity: 1, ttl: time.Minute, hosts: 1, alone: true,
		settings: Settings{
			Limits: messengerLimits(), Parallel: 1, PollEvery: 24 * time.Hour, SendTimeout: 5 * time.Second, MaxFailures: 2,
			Bounds: Bounds{Merge: 1, MaxWaiting: 1000},
		},
	}
}

// allSituations lists the situations that TestModelCoversAllSituations expects, by their names in
// tally.
var allSituations = []string{
	"a chat could not be moved",
	"a chat was moved",
	"a chat was parked, again: false",
	"a chat was parked, again: true",
	"a freeze was taken over",
	"a frozen process sent after its lease",
	"a handover by expiry",
	"a handover by release",
	"a kill between send and mark",
	"a kill while a request was in flight",
	"a limit was used up",
	"a merged message of unknown outcome",
	"a merged message was sent again",
	"a panic",
	"a request with a longer timeout",
	"a request arrived after the end of its process",
	"a sender that did not return",
	"a long rate limit",
	"an open circuit",
	"a lost answer of the store",
	"an answer: ",
	"an answer: ambiguous",
	"an answer: failed",
	"an answer: forbidden",
	"an answer: migrated",
	"an answer: obsolete",
	"an answer: rate_limited",
	"an answer: rejected",
	"an answer: unauthorized",
	"an answer: unreachable",
	"a newer page replaced an older one",
	"a page",
	"an edit",
	"an unnecessary edit",
	"an item expired",
	"an item with too many possible duplicates",
	"a delivered message of unknown outcome",
	"a lost message of unknown outcome",
	"items that did not fit",
	"several items in a message",
	"the lease was lost",
	"too much waited",
}

// TestModelCoversAllSituations checks that scenarios drawn as in TestModel cover all situations.
// Some situations are rare and depend on the order of two goroutines. While any is missing, the
// test plays more scenarios, up to 2,000.
func TestModelCoversAllSituations(t *testing.T) {
	t.Parallel()
	const (
		first = 193 // the seed from which the fewest scenarios cover all situations
		usual = first + 40
		most  = first + 2000
	)
	missing := make(map[string]bool)
	for _, what := range allSituations {
		missing[what] = true
	}
	for seed := first; seed < usual || len(missing) > 0 && seed < most; seed++ {
		s := rapid.Custom(drawScenario).Example(seed)
		var counts map[string]int
		var err error
		synctest.Test(t, func(*testing.T) { counts, err = s.play() })
		if err != nil {
			t.Errorf("scenario %d: %v", seed, err)
		}
		for what := range counts {
			delete(missing, what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("in no scenario: %s", what)
	}
}
