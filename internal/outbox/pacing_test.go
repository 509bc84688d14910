package outbox

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// spans returns the spans of the requests for which of returns true, except callback answers.
func (m *messenger) spans(of func(request) bool) []span {
	var spans []span
	for _, r := range m.all() {
		if of(r) && r.message.Action != CallbackAnswer {
			spans = append(spans, span{r.begun, cmp.Or(r.ended, time.Now())})
		}
	}
	return spans
}

// exceeded returns an error if the requests exceed a limit. An extra request for a message may
// exceed the limits of its chat, but counts against them.
func (m *messenger) exceeded(limits Limits) error {
	before := make(map[ChatID][]span)
	for _, r := range m.all() {
		if r.message.Action == CallbackAnswer {
			continue
		}
		if mine := before[r.chat]; !r.extra && isFull(mine, limits.forChat(r.message.Private), r.begun) {
			return fmt.Errorf("chat %d: a message after %d requests", r.chat, len(mine))
		}
		before[r.chat] = append(before[r.chat], span{r.begun, cmp.Or(r.ended, time.Now())})
	}
	if err := exceeded(m.spans(func(request) bool { return true }), limits.Total); err != nil {
		return fmt.Errorf("in total: %w", err)
	}
	return nil
}

// begun returns when the requests to a chat began, relative to since.
func (m *messenger) begun(chat ChatID, since time.Time) []time.Duration {
	var begun []time.Duration
	for _, r := range m.to(chat) {
		begun = append(begun, r.begun.Sub(since))
	}
	return begun
}

// TestPaceOfLanes checks that requests begin as soon as the limits allow. A window is measured from
// the end of a request, so a slow request delays the requests after it.
func TestPaceOfLanes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	limits := Limits{
		Private: []Window{{1, time.Second}},
		Group:   []Window{{6, time.Minute}, {2, 5 * time.Second}},
	}
	cases := map[string]struct {
		limits  Limits
		private bool
		lasts   time.Duration
		want    []time.Duration
	}{
		"private": {limits, true, 0, []time.Duration{
			0, 1000 * ms, 2000 * ms, 3000 * ms, 4000 * ms, 5000 * ms, 6000 * ms, 7000 * ms,
		}},
		"private, answers take time": {limits, true, 200 * ms, []time.Duration{
			0, 1200 * ms, 2400 * ms, 3600 * ms, 4800 * ms, 6000 * ms, 7200 * ms, 8400 * ms,
		}},
		"group": {limits, false, 0, []time.Duration{
			0, 0, 5000 * ms, 5000 * ms, 10_000 * ms, 10_000 * ms, 60_000 * ms, 60_000 * ms,
		}},
		"group, answers take time": {limits, false, 200 * ms, []time.Duration{
			0, 200 * ms, 5200 * ms, 5400 * ms, 10_400 * ms, 10_600 * ms, 60_200 * ms, 60_400 * ms,
		}},
		"no limits": {Limits{}, false, 200 * ms, []time.Duration{
			0, 200 * ms, 400 * ms, 600 * ms, 800 * ms, 1000 * ms, 1200 * ms, 1400 * ms,
		}},
		"in total": {Limits{Total: []Window{{3, 2 * time.Second}}}, false, 300 * ms, []time.Duration{
			0, 300 * ms, 600 * ms, 2300 * ms, 2600 * ms, 2900 * ms, 4600 * ms, 4900 * ms,
		}},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(c.lasts))
			store.private[1] = c.private
			store.add(repeat(1, 8)...)
			begun := time.Now()
			dispatch(t, store, sender, Settings{PollEvery: noPolls.PollEvery, Limits: c.limits})
			advance(t, 2*time.Minute)
			equal(t, sender.begun(1, begun), c.want, "requests")
		})
	}
}

// TestPaceCountsEveryRequest checks that edits count against the limits like new messages, and
// failures like successes. Skipped edits do not count. A board is sent after all messages.
func TestPaceCountsEveryRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, scripted(map[int64][]error{3: {failure(Rejected)}, 4: {failure(Obsolete)}}))
		known := Message{Items: []Item{{Kind: "test"}}}
		store.add(1)
		store.put(row{chat: 1, action: Edit, target: 77, known: "another"})
		store.add(1, 1)
		store.put(row{chat: 1, action: Edit, target: 77, known: known.fingerprint(1)})
		store.put(row{chat: 1, action: Ensure, target: 78})
		store.add(1)
		begun := time.Now()
		dispatch(t, store, sender, Settings{Limits: Limits{Group: []Window{{1, time.Second}}}})
		advance(t, time.Minute)
		equal(t, sender.ids(1), []int64{1, 2, 3, 4, 7, 6}, "requests")
		var want []time.Duration
		for i := range 6 {
			want = append(want, time.Duration(i)*time.Second)
		}
		equal(t, sender.begun(1, begun), want, "requests")
	})
}

// load is a random sequence of items, with either restarts or extra requests. It never has both,
// because a restarted dispatcher counts only one request per message.
type load struct {
	limits   Limits
	parallel int
	events   []loadEvent
}

type loadEvent struct {
	after   time.Duration
	chats   []ChatID // one item each; odd ids are private chats
	lasts   time.Duration
	forms   int // requests per item
	restart bool
}

func drawLoad(t *rapid.T) load {
	windows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
		per := time.Duration(rapid.IntRange(1, 50).Draw(t, "per")) * 100 * time.Millisecond
		return Window{N: rapid.IntRange(1, 6).Draw(t, "n"), Per: per}
	}), 0, 2)
	ms := func(of ...int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.SampledFrom(of), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	restarts := rapid.Bool().Draw(t, "restarts")
	chat := rapid.Map(rapid.IntRange(1, 6), func(id int) ChatID { return ChatID(id) })
	return load{
		limits: Limits{
			Private: windows.Draw(t, "private"), Group: windows.Draw(t, "group"), Total: windows.Draw(t, "total"),
		},
		parallel: rapid.IntRange(1, 5).Draw(t, "parallel"),
		events: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) loadEvent {
			e := loadEvent{
				after: ms(0, 0, 1, 50, 300, 2000, 9000).Draw(t, "after"),
				chats: rapid.SliceOfN(chat, 0, 8).Draw(t, "chats"),
				lasts: ms(0, 0, 1, 70, 250, 900).Draw(t, "lasts"),
				forms: 1,
			}
			if restarts {
				e.restart = rapid.IntRange(0, 5).Draw(t, "restart") == 0
			} else {
				e.forms = rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "forms")
			}
			return e
		}), 1, 8).Draw(t, "events"),
	}
}

// play sends the items and checks the requests against the limits. Without restarts, it also checks
// that no request waits unnecessarily.
func (l load) play(t *testing.T) error {
	store := newMemory()
	for c := ChatID(1); c <= 6; c += 2 {
		store.private[c] = true
	}
	var events sync.Map // event of each item, by id
	eventOf := func(m Message) loadEvent {
		e, _ := events.Load(m.Row.ID)
		return e.(loadEvent)
	}
	items := int64(0)
	sender := newMessenger(t, func(ctx context.Context, m Message) error { return answersAfter(eventOf(m).lasts)(ctx, m) })
	sender.forms = func(m Message) int { return eventOf(m).forms }
	settings := Settings{Parallel: l.parallel, Limits: l.limits}
	p := dispatch(t, store, sender, settings)
	restarts := false
	for _, e := range l.events {
		advance(t, e.after)
		if e.restart {
			restarts = true
			p.stop()
			p = dispatch(t, store, sender, settings)
		}
		for _, c := range e.chats {
			items++ // id of the next item
			events.Store(items, e)
			store.add(c)
		}
		p.Wake(e.chats...)
		synctest.Wait()
	}
	advance(t, 10*time.Minute)
	p.stop()
	if n := store.open(); n != 0 {
		return fmt.Errorf("%d items are not sent", n)
	}
	if err := sender.exceeded(l.limits); err != nil || restarts {
		return err
	}
	return l.unneededWait(store, sender)
}

// unneededWait returns an error if a request waited longer than necessary.
func (l load) unneededWait(store *memory, sender *messenger) error {
	var all []span
	done := make(map[ChatID][]span)
	sending := make(map[int64]span) // from the first request for an item to the end of the last
	for _, r := range sender.all() {
		s := sending[r.ids[0]]
		sending[r.ids[0]] = span{cmp.Or(s.begun, r.begun), r.ended}
	}
	for _, r := range sender.all() {
		before := r.begun.Add(-1)
		under := 0
		for item, s := range sending {
			if item != r.ids[0] && !s.begun.After(before) && s.ended.After(before) {
				under++
			}
		}
		ready := store.row(r.ids[0]).created
		mine := done[r.chat]
		if len(mine) > 0 && mine[len(mine)-1].ended.After(ready) {
			ready = mine[len(mine)-1].ended
		}
		if r.begun.After(ready) && under < l.parallel && !isFull(all, l.limits.Total, before) &&
			(r.extra || !isFull(mine, l.limits.forChat(r.message.Private), before)) {
			return fmt.Errorf("item %d waits unnecessarily from %v to %v", r.ids[0], ready, r.begun)
		}
		s := span{r.begun, r.ended}
		all, done[r.chat] = append(all, s), append(mine, s)
	}
	return nil
}

// TestPaceOfRandomLoad checks that, for random limits and loads, everything is sent and no limit is
// exceeded. Without restarts, no request waits longer than necessary.
func TestPaceOfRandomLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLoad(rt)
		var err error
		synctest.Test(t, func(t *testing.T) { err = l.play(t) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
