package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reactor receives the reactions of a dispatcher. It checks that none is set after the card, or twice unless a new leader does.
type reactor struct {
	t      *testing.T
	sender *messenger
	answer func(ctx context.Context, chat, message int64) error // nil: immediate success
	silent func(message int64) bool                             // answered without a request; nil: none
	again  bool                                                 // there are several leaders

	mu       sync.Mutex
	inFlight int
	most     int // maximum number of requests in flight
	attempts []reactionRequest
}

// reactionRequest is one request for a reaction.
type reactionRequest struct {
	chat, message int64
	begun, ended  time.Time
	err           error
}

func (r *reactor) react(ctx context.Context, chat, message int64, begin Begin) error {
	if r.silent == nil || !r.silent(message) {
		if err := begin(ctx); err != nil {
			return err
		}
	}
	r.mu.Lock()
	begun := time.Now()
	r.inFlight++
	r.most = max(r.most, r.inFlight)
	if !r.again && slices.ContainsFunc(r.attempts, func(a reactionRequest) bool {
		return a.chat == chat && a.message == message && (a.err == nil || a.ended.IsZero())
	}) {
		r.t.Errorf("a second reaction to message %d", message)
	}
	r.mu.Unlock()
	for _, sent := range r.sender.to(ChatID(chat)) {
		if slices.ContainsFunc(sent.message.Items, func(i Item) bool { return i.ReplyTo == message }) && (sent.ended.IsZero() || sent.err == nil) {
			r.t.Errorf("a reaction to message %d after its card", message)
		}
	}
	r.mu.Lock()
	at := len(r.attempts)
	r.attempts = append(r.attempts, reactionRequest{chat: chat, message: message, begun: begun, err: errPanic})
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inFlight--
		r.attempts[at].ended = time.Now()
	}()
	var err error
	if r.answer != nil {
		err = r.answer(ctx, chat, message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts[at].err = err
	return err
}

// flying returns the number of requests in flight.
func (r *reactor) flying() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight
}

// all returns the requests so far.
func (r *reactor) all() []reactionRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.attempts)
}

// messages returns the messages of the requests so far.
func (r *reactor) messages() []int64 {
	var all []int64
	for _, a := range r.all() {
		all = append(all, a.message)
	}
	slices.Sort(all)
	return all
}

// addResults adds recorded results to a chat, reported by the messages 1, 2, 3 … after those before.
func (m *memory) addResults(chat ChatID, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		m.addRow(row{Item: Item{Kind: kindResult, ReplyTo: int64(len(m.rows) + 1)}, chat: chat})
	}
}

// acknowledging starts a dispatcher that sets reactions.
func acknowledging(t *testing.T, store Store, sender *messenger, settings Settings) (*process, *reactor) {
	t.Helper()
	r := &reactor{t: t, sender: sender}
	settings.React = r.react
	p := dispatch(t, store, sender, settings)
	synctest.Wait()
	return p, r
}

// late returns the messages whose results waited for their card for longer than a time.
func (m *messenger) late(chat ChatID, store *memory, wait time.Duration) []int64 {
	store.mu.Lock()
	defer store.mu.Unlock()
	var late []int64
	for _, r := range m.to(chat) {
		for _, item := range r.message.Items {
			if item.Kind == kindResult && r.err == nil && r.begun.Sub(store.rows[item.ID-1].created) > wait {
				late = append(late, item.ReplyTo)
			}
		}
	}
	return late
}

// Results whose notices wait for longer than three seconds are acknowledged at once, and no others: whether a limit of the chat
// or the notices before them make them wait.
func TestWaitingResultsAreAcknowledged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		private bool
		merge   int
	}{"in a group": {false, 1}, "in a private chat": {true, 1}, "merged": {false, 64}, "merged by three": {true, 3}} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(20*time.Millisecond))
			store.private[1] = c.private
			p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits(), Bounds: Bounds{Merge: c.merge}})
			for range 30 {
				store.addResults(1, 1)
				store.add(1) // a notice of another kind
				p.Wake(1)
				advance(t, 300*time.Millisecond)
			}
			advance(t, 3*time.Minute)
			set := reactions.messages()
			for _, message := range sender.late(1, store, reactAfter) {
				if !slices.Contains(set, message) {
					t.Errorf("message %d has no reaction", message)
				}
			}
			// what was predicted to wait may be merged into an earlier message
			if soon := len(set) - len(sender.late(1, store, reactAfter-time.Second)); soon > 0 {
				t.Errorf("%d reactions to results whose notices came soon", soon)
			}
			for _, a := range reactions.all() {
				checkBetween(t, fmt.Sprintf("reaction %d", a.message), a.begun.Sub(store.rows[a.message-1].created), 0, 1500*time.Millisecond)
			}
			if len(set) == 0 {
				t.Error("no reactions")
			}
			if s := p.Stats(); s.Reactions != int64(len(set)) || s.ReactionsRefused != 0 {
				t.Errorf("counted %d reactions, %d refused", s.Reactions, s.ReactionsRefused)
			}
		})
	}
}

// Without pressure, there are no reactions and no lookups.
func TestNoReactionsWithoutPressure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(20*time.Millisecond))
		store.onWaitingResults = func(context.Context) error {
			t.Error("a lookup")
			return nil
		}
		p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits(), PollEvery: noPolls.PollEvery})
		for range 50 {
			store.addResults(1, 1)
			p.Wake(1)
			advance(t, 3100*time.Millisecond)
		}
		if n := len(reactions.all()); n > 0 || len(sender.ids(1)) != 50 {
			t.Errorf("%d reactions, %d cards", n, len(sender.ids(1)))
		}
	})
}

// A result of another instance is acknowledged without a wake, and one from before the start too, unless it is old.
func TestReactionsWithoutWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.freeze(1, 5*time.Minute)
		store.addResults(1, 1)
		advance(t, reactWithin)
		store.addResults(1, 1)
		advance(t, reactWithin/2)
		_, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits()})
		advance(t, time.Second)
		store.addResults(1, 1)
		advance(t, 1500*time.Millisecond)
		if got := reactions.messages(); !slices.Equal(got, []int64{2, 3}) {
			t.Errorf("reactions to %d", got)
		}
		advance(t, 10*time.Minute)
		if n := len(reactions.all()); n != 2 || len(sender.ids(1)) != 3 {
			t.Errorf("%d reactions, %d cards", n, len(sender.ids(1)))
		}
	})
}

// A result whose notice waits behind a request that takes very long, or that failed itself, is acknowledged when that is known.
func TestReactionsDuringFailures(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(context.Context, Message) error{
		"rate limited": func(_ context.Context, m Message) error {
			if m.Row.Attempts == 1 && m.Row.ID == 1 {
				return rateLimited(20 * time.Second)
			}
			return nil
		},
		"no answer": func(ctx context.Context, m Message) error {
			if m.Row.ID == 1 && m.Row.Attempts < 3 {
				return &Failure{Class: Ambiguous, Err: hang(ctx)}
			}
			return nil
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answer)
			p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits()})
			store.addResults(1, 1)
			p.Wake(1)
			advance(t, 500*time.Millisecond)
			store.addResults(1, 1)
			p.Wake(1)
			advance(t, 4400*time.Millisecond) // a request lasts for up to 5 s
			want := []int64{1, 2}
			if name == "no answer" {
				want = []int64{2} // the first may have arrived
			}
			if got := reactions.messages(); !slices.Equal(got, want) {
				t.Errorf("reactions to %d, want %d", got, want)
			}
		})
	}
}

// What is found too late is dropped: a lookup or a queued reaction is worth nothing once the lane sends.
func TestNoReactionAfterTheCard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		looking := make(chan struct{})
		store.addResults(1, 3)
		advance(t, 10*time.Second)
		store.freeze(1, 4*time.Second)
		blocked := slowLookups{store, looking}
		_, reactions := acknowledging(t, blocked, sender, Settings{Limits: MessengerLimits()})
		advance(t, 6*time.Second)
		if n := len(sender.ids(1)); n != 3 {
			t.Fatalf("%d cards", n)
		}
		close(looking)
		advance(t, time.Minute)
		if n := len(reactions.all()); n != 0 {
			t.Errorf("%d reactions", n)
		}
	})
}

// Queued reactions in a chat that sends are dropped. What has to wait nevertheless is found again.
func TestQueuedReactionsAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := Limits{Group: []Window{{1, 20 * time.Second}}, Total: []Window{{4, time.Second}}}
		store, sender := newMemory(), newMessenger(t, nil)
		store.freeze(1, 6*time.Second)
		store.addResults(1, 60)
		_, reactions := acknowledging(t, store, sender, Settings{Limits: limits, Bounds: Bounds{Merge: 40}})
		advance(t, 6500*time.Millisecond)
		first := len(reactions.all())
		if n := len(sender.ids(1)); n != 40 || first == 0 || first >= 40 {
			t.Fatalf("%d cards, %d reactions", n, first)
		}
		advance(t, 15*time.Second)
		if got, want := len(reactions.messages()), first+20; got != want {
			t.Errorf("%d reactions, want %d", got, want)
		}
	})
}

// slowLookups is a store whose lookups are answered late, with what was true before.
type slowLookups struct {
	*memory
	ready chan struct{}
}

func (s slowLookups) WaitingResults(ctx context.Context, chats []ChatID, merge int, within time.Duration) ([]WaitingResult, error) {
	results, err := s.memory.WaitingResults(ctx, chats, merge, within)
	<-s.ready
	return results, err
}

// A rate limit of a reaction pauses the reactions of all chats for that long, and no card; so does another failure.
func TestReactionFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err       error
		low, high time.Duration // of the pause
		limited   int64
	}{
		"rate limited":          {rateLimited(20 * time.Second), 20 * time.Second, 22 * time.Second, 1},
		"rate limited for long": {rateLimited(time.Hour), time.Minute, 62 * time.Second, 1},
		"unreachable":           {failure(Unreachable), 300 * time.Millisecond, 3 * time.Second, 0},
		"unexpected":            {errors.New("unexpected"), 300 * time.Millisecond, 3 * time.Second, 0},
		"panic":                 {errPanic, 300 * time.Millisecond, 3 * time.Second, 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, nil)
			store.freeze(1, time.Hour)
			store.freeze(2, time.Hour)
			store.freeze(3, time.Hour)
			p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits()})
			first := true
			reactions.answer = func(context.Context, int64, int64) error {
				switch failing := first; {
				case !failing:
					return nil
				case errors.Is(c.err, errPanic):
					first = false
					panic(c.err)
				default:
					first = false
					return c.err
				}
			}
			store.addResults(1, 1)
			store.addResults(2, 1)
			begun := time.Now()
			advance(t, 1500*time.Millisecond)
			store.addResults(3, 1)
			store.addResults(4, 1) // a chat that may send
			p.Wake(4)
			synctest.Wait()
			if n := len(sender.to(4)); n != 1 {
				t.Errorf("%d cards during the pause", n)
			}
			advance(t, 65*time.Second)
			all := reactions.all()
			if got := reactions.messages(); !slices.Equal(slices.Compact(got), []int64{1, 2, 3}) || len(all) > 5 {
				t.Fatalf("reactions to %d", got)
			}
			pause := all[len(all)-1].begun.Sub(begun)
			checkBetween(t, "the pause", pause, c.low, c.high+2*time.Second)
			if s := p.Stats(); s.Reactions != 3 || s.RateLimited != c.limited || s.Frozen != 3 || s.CircuitOpen {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A refusal is counted and not repeated. A reaction that was not requested, because of an earlier refusal, counts for nothing.
func TestReactionsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.freeze(1, time.Minute)
		p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits()})
		reactions.answer = func(context.Context, int64, int64) error { return failure(Rejected) }
		reactions.silent = func(message int64) bool { return message > 1 }
		store.addResults(1, 1)
		advance(t, 2*time.Second)
		store.addResults(1, 2)
		advance(t, 2*time.Minute)
		if got := reactions.messages(); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("reactions to %d", got)
		}
		if s := p.Stats(); s.Reactions != 0 || s.ReactionsRefused != 1 || s.Delivered != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// A wake is enough for a reaction: it need not wait for a poll.
func TestReactionsAfterWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(20*time.Millisecond))
		settings := Settings{Limits: Limits{Group: []Window{{1, time.Minute}}}, PollEvery: noPolls.PollEvery}
		p, reactions := acknowledging(t, store, sender, settings)
		for want := range 4 {
			store.addResults(1, 1)
			p.Wake(1)
			advance(t, lookEvery+20*time.Millisecond)
			if got := len(reactions.all()); got != want {
				t.Errorf("%d reactions, want %d", got, want)
			}
		}
		store.freeze(2, time.Hour) // which the dispatcher learns when it takes the result
		store.addResults(2, 1)
		p.Wake(2)
		advance(t, lookEvery+20*time.Millisecond)
		if got := len(reactions.all()); got != 4 {
			t.Errorf("%d reactions, want 4", got)
		}
	})
}

// reactionLimits is a total limit that leaves five requests a second to reactions.
var reactionLimits = Limits{Total: []Window{{10, time.Second}}}

// checkLimit checks that the messages and the reactions together are within the total limit.
func (r *reactor) checkLimit(limits Limits) {
	r.t.Helper()
	spans := r.sender.spans(func(request) bool { return true })
	for _, a := range r.all() {
		spans = append(spans, span{a.begun, a.ended})
	}
	if err := exceeded(spans, limits.Total); err != nil {
		r.t.Error(err)
	}
}

// Reactions and messages together keep the total limit. Reactions leave so much of it that messages need not wait for them.
func TestReactionsKeepTheTotalLimit(t *testing.T) {
	t.Parallel()
	for name, lasts := range map[string]time.Duration{"fast": time.Millisecond, "slow": 400 * time.Millisecond} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(30*time.Millisecond))
			store.freeze(1, time.Hour)
			p, reactions := acknowledging(t, store, sender, Settings{Limits: reactionLimits})
			reactions.answer = func(ctx context.Context, _, _ int64) error { return sleep(ctx, lasts) }
			store.addResults(1, 100)
			for chat := ChatID(2); chat < 50; chat++ {
				advance(t, 330*time.Millisecond)
				begun := time.Now()
				store.add(chat)
				p.Wake(chat)
				synctest.Wait()
				if sent := sender.to(chat); len(sent) != 1 || !sent[0].begun.Equal(begun) {
					t.Errorf("chat %d has to wait", chat)
				}
			}
			for lasts > time.Second/4 && reactions.flying() == 0 {
				advance(t, 10*time.Millisecond)
			}
			for chat := ChatID(50); chat < 80; chat++ { // more than the limit
				store.add(chat)
				p.Wake(chat)
			}
			before := len(reactions.all())
			advance(t, 1500*time.Millisecond)
			if n := len(reactions.all()) - before; n > 0 {
				t.Errorf("%d reactions while messages wait", n)
			}
			advance(t, time.Minute)
			reactions.checkLimit(reactionLimits)
			if n := len(reactions.all()); n < 50 || n > 100 || reactions.most > maxReacting {
				t.Errorf("%d reactions, %d at the same time", n, reactions.most)
			}
		})
	}
}

// A leader that has just set reactions, which the next one does not know of, stops when they do not count any more.
func TestReactionsCountForTheNextLeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(30*time.Millisecond))
		store.freeze(1, time.Hour)
		p, reactions := acknowledging(t, store, sender, Settings{Limits: reactionLimits})
		reactions.again = true
		store.addResults(1, 5)
		advance(t, time.Second)
		if n := len(reactions.all()); n != 5 {
			t.Fatalf("%d reactions", n)
		}
		for chat := ChatID(2); chat < 30; chat++ {
			store.add(chat)
		}
		if took := p.stop(); took > time.Second {
			t.Errorf("stopping takes %v", took)
		}
		dispatch(t, store, sender, Settings{Limits: reactionLimits, React: reactions.react})
		advance(t, 5*time.Second)
		reactions.checkLimit(reactionLimits)
	})
}

// While all send slots are taken and lanes wait for one, nothing is looked for and no reaction is set. With a total limit that
// a leader could not wait for, there are none at all.
func TestNoReactionsWhileLanesWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		want   int
	}{"send slots": {reactionLimits, 1}, "long limit": {Limits{Total: []Window{{1000, time.Minute}}}, 0}} {
		inBubble(t, name, func(t *testing.T) {
			store, sender := newMemory(), newMessenger(t, answersAfter(2*time.Second))
			store.freeze(1, time.Hour)
			store.addResults(1, 1)
			store.add(2, 3, 4, 5)
			_, reactions := acknowledging(t, store, sender, Settings{Limits: c.limits, Parallel: 1})
			advance(t, 5900*time.Millisecond)
			if n := len(reactions.all()); n > 0 {
				t.Errorf("%d reactions while lanes wait", n)
			}
			advance(t, 3*time.Second)
			if n := len(reactions.all()); n != c.want {
				t.Errorf("%d reactions, want %d", n, c.want)
			}
		})
	}
}

// While the circuit is open, or the lease may end, no reactions are set.
func TestNoReactionsInTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		sender := newMessenger(t, func(_ context.Context, m Message) error {
			if m.Row.Attempts == 1 {
				return rateLimited(10 * time.Second)
			}
			return nil
		})
		reactions := &reactor{t: t, sender: sender}
		lease := newLease(1)
		p := dispatchWith(t, store, sender, Settings{Limits: MessengerLimits(), React: reactions.react}, lease)
		synctest.Wait()
		store.freeze(9, time.Hour)
		store.add(1, 2, 3)
		p.Wake(1, 2, 3)
		synctest.Wait()
		store.addResults(9, 1)
		advance(t, 9*time.Second)
		if n := len(reactions.all()); n > 0 || !p.Stats().CircuitOpen {
			t.Errorf("%d reactions while the circuit is open", n)
		}
		advance(t, 5*time.Second)
		if n := len(reactions.all()); n != 1 {
			t.Errorf("%d reactions after that", n)
		}
		close(lease.lost)
		store.addResults(9, 1)
		advance(t, 5*time.Second)
		if n := len(reactions.all()); n != 1 {
			t.Errorf("%d reactions without a lease", n)
		}
	})
}

// A reaction that hangs delays neither cards nor a stop for longer than its timeout.
func TestReactionsHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.freeze(1, time.Hour)
		p, reactions := acknowledging(t, store, sender, Settings{Limits: MessengerLimits()})
		reactions.answer = func(context.Context, int64, int64) error {
			return ignoresCancel(20*time.Second)(context.Background(), Message{})
		}
		store.addResults(1, 20)
		advance(t, 2*time.Second)
		store.addResults(2, 1)
		p.Wake(2)
		synctest.Wait()
		if n := len(sender.to(2)); n != 1 || reactions.most != maxReacting {
			t.Errorf("%d cards, %d reactions in flight", n, reactions.most)
		}
		if took := p.stop(); took > 8*time.Second {
			t.Errorf("stopping takes %v", took)
		}
		advance(t, time.Minute)
	})
}
