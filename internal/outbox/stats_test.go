package outbox

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestGauges checks that the gauges show the store and the lanes while the dispatcher runs. After
// it stops, all of them except the average wait are 0. The counters keep their values.
func TestGauges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, scripted(map[int64][]error{
			1: {rateLimited(time.Hour)}, 2: {failure(Forbidden)}, 3: {failure(Rejected)},
		}))
		// Chat 1 is frozen, 2 is parked, and 3 has a dead letter. The items of the other chats are
		// sent or wait.
		for c := ChatID(1); c <= 30; c++ {
			store.put(row{chat: c, created: time.Now().Add(-time.Minute + time.Duration(c))})
		}
		store.add(1, 1, 1, 2, 2)
		store.add(repeat(30, 5)...)
		d := NewDispatcher(store, sender, nil, Settings{})
		if f := d.Stats(); f.Dispatching {
			t.Error("it dispatches before it runs")
		}
		p, _ := dispatchTerm(t, store, sender, Settings{Limits: Limits{Total: []Window{{10, 10 * time.Minute}}}})
		advance(t, 20*time.Second)
		f := p.Stats()
		largest := f.Largest
		f.Largest, f.AverageWait = nil, 0
		want := Stats{
			Dispatching:  true,
			Waiting:      40 - 8, // seven items are sent, and one is dead
			Dead:         1,
			WaitingLanes: 20,
			Sent:         7, Delivered: 7, RateLimited: 1, DeadLetters: 1,
		}
		equal(t, f, want, "stats")
		if len(largest) != 20 {
			t.Fatalf("%d chats are listed, want 20", len(largest))
		}
		equal(t, largest[:3], []ChatBacklog{{30, 6}, {1, 4}, {2, 3}}, "the largest chats")
		p.stop()
		f = p.Stats()
		f.AverageWait = 0
		want = Stats{Sent: 7, Delivered: 7, RateLimited: 1, DeadLetters: 1}
		equal(t, f, want, "stats after the end")
	})
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(time.Second))
		store.add(1, 2, 3, 4, 5)
		store.addCallbackAnswers(1, 1)
		p := dispatch(t, store, sender, Settings{Parallel: 2})
		advance(t, 500*time.Millisecond)
		if f := p.Stats(); f.InFlight != 3 || f.WaitingLanes != 3 {
			t.Errorf("%d requests are in flight, %d lanes wait, want 3 and 3", f.InFlight, f.WaitingLanes)
		}
		advance(t, time.Minute)
		if f := p.Stats(); f.InFlight != 0 || f.WaitingLanes != 0 {
			t.Errorf("%d requests are in flight, %d lanes wait, want none", f.InFlight, f.WaitingLanes)
		}
	})
}

func TestEnqueueRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(repeat(1, 1000)...) // from before the start
		p := dispatch(t, store, sender, Settings{Bounds: Bounds{Merge: 64}})
		rate := func(perSecond int, d time.Duration) float64 {
			for range d / time.Second {
				store.add(repeat(1, perSecond)...)
				advance(t, time.Second)
			}
			return p.Stats().EnqueueRate
		}
		synctest.Wait()
		got := []float64{p.Stats().EnqueueRate, rate(10, 20*time.Second), rate(40, 90*time.Second), rate(0, 90*time.Second)}
		if diff := cmp.Diff([]float64{0, 10, 40, 0}, got, cmp.Comparer(func(a, b float64) bool {
			return a-b < 1 && b-a < 1 // the last survey may have seen a second of another rate
		})); diff != "" {
			t.Errorf("items per second (-want +got):\n%s", diff)
		}
	})
}

func TestAverageWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(time.Second))
		store.add(1, 2, 3, 4)
		p := dispatch(t, store, sender, Settings{Parallel: 1})
		advance(t, time.Minute)
		if got := p.Stats().AverageWait; got != 1.5 { // 0, 1, 2 and 3 s
			t.Errorf("lanes wait for %v s on average, want 1.5", got)
		}
	})

	var m statsRecorder
	equal(t, m.read().AverageWait, 0, "average without turns")
	for i := range keptWaits {
		m.waited(time.Duration(i%2) * time.Second)
	}
	if got := m.read().AverageWait; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("the average of the first 1,000 is %v, want 0.5", got)
	}
	for range 10 * keptWaits {
		m.waited(3 * time.Second)
	}
	if got := m.read().AverageWait; math.Abs(got-3) > 0.001 {
		t.Errorf("the average is %v after 10,000 turns of 3 s", got)
	}
}

// TestCounters checks that each event increases only the counters that it belongs to.
func TestCounters(t *testing.T) {
	t.Parallel()
	message := func(action Action, items int) Message { return Message{Action: action, Items: make([]Item, items)} }
	repeated := func(m Message, repeated bool) Turn {
		m.Row = Item{PossibleDuplicates: 2, Repeated: repeated}
		return Turn{Message: &m}
	}
	ending := func(m Message) Turn {
		m.Row = Item{PossibleDuplicates: MaxPossibleDuplicates, Repeated: true}
		return Turn{Message: &m}
	}
	taken := func(turn Turn) func(*statsRecorder) { return func(m *statsRecorder) { m.taken(turn) } }
	finished := func(m Message, covered int, f *Failure, dead bool) func(*statsRecorder) {
		return func(rec *statsRecorder) {
			r := result{Result: Result{Message: m, Receipt: Receipt{Covered: covered}, Failure: f, Dead: dead}}
			rec.finished(r)
		}
	}
	one := message(Send, 1)
	for name, c := range map[string]struct {
		happens func(*statsRecorder)
		want    Stats
	}{
		"nothing is taken":          {taken(Turn{}), Stats{}},
		"expired and dropped":       {func(m *statsRecorder) { m.summarized(Summarized{Expired: 3, Dropped: 4}) }, Stats{Expired: 3, Dropped: 4}},
		"taken for the first time":  {taken(Turn{Message: &one}), Stats{}},
		"taken again":               {taken(repeated(message(Send, 5), true)), Stats{PossibleDuplicates: 5}},
		"taken and exhausted":       {taken(ending(message(Send, 5))), Stats{}},
		"an edit, taken again":      {taken(repeated(message(Edit, 5), true)), Stats{PossibleDuplicates: 1}},
		"taken again after another": {taken(repeated(message(Send, 5), false)), Stats{}},
		"sent":                      {finished(one, 0, nil, false), Stats{Sent: 1, Delivered: 1}},
		"a button":                  {finished(message(CallbackAnswer, 1), 0, nil, false), Stats{Sent: 1, Delivered: 1}},
		"merged":                    {finished(message(Send, 6), 0, nil, false), Stats{Sent: 1, Delivered: 6, Merged: 6, MergedMessages: 1}},
		"merged in part":            {finished(message(Send, 6), 4, nil, false), Stats{Sent: 1, Delivered: 4, Merged: 4, MergedMessages: 1}},
		"the first of several":      {finished(message(Send, 6), 1, nil, false), Stats{Sent: 1, Delivered: 1}},
		"an edit of several":        {finished(message(Edit, 5), 0, nil, false), Stats{Sent: 1, Delivered: 1}},
		"rate limited":              {finished(one, 0, rateLimited(10*time.Minute), false), Stats{RateLimited: 1}},
		"rejected":                  {finished(message(Send, 6), 0, failure(Rejected), false), Stats{DeadLetters: 1}},
		"failed":                    {finished(one, 0, failure(Failed), false), Stats{}},
		"failed too often":          {finished(one, 0, failure(Failed), true), Stats{DeadLetters: 1}},
		"obsolete":                  {finished(one, 0, failure(Obsolete), false), Stats{Expired: 1}},
		"unreachable":               {finished(one, 0, failure(Unreachable), false), Stats{}},
		"uncertain":                 {finished(message(Send, 5), 0, failure(Uncertain), false), Stats{Uncertain: 5}},
		"ambiguous":                 {finished(one, 0, failure(Ambiguous), false), Stats{}},
		"skipped": {func(m *statsRecorder) {
			m.finished(result{Result: Result{Message: one, Receipt: Receipt{Skipped: true}}})
		}, Stats{Skipped: 1}},
	} {
		var m statsRecorder
		c.happens(&m)
		equal(t, m.read(), c.want, "%s", name)
	}
}

// TestStatsAreCopies checks that changing the returned Stats does not change the dispatcher's
// measurements.
func TestStatsAreCopies(t *testing.T) {
	t.Parallel()
	var m statsRecorder
	s := Survey{Largest: []ChatBacklog{{1, 5}}}
	m.surveyed(s, time.Now())
	m.read().Largest[0].Waiting = 7
	equal(t, m.read().Largest[0].Waiting, 5, "waiting items")
}

// TestPausesDoNotCountAsWaits checks that the time during which a lane may not send does not count
// as a wait for its turn.
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
		if f := p.Stats(); f.WaitingLanes != 0 || f.Sent != 1 {
			t.Errorf("%d lanes wait and %d messages are sent, want 0 and 1", f.WaitingLanes, f.Sent)
		}
		advance(t, 2*time.Hour)
		if f := p.Stats(); f.AverageWait != 0 || f.Sent != 6 {
			t.Errorf("%d are sent, lanes wait for %v s on average, want 6 and 0", f.Sent, f.AverageWait)
		}
	})
}
