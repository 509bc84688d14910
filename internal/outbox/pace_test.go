package outbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// span is the time of a request. The messenger may count the request at any moment within it.
type span struct{ begun, ended time.Time }

// countAt returns the largest number of requests that the messenger may count in a window of length
// per that ends just after the given moment.
func countAt(spans []span, at time.Time, per time.Duration) int {
	until := at.Add(1) // exclusive
	from := until.Add(-per)
	n := 0
	for _, s := range spans {
		if s.begun.Before(until) && !s.ended.Before(from) {
			n++
		}
	}
	return n
}

// maxCount returns the largest number of requests that the messenger may count in any window of
// length per. It tries only windows that end just after a request has begun, because other windows
// cannot contain more.
func maxCount(spans []span, per time.Duration) int {
	maxCount := 0
	for _, last := range spans {
		maxCount = max(maxCount, countAt(spans, last.begun, per))
	}
	return maxCount
}

// exceeded returns an error if the messenger may count more requests than a window allows.
func exceeded(spans []span, windows []Window) error {
	for _, w := range windows {
		if n := maxCount(spans, w.Per); n > w.N {
			return fmt.Errorf("%d requests within %v, want at most %d", n, w.Per, w.N)
		}
	}
	return nil
}

// isFull reports whether another request at this time would exceed a window.
func isFull(spans []span, windows []Window, at time.Time) bool {
	return slices.ContainsFunc(windows, func(w Window) bool { return countAt(spans, at, w.Per) >= w.N })
}

func drawWindows(maxCount int) *rapid.Generator[[]Window] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
		return Window{N: rapid.IntRange(1, 8).Draw(t, "n"), Per: time.Duration(rapid.IntRange(1, 100).Draw(t, "per"))}
	}), 0, maxCount)
}

// offer is a request that becomes ready when the duration after has passed since the previous
// request became ready. It takes the duration lasts.
type offer struct{ after, lasts time.Duration }

func drawOffers(maxCount int) *rapid.Generator[[]offer] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offer {
		return offer{
			after: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5, 30, 150}).Draw(t, "after")),
			lasts: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3, 20, 70}).Draw(t, "lasts")),
		}
	}), 1, maxCount)
}

// run makes the requests in order, each as soon as the pace allows. It returns when each was ready,
// and its span.
func (p *pace) run(t *rapid.T, offers []offer) (ready []time.Time, spans []span) {
	now := time.Unix(0, 0)
	wanted := now
	var ends []time.Time // of requests in flight
	for _, o := range offers {
		wanted = wanted.Add(o.after)
		first := wanted
		if first.Before(now) {
			first = now
		}
		ready = append(ready, first)
		now = first
		for {
			slices.SortFunc(ends, time.Time.Compare)
			for len(ends) > 0 && !ends[0].After(now) {
				p.add(ends[0])
				ends = ends[1:]
			}
			next := p.next(now, len(ends))
			if !next.After(now) {
				break
			}
			if len(ends) > 0 && ends[0].Before(next) {
				next = ends[0]
			}
			if next.Sub(now) > time.Hour {
				t.Fatalf("nothing is in flight, but nothing may start before %v", next)
			}
			now = next
		}
		spans = append(spans, span{now, now.Add(o.lasts)})
		ends = append(ends, now.Add(o.lasts))
	}
	return ready, spans
}

// TestPaceKeepsWindows checks that, for random windows and requests, no window is exceeded, and no
// request waits longer than necessary.
func TestPaceKeepsWindows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		windows := drawWindows(3).Draw(t, "windows")
		p := &pace{windows: windows}
		ready, spans := p.run(t, drawOffers(60).Draw(t, "offers"))
		if err := exceeded(spans, windows); err != nil {
			t.Fatal(err)
		}
		for i, s := range spans {
			if s.begun.After(ready[i]) && !isFull(spans[:i], windows, s.begun.Add(-1)) {
				t.Fatalf("request %d waits unnecessarily from %v to %v", i, ready[i], s.begun)
			}
		}
	})
}

// TestPaceForgets checks that a pace keeps at most twice as many requests as its largest window
// allows, sorted by time. It never loses the latest ones, in whatever order they are added.
func TestPaceForgets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		windows := drawWindows(3).Draw(t, "windows")
		maxCount, longest := 0, time.Duration(0)
		for _, w := range windows {
			maxCount, longest = max(maxCount, w.N), max(longest, w.Per)
		}
		p := &pace{windows: windows}
		var ends []time.Time
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, 200), 0, 200).Draw(t, "ends") {
			ends = append(ends, time.Unix(0, int64(at)))
			p.add(ends[len(ends)-1])
			if len(p.ends) > 2*maxCount || cap(p.ends) > 8*maxCount {
				t.Fatalf("after %d requests %d are kept with capacity %d; at most %d count",
					len(ends), len(p.ends), cap(p.ends), maxCount)
			}
		}
		if !slices.IsSortedFunc(p.ends, time.Time.Compare) {
			t.Fatalf("not in order: %v", p.ends)
		}
		// The latest requests, which may still count, are kept.
		slices.SortFunc(ends, time.Time.Compare)
		if n := min(maxCount, len(ends)); !slices.Equal(ends[len(ends)-n:], p.ends[len(p.ends)-n:]) {
			t.Fatalf("of %v, %v are kept", ends, p.ends)
		}
		if maxCount == 0 || len(ends) == 0 {
			if until := p.clearAt(); !until.IsZero() {
				t.Fatalf("clear at %v without requests or limits", until)
			}
			return
		}
		if got, want := p.clearAt(), ends[len(ends)-1].Add(longest); !got.Equal(want) {
			t.Fatalf("clear at %v, want %v", got, want)
		}
	})
}

// TestPaceIsTakenUpInFlight checks that requests in flight count. If they use up a window, the next
// request waits until one of them ends.
func TestPaceIsTakenUpInFlight(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := pace{windows: []Window{{2, time.Second}}}
	p.add(now)
	for inFlight, want := range []time.Duration{0, time.Second, farFuture, farFuture} {
		equal(t, p.next(now, inFlight).Sub(now), want, "delay of the next with %d in flight", inFlight)
	}
}

func TestHorizon(t *testing.T) {
	t.Parallel()
	limits := messengerLimits()
	equal(t, limits.horizon(), time.Minute, "horizon")
	limits.Total = append(limits.Total, Window{1000, time.Hour})
	equal(t, limits.horizon(), time.Hour, "horizon")
	equal(t, (Limits{}).horizon(), 0, "horizon")
}
