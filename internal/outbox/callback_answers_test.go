package outbox

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func (m *memory) addCallbackAnswers(chat ChatID, n int) {
	for range n {
		m.put(row{chat: chat, action: CallbackAnswer})
	}
}

// callbackAnswers returns when the requests for callback answers began, relative to since.
func (m *messenger) callbackAnswers(since time.Time) []time.Duration {
	var begun []time.Duration
	for _, r := range m.all() {
		if r.message.Action == CallbackAnswer {
			begun = append(begun, r.begun.Sub(since))
		}
	}
	return begun
}

func durations(at ...time.Duration) []time.Duration { return at }

// TestCallbackAnswersDoNotWait checks that a callback answer does not wait for the limits, for a
// send slot of messages, for the pause of a frozen chat, or for the circuit. In its chat, it waits
// only for earlier callback answers.
func TestCallbackAnswersDoNotWait(t *testing.T) {
	t.Parallel()
	const second = time.Second
	hour := []error{rateLimited(time.Hour)}
	cases := map[string]struct {
		settings Settings
		errs     map[int64][]error // of messages 1, 2 and 3, each in its own chat
	}{
		"the pace": {Settings{Limits: Limits{
			Group: []Window{{1, time.Hour}}, Private: []Window{{1, time.Hour}}, Total: []Window{{1, time.Hour}},
		}}, nil},
		"a send slot":      {Settings{Parallel: 1}, nil},
		"a frozen chat":    {Settings{}, map[int64][]error{1: hour}},
		"many rate limits": {Settings{}, map[int64][]error{1: hour, 2: hour, 3: hour}},
		"an outage": {Settings{}, map[int64][]error{
			1: {failure(Unreachable)}, 2: {failure(Unreachable)}, 3: {failure(Unreachable)},
		}},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			store := newMemory()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if m.Action == CallbackAnswer {
					return answersAfter(second)(ctx, m)
				}
				return scripted(c.errs)(ctx, m)
			})
			c.settings.PollEvery = noPolls.PollEvery
			store.add(1, 2, 3)
			p := dispatch(t, store, sender, c.settings)
			advance(t, 10*time.Millisecond)
			store.add(1)
			store.addCallbackAnswers(1, 3)
			begun := time.Now()
			p.Wake(1)
			p.WakeCallbackAnswers(1)
			advance(t, 400*time.Millisecond)
			for range 2 {
				store.addCallbackAnswers(1, 1)
				p.WakeCallbackAnswers(1)
			}
			advance(t, 10*second)
			want := durations(0, second, 2*second, 3*second, 4*second)
			equal(t, sender.callbackAnswers(begun), want, "answers to buttons")
		})
	}
}

// TestCallbackAnswersDelayNothingElse checks that callback answers, even failing ones, neither
// delay messages nor use up limits or send slots.
func TestCallbackAnswersDelayNothingElse(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"rate limited": rateLimited(time.Hour),
		"unreachable":  failure(Unreachable),
		"unauthorized": failure(Unauthorized),
		"success":      nil,
	} {
		inBubble(t, name, func(t *testing.T) {
			const chats = 5
			store := newMemory()
			sender := newMessenger(t, func(_ context.Context, m Message) error {
				if m.Action == CallbackAnswer {
					return err
				}
				return nil
			})
			for c := range ChatID(chats) {
				store.addCallbackAnswers(c, 2)
			}
			begun := time.Now()
			p := dispatch(t, store, sender, Settings{
				PollEvery: noPolls.PollEvery, Parallel: 1,
				Limits: Limits{Group: []Window{{2, time.Minute}}, Total: []Window{{2 * chats, time.Minute}}},
			})
			synctest.Wait()
			for c := range ChatID(chats) {
				store.add(c, c)
				p.Wake(c)
			}
			synctest.Wait()
			if n := len(sender.all()) - len(sender.callbackAnswers(begun)); n != 2*chats || time.Since(begun) != 0 {
				t.Errorf("%d messages are sent after %v, want %d at once", n, time.Since(begun), 2*chats)
			}
			if p.Stats().CircuitOpen {
				t.Error("the circuit is open")
			}
		})
	}
}

// TestCallbackAnswersOfChats checks that the callback answers of a chat are sent one at a time, in
// order. Up to Settings.Parallel chats are answered at the same time.
func TestCallbackAnswersOfChats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, parallel, each = 6, 3, 4
		store := newMemory()
		sender := newMessenger(t, func(ctx context.Context, m Message) error {
			if m.Row.ID%5 == 0 && m.Row.Attempts == 1 {
				return rateLimited(time.Second)
			}
			return answersAfter(time.Second)(ctx, m)
		})
		for range each {
			for c := range ChatID(chats) {
				store.addCallbackAnswers(c, 1)
			}
		}
		dispatch(t, store, sender, Settings{Parallel: parallel})
		advance(t, time.Minute)
		equal(t, sender.maxInFlight, parallel, "requests at the same time")
		for c := range ChatID(chats) {
			ids := slices.Compact(sender.ids(c))
			if len(ids) != each || !slices.IsSorted(ids) {
				t.Errorf("the order in chat %d is %v", c, ids)
			}
		}
		equal(t, store.count(rowSent), chats*each, "items sent")
	})
}

// TestCallbackAnswersTakeTurns checks that the callback answer that has waited longest goes first.
func TestCallbackAnswersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, answersAfter(time.Millisecond))
		var want []ChatID
		for c := range ChatID(20) {
			chat := (c*7 + 3) % 20
			want = append(want, chat)
			store.put(row{chat: chat, action: CallbackAnswer, created: time.Now().Add(time.Duration(c) * time.Millisecond)})
		}
		advance(t, 20*time.Millisecond)
		dispatch(t, store, sender, Settings{Parallel: 1})
		advance(t, time.Second)
		var got []ChatID
		for _, r := range sender.all() {
			got = append(got, r.chat)
		}
		equal(t, got, want, "requests")
	})
}
