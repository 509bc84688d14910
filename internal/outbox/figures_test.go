package outbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is in the store and in memory is measured while there is something to measure.
func TestGauges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{
			1: {rateLimited(time.Hour)}, 2: {fail(Gone)}, 3: {fail(Rejected)},
		}))
		for c := ChatID(1); c <= 30; c++ { // 1 is frozen, 2 is parked, of 3 one is dead, the others have to wait
			store.put(row{chat: c, created: time.Now().Add(-time.Minute + time.Duration(c))})
		}
		store.add(1, 1, 1, 2, 2)
		store.add(repeat(30, 5)...)
		d := NewDispatcher(store, sender, nil, Settings{})
		if f := d.Figures(); f.Dispatching {
			t.Error("it dispatches before it runs")
		}
		p, _ := look(t, store, sender, Settings{Limits: Limits{Total: []Window{{10, 10 * time.Minute}}}})
		after(t, 20*time.Second)
		f := p.Figures()
		largest := f.Largest
		f.Largest, f.AverageWait = nil, 0
		want := Figures{
			Dispatching: true,
			Waiting:     40 - 8, // of the first ten chats two items still wait
			Dead:        1, Frozen: 1, Parked: 1,
			WaitingLanes: 20, PausedLanes: 1,
			Sent: 7, Told: 7, Limited: 1, LongWaits: 1, Died: 1,
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("figures (-want +got):\n%s", diff)
		}
		if len(largest) != 20 {
			t.Fatalf("%d chats are named, want 20", len(largest))
		}
		if diff := cmp.Diff([]ChatBacklog{{-30, 6}, {-1, 4}, {-2, 3}}, largest[:3]); diff != "" {
			t.Errorf("the largest chats (-want +got):\n%s", diff)
		}
		p.stop()
		f = p.Figures()
		f.AverageWait = 0
		want = Figures{Sent: 7, Told: 7, Limited: 1, LongWaits: 1, Died: 1}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("figures behind the end (-want +got):\n%s", diff)
		}
	})
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, takes(time.Second))
		store.add(1, 2, 3, 4, 5)
		store.press(1, 1)
		p := dispatch(t, store, sender, Settings{Parallel: 2})
		after(t, 500*time.Millisecond)
		if f := p.Figures(); f.InFlight != 3 || f.WaitingLanes != 3 {
			t.Errorf("%d requests are under way, %d lanes wait, want 3 and 3", f.InFlight, f.WaitingLanes)
		}
		after(t, time.Minute)
		if f := p.Figures(); f.InFlight != 0 || f.WaitingLanes != 0 {
			t.Errorf("%d requests are under way, %d lanes wait, want none", f.InFlight, f.WaitingLanes)
		}
		p.stop()
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
				after(t, time.Second)
			}
			return p.Figures().EnqueueRate
		}
		synctest.Wait()
		got := []float64{p.Figures().EnqueueRate, rate(10, 20*time.Second), rate(40, 90*time.Second), rate(0, 90*time.Second)}
		if diff := cmp.Diff([]float64{0, 10, 40, 0}, got, cmp.Comparer(func(a, b float64) bool {
			return a-b < 1 && b-a < 1 // a second of the new rate may be among the old
		})); diff != "" {
			t.Errorf("items per second (-want +got):\n%s", diff)
		}
		p.stop()
	})
}

func TestAverageWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, takes(time.Second))
		store.add(1, 2, 3, 4)
		p := dispatch(t, store, sender, Settings{Parallel: 1})
		after(t, time.Minute)
		if got := p.Figures().AverageWait; got != 1.5 { // 0, 1, 2 and 3 s
			t.Errorf("lanes wait for %v s on average, want 1.5", got)
		}
		p.stop()
	})

	var m meter
	if got := m.read().AverageWait; got != 0 {
		t.Errorf("an average of nothing: %v", got)
	}
	for i := range 2500 {
		m.waited(time.Duration(i) * time.Second)
	}
	if got := m.read().AverageWait; got != 1999.5 {
		t.Errorf("the average of the last 1,000 is %v, want 1999.5", got)
	}
}

// Each thing that happens counts once, where it belongs.
func TestCounters(t *testing.T) {
	t.Parallel()
	message := func(action Action, items, count int) Message {
		return Message{Action: action, Items: make([]Item, items), Count: count}
	}
	again := func(m Message, repeated bool) Turn {
		m.Row = Item{PerhapsSent: 2, Repeated: repeated}
		return Turn{Message: &m}
	}
	ending := func(m Message) Turn {
		m.Row = Item{PerhapsSent: MaxCopies, Repeated: true}
		return Turn{Message: &m}
	}
	took := func(turn Turn) func(*meter) { return func(m *meter) { m.took(turn) } }
	heard := func(m Message, told int, f *Failure, dead bool) func(*meter) {
		return func(meter *meter) {
			r := result{Result: Result{Message: m, Receipt: Receipt{Told: told}, Failure: f, Dead: dead}, asked: true}
			meter.heard(r)
		}
	}
	one := message(Send, 1, 1)
	for name, c := range map[string]struct {
		happens func(*meter)
		want    Figures
	}{
		"nothing is taken":          {took(Turn{}), Figures{}},
		"expired and dropped":       {took(Turn{Expired: 3, Dropped: 4}), Figures{Expired: 3, Dropped: 4}},
		"taken for the first time":  {took(Turn{Message: &one}), Figures{}},
		"taken again":               {took(again(message(Send, 5, 30), true)), Figures{PerhapsSent: 30}},
		"taken to end":              {took(ending(message(Send, 5, 30))), Figures{}},
		"an edit, taken again":      {took(again(message(Edit, 5, 30), true)), Figures{PerhapsSent: 1}},
		"taken again after another": {took(again(message(Send, 5, 30), false)), Figures{}},
		"sent":                      {heard(one, 0, nil, false), Figures{Sent: 1, Told: 1}},
		"a button":                  {heard(message(Toast, 1, 1), 0, nil, false), Figures{Sent: 1, Told: 1}},
		"merged":                    {heard(message(Send, 6, 6), 0, nil, false), Figures{Sent: 1, Told: 6, Merged: 6, MergedMessages: 1}},
		"merged in part":            {heard(message(Send, 6, 6), 4, nil, false), Figures{Sent: 1, Told: 4, Merged: 4, MergedMessages: 1}},
		"the first of several":      {heard(message(Send, 6, 6), 1, nil, false), Figures{Sent: 1, Told: 1}},
		"counted": {
			heard(message(Send, 5, 30), 0, nil, false), Figures{Sent: 1, Told: 30, Merged: 30, MergedMessages: 1, Dropped: 25},
		},
		"an edit of a counted one": {heard(message(Edit, 5, 30), 0, nil, false), Figures{Sent: 1, Told: 1}},
		"rate limited":             {heard(one, 0, rateLimited(10*time.Minute), false), Figures{Limited: 1}},
		"rate limited for very long": {
			heard(one, 0, rateLimited(10*time.Minute+1), false), Figures{Limited: 1, LongWaits: 1},
		},
		"rejected":         {heard(message(Send, 6, 6), 0, fail(Rejected), false), Figures{Died: 1}},
		"failed":           {heard(one, 0, fail(Failed), false), Figures{}},
		"failed too often": {heard(one, 0, fail(Failed), true), Figures{Died: 1}},
		"pointless":        {heard(one, 0, fail(Pointless), false), Figures{Expired: 1}},
		"unreachable":      {heard(one, 0, fail(Unreachable), false), Figures{}},
		"uncertain":        {heard(message(Send, 5, 30), 0, fail(Uncertain), false), Figures{Uncertain: 30}},
		"ambiguous":        {heard(one, 0, fail(Ambiguous), false), Figures{}},
		"skipped": {func(m *meter) {
			m.heard(result{Result: Result{Message: one}})
		}, Figures{Skipped: 1}},
	} {
		var m meter
		c.happens(&m)
		if diff := cmp.Diff(c.want, m.read()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is read does not change behind the reader's back.
func TestFiguresAreCopies(t *testing.T) {
	t.Parallel()
	var m meter
	s := Survey{Largest: []ChatBacklog{{1, 5}}}
	m.surveyed(s, time.Now())
	m.read().Largest[0].Waiting = 7
	if got := m.read().Largest[0].Waiting; got != 5 {
		t.Errorf("%d items wait, want 5", got)
	}
}
