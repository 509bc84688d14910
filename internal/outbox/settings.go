package outbox

import (
	"cmp"
	"context"
	"time"
)

// Settings configures a Dispatcher. If a field is zero, the default stated below applies. A list of
// Limits without windows imposes no limit.
type Settings struct {
	Parallel  int           // maximum number of requests in flight, separately for callback answers; default 32
	PollEvery time.Duration // shortest pause between polls, default 1 s
	// SendTimeout limits one request. It is 5 s by default and must not be longer. A request that
	// may repeat another one may take 8/5 of it, except for a callback answer. A request starts
	// only if the lease lasts at least SendTimeout/5 longer than the request may take.
	SendTimeout time.Duration

	Limits Limits
	Bounds Bounds // default 64 items in a message and 1,000 waiting in a lane
	// WaitingTotal is how many items may wait in all chats together, default 100,000. While more
	// wait, Bounds.MaxWaiting is reduced to a tenth.
	WaitingTotal int
	// MaxFailures is how many requests for an item may end as Failed before the item becomes a dead
	// letter, default 8.
	MaxFailures int
	// Favored lists the messenger's ids of chats whose items have a higher priority than items of
	// the same kind in other chats.
	Favored []int64

	// ChatMigrated is called when the messenger reports a new id of a chat. It should store the new
	// id, because requests to the chat fail as long as the old one is stored. It may be nil.
	ChatMigrated func(ctx context.Context, from, to int64) error
	// Touched is called when the boards of a chat may be outdated: after a wake for the chat, and
	// after an item was sent or skipped. Items that are boards do not count. Touched must not
	// block. It may be nil.
	Touched func(ChatID)
	// BoardBegins is called when the dispatcher begins to update a board. It must not block. It may
	// be nil.
	BoardBegins func(ChatID)
}

// Limits holds the rate limits for requests, including edits but not callback answers. All windows
// of a list apply at the same time.
type Limits struct {
	Private []Window // in each private chat
	Group   []Window // in each chat that is not private
	Total   []Window // in all chats together
}

// Window allows at most N requests in any time span of length Per.
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
