package outbox

import (
	"context"
	"time"
)

// Settings of a Dispatcher. The zero value of a field stands for its default, but for the limits: those that are not
// there do not limit.
type Settings struct {
	Parallel    int           // requests under way at the same time, default 32
	PollEvery   time.Duration // how often the store is asked for lanes that nobody has woken, default 1 s
	SendTimeout time.Duration // for one request, default and at the most 5 s; a request begins only while the lease lasts a fifth longer

	Limits Limits
	Bounds Bounds // default 64 items in a message and 1,000 that wait in a chat
	// WaitingTotal is how many items may wait in all chats together, default 100,000. While there are more, chats in
	// which more than a tenth of Bounds.Waiting wait are treated as if that were their bound.
	WaitingTotal int
	MaxFailures  int // requests that may fail for no known reason before an item is dead, default 8
	// Favoured are the chats that come before others of their kind, by the messenger's id.
	Favoured []int64

	// Moved is called when the messenger says that a chat has another id now. Until it succeeds the chat waits. nil: the
	// chat waits for somebody else to find out.
	Moved func(ctx context.Context, from, to int64) error
}

// Limits are how many requests may be made, edits included, answers to buttons left out. All windows hold.
type Limits struct {
	Private []Window // in each chat with one person
	Group   []Window // in each other chat
	Total   []Window // in all chats together
}

// Window allows N requests in any span of time of the length Per.
type Window struct {
	N   int
	Per time.Duration
}

// MessengerLimits are the limits that Telegram names in https://core.telegram.org/bots/faq: about one message a second
// in a chat, of which a group bears short bursts, 20 a minute in a group, 30 a second in all.
func MessengerLimits() Limits {
	return Limits{
		Private: []Window{{1, time.Second}},
		Group:   []Window{{20, time.Minute}, {5, 5 * time.Second}},
		Total:   []Window{{30, time.Second}},
	}
}

func (s Settings) withDefaults() Settings {
	for value, fallback := range map[*time.Duration]time.Duration{
		&s.PollEvery: time.Second, &s.SendTimeout: usualTimeout,
	} {
		if *value == 0 {
			*value = fallback
		}
	}
	for value, fallback := range map[*int]int{
		&s.Parallel: 32, &s.Bounds.Merge: 64, &s.Bounds.Waiting: 1000, &s.WaitingTotal: 100_000, &s.MaxFailures: 8,
	} {
		if *value == 0 {
			*value = fallback
		}
	}
	return s
}
