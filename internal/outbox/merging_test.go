package outbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// covered returns the ids of the items in each request to a chat.
func (m *messenger) covered(chat ChatID) [][]int64 {
	var covered [][]int64
	for _, r := range m.to(chat) {
		covered = append(covered, r.ids)
	}
	return covered
}

// TestMerging checks that a message covers as many waiting items as Bounds.Merge allows and as fit.
// The others follow in the next messages.
func TestMerging(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		items, merge, fits int
		want               [][]int64
		more               []bool
	}{
		"disabled":        {3, 1, 0, [][]int64{{1}, {2}, {3}}, []bool{true, true, false}},
		"all":             {10, 64, 0, [][]int64{sequence(1, 10)}, []bool{false}},
		"as by default":   {100, 0, 0, [][]int64{sequence(1, 64), sequence(65, 100)}, []bool{true, false}},
		"limited by size": {8, 64, 3, [][]int64{{1, 2, 3}, {4, 5, 6}, {7, 8}}, []bool{false, false, false}},
		"one by one":      {3, 64, 1, [][]int64{{1}, {2}, {3}}, []bool{false, false, false}},
		"both":            {7, 4, 3, [][]int64{{1, 2, 3}, {4, 5, 6}, {7}}, []bool{true, false, false}},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			sender.fits = c.fits
			store.add(repeat(1, c.items)...)
			dispatchWith(t, store, sender, Settings{
				PollEvery: noPolls.PollEvery, Bounds: Bounds{Merge: c.merge},
			}, newLease(1))
			synctest.Wait()
			equal(t, sender.covered(1), c.want, "requests")
			var more []bool
			for _, r := range sender.to(1) {
				more = append(more, r.message.More)
			}
			equal(t, more, c.more, "whether there was more")
			for id := int64(1); id <= int64(c.items); id++ {
				if r := store.row(id); r.state != rowSent || r.Attempts != 1 || r.PossibleDuplicates != 0 {
					t.Errorf("item %d is %s after %d attempts, with %d possible duplicates",
						id, r.state, r.Attempts, r.PossibleDuplicates)
				}
			}
		})
	}
}

// TestPaceMerges checks that items that wait for the limits of their chat are merged.
func TestPaceMerges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		p := dispatchWith(t, store, sender, Settings{Limits: Limits{Group: []Window{{1, 10 * time.Second}}}}, newLease(1))
		for range 30 {
			store.add(1)
			p.Wake(1)
			advance(t, time.Second)
		}
		advance(t, time.Second)
		want := [][]int64{{1}, sequence(2, 10), sequence(11, 20)}
		if got := sender.covered(1); len(got) < 3 || !cmp.Equal(want, got[:3]) {
			t.Errorf("requests %v, want %v", got, want)
		}
	})
}

// TestMergedMessageFails checks that, after Rejected or Obsolete, only the first of several items
// ends, and the others are sent again. After a failure that may be temporary, the same message is
// repeated.
func TestMergedMessageFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want [][]int64
		end  rowState // of the first item
	}{
		// Item 6 is added after the first request, during the pause if there is one.
		"rate limited": {rateLimited(time.Second), [][]int64{{1, 2, 3}, {1, 2, 3}, {4, 5, 6}}, rowSent},
		"unreachable":  {failure(Unreachable), [][]int64{{1, 2, 3}, {1, 2, 3}, {4, 5, 6}}, rowSent},
		"ambiguous":    {failure(Ambiguous), [][]int64{{1, 2, 3}, {1, 2, 3}, {4, 5, 6}}, rowSent},
		"rejected":     {failure(Rejected), [][]int64{{1, 2, 3}, {2, 3, 4}, {5}, {6}}, rowDead},
		"obsolete":     {failure(Obsolete), [][]int64{{1, 2, 3}, {2, 3, 4}, {5}, {6}}, rowExpired},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{1: {c.err}}))
			sender.fits = 3
			store.add(repeat(1, 5)...)
			p := dispatchWith(t, store, sender, noPolls, newLease(1))
			synctest.Wait()
			store.add(1)
			p.Wake(1)
			advance(t, time.Minute)
			equal(t, sender.covered(1), c.want, "requests")
			if r := store.row(1); r.state != c.end {
				t.Errorf("the first item is %s, want %s", r.state, c.end)
			}
			equal(t, store.open(), 0, "open items")
		})
	}
}

// TestOverfullLane checks that a lane with more items than Bounds.MaxWaiting is summarized right
// before its next turn. If Summarize fails, the dispatcher calls it again.
func TestOverfullLane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items, bound = 100, 20
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(repeat(1, items)...)
		store.add(repeat(2, bound)...)
		store.freeze(1, time.Minute)
		summarized := make(chan []Lane, 10)
		store.onSummarize = func(lanes []Lane) error {
			summarized <- lanes
			if len(summarized) == 1 {
				return errUnavailable
			}
			return nil
		}
		p := dispatch(t, store, sender, Settings{Bounds: Bounds{MaxWaiting: bound}})
		advance(t, 30*time.Second)
		if len(summarized) > 0 {
			t.Errorf("lanes %v are summarized although they may not send", <-summarized)
		}
		advance(t, time.Minute)
		if len(summarized) != 2 {
			t.Fatalf("summarized %d times, want 2, with a repetition", len(summarized))
		}
		equal(t, <-summarized, []Lane{{Chat: 1}}, "summarized")
		if to := sender.to(1); len(to) != 1 || len(to[0].message.Items) != 1 || to[0].message.Row.Kind != kindSummary {
			t.Errorf("sent to it: %+v", to)
		}
		if f := p.Stats(); f.Dropped != items || f.Expired != 0 || f.Delivered != 1+bound {
			t.Errorf("dropped %d, expired %d, delivered %d", f.Dropped, f.Expired, f.Delivered)
		}
	})
}

// TestLateItem checks that items past their deadline are not sent. The lane continues with the next
// item without waiting for a poll.
func TestLateItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		late := time.Now().Add(30 * time.Second)
		store.put(row{chat: 1, expires: late})
		store.put(row{chat: 1})
		store.put(row{chat: 1, expires: late})
		store.freeze(1, time.Minute)
		p := dispatchWith(t, store, sender, noPolls, newLease(1))
		advance(t, time.Minute)
		store.thaw(1)
		p.Wake(1)
		advance(t, time.Second)
		equal(t, sender.covered(1), [][]int64{{2}}, "requests")
		if f := p.Stats(); f.Expired != 2 || store.open() > 0 {
			t.Errorf("%d have expired, %d wait", f.Expired, store.open())
		}
	})
}

// TestCrowdedStore checks that, while more items than Settings.WaitingTotal wait in all chats
// together, only a tenth of Bounds.MaxWaiting may wait in each lane.
func TestCrowdedStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(repeat(1, 30)...)
		store.freeze(1, time.Hour)
		dispatch(t, store, sender, Settings{WaitingTotal: 29, Bounds: Bounds{MaxWaiting: 50}})
		// In the first round, so many items wait in all that only 5 may wait in a lane, and the 10
		// become one summary. Then chat 1 thaws and its items leave the store, so in the second
		// round 50 may wait.
		for round, want := range []int{1, 1 + 10} {
			store.freeze(2, 2*time.Second)
			store.add(repeat(2, 10)...)
			advance(t, 20*time.Second)
			delivered := 0
			for _, r := range sender.to(2) {
				delivered += len(r.ids)
			}
			equal(t, delivered, want, "round %d: items delivered in all", round)
			store.thaw(1)
			advance(t, 20*time.Second)
		}
	})
}
