package outbox

import (
	"cmp"
	"context"
	"time"
)

// Settings of a Dispatcher. A zero field means its default, except for Limits: a missing limit does not limit.
type Settings struct {
	Parallel  int           // requests in flight at the same time, default 32
	PollEvery time.Duration // interval between polls of the store for lanes that were not woken, default 1 s
	// SendTimeout is for one request, default and maximum 5 s. One that repeats another may take eight fifths of it. A request starts only
	// if the lease lasts longer than that, by a fifth of SendTimeout.
	SendTimeout time.Duration

	Limits Limits
	Bounds Bounds // default 64 items in a message and 1,000 waiting in a chat
	// WaitingTotal is how many items may wait in all chats together, default 100,000. While more wait, Bounds.MaxWaiting is reduced to a
	// tenth.
	WaitingTotal int
	MaxFailures  int // requests that may end as Failed before an item becomes a dead letter, default 8
	// Favoured lists chats, by the messenger's id, that take precedence over others of their kind.
	Favoured []int64

	// ChatMigrated is called when the messenger reports a new id of a chat. The chat waits until it succeeds. If it is nil, the chat waits
	// until the new id becomes known in another way.
	ChatMigrated func(ctx context.Context, from, to int64) error
	// Touched is called when something was added for a chat, or sent to it, except for boards: what boards show may have changed. It must
	// not block. It may be nil.
	Touched func(ChatID)
	// BoardBegins is called when an update of a board begins. It must not block. It may be nil.
	BoardBegins func(ChatID)
}

// Limits are the rate limits for requests, including edits but not answers to buttons. All windows apply.
type Limits struct {
	Private []Window // in each private chat
	Group   []Window // in each other chat
	Total   []Window // in all chats together
}

// Window allows N requests in any time span of length Per.
type Window struct {
	N   int
	Per time.Duration
}

func (s Settings) withDefaults() Settings {
	s.Parallel = cmp.Or(s.Parallel, 32)
	s.PollEvery = cmp.Or(s.PollEvery, time.Second)
	s.SendTimeout = cmp.Or(s.SendTimeout, defaultTimeout)
	s.Bounds.Merge = cmp.Or(s.Bounds.Merge, 64)
	s.Bounds.MaxWaiting = cmp.Or(s.Bounds.MaxWaiting, 1000)
	s.WaitingTotal = cmp.Or(s.WaitingTotal, 100_000)
	s.MaxFailures = cmp.Or(s.MaxFailures, 8)
	return s
}
