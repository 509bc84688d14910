// Package outbox delivers notices within the messenger's rate limits: strictly in order within a
// lane, and to many chats in parallel.
//
// A [Store] holds the items. A [Dispatcher] takes the items at the head of a lane from the store,
// passes them to a [Sender] as one [Message], and persists the [Result]. The dispatcher knows
// neither the content of the items nor the messenger's protocol: the sender renders the items and
// classifies each failure as a [Failure].
//
// What must hold, whatever fails:
//   - The store is the only source of truth. A dispatcher may lose its memory at any moment.
//   - An item is marked as sending before its request begins. If the outcome of a request is
//     unknown or was not persisted, the same message is sent again as a possible duplicate. After
//     [MaxPossibleDuplicates] requests with an unknown outcome, the dispatcher gives up on the
//     message, unless it is an [Edit] or a [Page].
//   - After a failure that may be temporary, the items stay first in their lane and are retried
//     until they expire or the dispatcher gives up on them.
//   - Only the holder of the [Lease] sends. A request begins only if its timeout ends before
//     another instance can take the lease. A write of an old epoch fails with [ErrLeaseLost].
package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"elobot/internal/notice"
)

// ChatID is the store's id of a chat.
type ChatID int64

// Lane identifies one of a chat's queues. Each queue is strictly first in, first out.
type Lane struct {
	Chat ChatID
	Kind LaneKind
}

// LaneKind is the kind of items in a lane. The values are stored.
type LaneKind int16

const (
	Messages        LaneKind = iota // messages to the chat, and edits of them
	CallbackAnswers                 // answers to the buttons pressed in the chat
	Pages                           // edits of messages with pressed buttons; see pagePatience
	SetAside                        // items set aside as Unsupported; used only by stores
	Boards                          // updates of boards, which are messages that exist once; Messages and Pages go first
)

// Action is what sending a Message does in the chat. The values are stored.
type Action string

const (
	// Send posts a new message, which may cover several items.
	Send Action = "send"
	// Edit replaces the content of an existing message. It does nothing if no message is known.
	Edit Action = "edit"
	// Ensure updates the one message that shows an object: it edits that message, or posts it.
	Ensure Action = "ensure"
	// CallbackAnswer answers a pressed button.
	CallbackAnswer Action = "callback_answer"
	// Page replaces the content of the message that has the pressed button.
	Page Action = "page"
)

// Item is one notice in the queue.
type Item struct {
	ID      int64
	Key     string // idempotency key of the command that caused it, for the log
	Kind    string
	Payload []byte
	Names   map[int64]Name // by player id: the players in the payload, and the addressee
	// AddresseeID and Addressee identify the person being answered: by a player's id, or by the
	// name of a person who is not a player. Both are zero if nobody is being answered.
	AddresseeID        int64
	Addressee          string
	ReplyTo            int64  // the message to reply to, 0 for none
	Button             string // id of the button press being answered, empty for none
	Attempts           int    // times it was taken for a request, including this time
	PossibleDuplicates int    // requests with an unknown outcome
	Repeated           bool   // the outcome of the previous request is unknown
	Failures           int    // requests that ended as Failed
}

// Name is a player's name, read when the item is taken.
type Name struct {
	Name string `json:"name"`
	Mark string `json:"mark"` // tells players with the same name apart; empty if unneeded
}

// Message is the content of one call to Sender.Send: one item, or several from the head of a lane.
type Message struct {
	Lane         Lane
	ExternalChat int64 // the messenger's id of the chat
	Private      bool  // a chat with one person
	// Parked means that the chat is parked, and that this message tests whether the bot may write
	// to it again. It is not set for answers to buttons.
	Parked bool
	// Language is the IETF tag of the language to render in: the language of the item if it has
	// one, otherwise the chat's. For Edit, it is the language of the edited message.
	Language string
	Tables   bool   // the chat wants tables where they help
	Dark     bool   // the chat wants dark charts
	TimeZone string // the IANA name of the chat's time zone
	// WebSalt is the salt in the link of the chat's web board. It is empty if the board is off or
	// the item shows no link.
	WebSalt string
	Thread  int64 // id of the message's topic, 0 for none
	Action  Action
	Purpose notice.Purpose // of the first item

	// Items are rendered in this order, oldest first. For Edit they are the complete content of the
	// edited message, and have the ids of the rows that first sent it.
	Items []Item
	// Row is the item under which the request is logged and persisted: the first one, or for Edit
	// the one that caused the edit. Its id is the operation id in the log and survives a crash.
	Row Item

	// Object identifies the message that must exist once, for Ensure.
	Object string
	// Target is the messenger's id of the message that Edit, Ensure or Page changes, 0 if unknown.
	// KnownFingerprint is the fingerprint of its current content, empty if unknown.
	Target           int64
	KnownFingerprint string

	More bool // more items waited in the lane when the message was taken
}

// Receipt is a sender's report on a message.
type Receipt struct {
	MessageID int64 // 0 if unknown
	// Covered is the number of items that the request covered, counted from the first; 0 means all.
	// The others did not fit or must be sent alone, and wait for their turn.
	Covered int
	// Fingerprint identifies the content if only the sender knows it, because it is made while
	// sending; empty otherwise.
	Fingerprint string
	Skipped     bool // nothing had to be changed in the chat
	Ended       bool // for Ensure: the message is no longer needed
	Pin         Pin  // for Ensure: whether the message is pinned
}

// Pin states whether a message is pinned. It is empty if the sender did not check this.
type Pin string

const (
	Pinned     Pin = "pinned"
	PinWanted  Pin = "wanted"  // pinning failed and must be tried again
	PinRefused Pin = "refused" // the bot has no right to pin
)

// Sender renders a message and sends as many of its items as fit. Send calls begin before each
// request. An error that does not wrap a *Failure counts as Failed. The receipt is used after a
// failure too: Covered is then the number of items that the failure concerns.
type Sender interface {
	Send(ctx context.Context, m Message, begin Begin) (Receipt, error)
}

// Begin is called before a request, which must not be made if Begin fails. For the first request
// for a message, Begin waits only until the lease lasts long enough, because the message's lane has
// had its turn. For an extra request, such as a simpler form of a refused message, Begin also waits
// until the circuit breaker and the total limit allow it. An extra request for a callback answer
// does not wait. The error is a *Failure for the sender to return.
type Begin func(ctx context.Context) error

// FailureKind determines what happens to the items of a message after a failure.
type FailureKind string

// The kinds of failures, each with its effect on the items.
const (
	// RateLimited: the chat is paused, or for a callback answer only its lane; the item stays
	// first.
	RateLimited FailureKind = "rate_limited"
	// Unreachable: not sent, for a transient reason; the item stays first.
	Unreachable FailureKind = "unreachable"
	// Ambiguous: the outcome is unknown; the item stays first, and the same message is sent again.
	Ambiguous FailureKind = "ambiguous"
	// Uncertain: there were MaxPossibleDuplicates requests with an unknown outcome; all items of
	// the message are given up.
	Uncertain FailureKind = "uncertain"
	// Unauthorized: the bot's token is invalid, so nothing can be sent; the item stays first.
	Unauthorized FailureKind = "unauthorized"
	// Migrated: the chat has a new id; the item stays first and is sent there.
	Migrated FailureKind = "migrated"
	// Forbidden: the bot may not write to the chat; the chat is parked for a while, and
	// its items stay.
	Forbidden FailureKind = "forbidden"
	// Failed: not sent, for an unknown reason; the item stays first. It becomes a dead letter after
	// Settings.MaxFailures such requests. Requests that fail because the messenger has an outage do
	// not count.
	Failed FailureKind = "failed"
	// Rejected: refused for good; the first item becomes a dead letter, and the others wait
	// for their turn.
	Rejected FailureKind = "rejected"
	// Obsolete: the request no longer has a purpose, for example because the message to edit is
	// gone; the item ends without a dead letter.
	Obsolete FailureKind = "obsolete"
	// Unsupported: a newer release wrote the items; they are set aside until the next Store.Resume.
	Unsupported FailureKind = "unsupported"
)

// Failure is the reason why a message was not sent, or may not have been sent.
type Failure struct {
	Kind       FailureKind
	RetryAfter time.Duration // for RateLimited: the wait that the messenger asks for; 0 if unknown
	NewID      int64         // for Migrated: the messenger's new id of the chat
	Refusal    string        // the messenger's own words; empty if there are none
	Err        error
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Kind, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// LeavesLane reports whether the failure removes the item from its lane. It considers only Kind,
// not Result.Dead.
func (f *Failure) LeavesLane() bool {
	return f.Kind == Rejected || f.Kind == Obsolete || f.Kind == Uncertain || f.Kind == Unsupported
}

// Result is the outcome of a message that was taken.
type Result struct {
	Message Message
	Receipt
	Fingerprint string // identifies the covered content
	// Failure is nil if the message was sent, or if nothing had to be sent. After Ambiguous the
	// covered items stay marked as sending, so the next request for them counts as a possible
	// duplicate. After any other failure that does not end them, they wait to be taken again.
	Failure *Failure
	// Pause is how long the failure delays requests, under any leader. RateLimited delays all
	// requests to the chat except callback answers. Any other failure, and any failure of a
	// callback answer, delays only requests for this item. 0 means no delay.
	Pause time.Duration
	// Dead means that the item has failed too often and becomes a dead letter.
	Dead bool
}

// Turn is the outcome of Store.Advance for one lane.
type Turn struct {
	Lane    Lane
	Message *Message // nil: nothing to send now
	// Wait is set only if Message is nil: how long the waiting items must still wait. It is 0 if no
	// items wait or the chat is parked.
	Wait time.Duration
	// Over means that the first item must no longer be sent, so the lane has to be summarized. Wait
	// is then short but not 0: summarizing skips an item that another transaction is changing, and
	// the lane must not be taken again in a tight loop meanwhile.
	Over bool
}

// Backlog is a lane with waiting items.
type Backlog struct {
	Lane
	To      int64 // the messenger's id of the chat
	Private bool
	Purpose notice.Purpose // of the first item
	Age     time.Duration  // of the first item
	Wait    time.Duration  // until the first item may be sent; 0: now
	// Overfull means that more items wait than Bounds.MaxWaiting, so the lane has to be summarized.
	Overfull bool
}

// Summarized counts the items that Store.Summarize has ended or put into a summary.
type Summarized struct {
	Expired int // items past their deadline, and outdated pages
	// Dropped counts the items that ended or became part of a summary only because too many items
	// wait: results and answers to questions.
	Dropped int
}

// Request is a recent request that still counts against the rate limits.
type Request struct {
	Chat    ChatID
	Private bool
	Age     time.Duration // since its end, or its latest possible end
}

// ErrLeaseLost means that the lease is not held under the given epoch, usually because another
// instance has taken over.
var ErrLeaseLost = errors.New("another instance has taken over")

// Bounds limits how much a lane sends at once, and how much may wait in it.
type Bounds struct {
	Merge      int // maximum number of items in a message, at least 1
	MaxWaiting int // maximum number of items waiting in a lane; a lane with more is summarized
}

// Store holds the items. Every method may be called again after an error.
type Store interface {
	// Resume puts items that were set aside as Unsupported back into their lanes, in the order of
	// their ids. It may end edits and pages that are outdated instead. It fails with ErrLeaseLost
	// if the epoch is over.
	Resume(ctx context.Context, epoch int64) error
	// Waiting returns all lanes with waiting items. Of a parked chat that may not be tried yet, it
	// returns only the lane of callback answers.
	Waiting(ctx context.Context, bounds Bounds) ([]Backlog, error)
	// Recent returns the requests of all instances that ended within the given duration before now,
	// except answers to buttons. The last request for an item marked as sending counts as made now.
	Recent(ctx context.Context, within time.Duration) ([]Request, error)
	// Advance persists results, then takes the next message of each lane and marks it as sending.
	// It does both or neither. Persisting a result twice has no further effect, except that a pause
	// may end later. Advance returns one turn for each lane, in the order of lanes. Items already
	// marked as sending are taken again as the same message and count as possible duplicates.
	// Advance fails with ErrLeaseLost if the epoch is over.
	Advance(ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error)
	// Summarize ends items that must no longer be sent: items past their deadline, and all pages of
	// a message but the newest. If more items wait in a lane than Bounds.MaxWaiting, Summarize also
	// ends answers to questions and match results, except those that may have arrived. In each
	// topic, the first match result that it would end becomes a summary of all of them. The caller
	// must have no request in flight for these lanes. Summarize fails with ErrLeaseLost if the
	// epoch is over.
	Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (Summarized, error)
	// Survey counts the contents of the store. It lists the chats with the most waiting items, at
	// most the given number of chats.
	Survey(ctx context.Context, largest int) (Survey, error)
}

// Lease is the right to dispatch, which at most one instance has at a time.
type Lease interface {
	Epoch() int64
	// Remaining returns for how long no other instance can take the lease, even if the instances'
	// clocks differ. At 0 or less the lease may be over.
	Remaining() time.Duration
}

// Survey describes the contents of a store.
type Survey struct {
	Waiting int           // items waiting in all chats, without those set aside
	Largest []ChatBacklog // the chats with the most waiting items, in descending order
	Dead    int           // items that are dead letters now
	LastID  int64         // the newest item's id, 0 for none; grows by about one with each item
}

// ChatBacklog is the number of waiting items in a chat. Chat is the store's id, because metrics
// must not identify people.
type ChatBacklog struct {
	Chat    ChatID `json:"chat"`
	Waiting int    `json:"waiting"`
}
