// Package outbox delivers notices: strictly in order within a chat, chats in parallel, within the messenger's rate limits. It retries every
// failure that is not caused by the message itself.
//
// A [Store] holds the items from the transaction that commits their cause. A [Dispatcher] takes them from the store, passes the items at
// the head of a lane to a [Sender] as one [Message], and persists the result. The dispatcher knows neither the content of the items nor the
// messenger's protocol: the sender renders them and classifies each failure as a [Failure]. Memory holds nothing that must survive a crash:
// a request whose result was not persisted counts as a possible duplicate.
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

// Lane is a queue of a chat. Each queue is strictly first in, first out.
type Lane struct {
	Chat ChatID
	Kind LaneKind
}

// LaneKind is what a lane consists of. Stores keep the values.
type LaneKind int16

// The kinds of lanes.
const (
	Messages        LaneKind = iota // what the chat is sent, and edits of that
	CallbackAnswers                 // answers to the buttons pressed in the chat
	Pages                           // messages that a pressed button edits; messages go first
	SetAside                        // in stores only: what is set aside
	Boards                          // messages that exist once; everything else goes first
)

// Action is what a message does.
type Action string

// The actions.
const (
	Send           Action = "send"            // a new message; it may cover several items
	Edit           Action = "edit"            // replaces the text of an existing message, or does nothing if there is none
	Ensure         Action = "ensure"          // a message that exists once: edited if it exists, otherwise found or created
	CallbackAnswer Action = "callback_answer" // the answer to a pressed button
	Page           Action = "page"            // replaces the text of the message with the pressed button
)

// Item is one notice in the queue.
type Item struct {
	ID      int64
	Key     string // idempotency key of the command that caused it, for the log
	Kind    string
	Payload []byte
	Names   map[int64]Name // of the players that the payload names by their ids, and of the addressee
	// AddresseeID and Addressee are the person who is answered: a player, or the name of somebody else. Both are zero if there is none.
	AddresseeID        int64
	Addressee          string
	ReplyTo            int64  // the message that is replied to, 0 for none
	Button             string // id of the button press that is answered, empty for none
	Attempts           int    // requests started, including the one about to start
	PossibleDuplicates int    // requests with an unknown outcome
	Repeated           bool   // the outcome of the previous request is unknown
	Failures           int    // requests that ended as Failed
}

// Name is a player's name at the moment when an item is taken.
type Name struct {
	Name string `json:"name"`
	Mark string `json:"mark"` // distinguishes players with the same name; empty if there is no need
}

// Message is the content of one request: one item, or several from the head of a lane.
type Message struct {
	Lane         Lane
	ExternalChat int64 // the messenger's id of the chat
	Private      bool  // a chat with one person
	Parked       bool  // the last request was Forbidden; this one tries again; false for answers to buttons
	// Language is the language to render the message in, as an IETF tag: the chat's, that of the only person who reads it, or for Edit the
	// one that the message was sent in.
	Language string
	Tables   bool   // the chat wants tables where they help
	Dark     bool   // the chat wants dark charts
	TimeZone string // the IANA name of the chat's time zone
	WebSalt  string // of the chat's web board, for an item that shows its link; empty if it is off
	Thread   int64  // the topic of the message, 0 for none
	Action   Action
	Purpose  notice.Purpose // of the first item

	// Items are the items to render, oldest first. For Edit they are the complete content of the edited message, including the item that
	// caused the edit; their ids are those of the rows that first sent them.
	Items []Item
	// Row is the item that the request is logged and persisted under: the first one, or for Edit the one that caused the edit. Its id is
	// the operation id in the log and stays the same after a crash.
	Row Item

	// Object identifies the message that must exist once, for Ensure.
	Object string
	// Target is, for Edit, Ensure and Page, the messenger's id of the existing message, 0 if unknown. KnownFingerprint is the fingerprint
	// of its current content.
	Target           int64
	KnownFingerprint string

	More bool // the lane had more to send when the message was taken
}

// Receipt is what a sender reports about a request.
type Receipt struct {
	MessageID int64 // 0 if unknown
	// Covered is the number of items that the request covered, counted from the first. The others did not fit or must be sent alone; they
	// wait for their turn. 0 means all.
	Covered int
	// Fingerprint identifies the content if only the sender knows it, because it is made when it is sent; empty otherwise.
	Fingerprint string
	Skipped     bool // the message shows the content already, so that nothing was sent
	Ended       bool // a message that existed once need not exist any more, for Ensure
	Pin         Pin  // for Ensure
}

// Pin says whether a message was pinned.
type Pin string

// The outcomes of pinning a message; empty if it was not tried.
const (
	Pinned     Pin = "pinned"
	PinWanted  Pin = "wanted"  // it failed, and is to be tried again
	PinRefused Pin = "refused" // the bot has no right to pin
)

// Sender renders a message and sends it, or as much of it as fits. It calls begin before each request. Its errors should be of type
// *Failure; any other counts as Failed. The receipt of a failure states how many items it concerns.
type Sender interface {
	Send(ctx context.Context, m Message, begin Begin) (Receipt, error)
}

// Begin is called before a request, which must not be made if Begin fails. The first request for a message waits only until the
// lease lasts long enough for it: its lane has had its turn. An extra one, such as for a simpler form of what was refused, waits until the
// total limit allows it. The error is a *Failure for the sender to return.
type Begin func(ctx context.Context) error

// FailureKind is the kind of a failure to send.
type FailureKind string

// The kinds of failures, and what happens to the items.
const (
	RateLimited  FailureKind = "rate_limited" // the chat is paused; the item stays first
	Unreachable  FailureKind = "unreachable"  // not sent, for a transient reason; it stays first
	Ambiguous    FailureKind = "ambiguous"    // the outcome is unknown; it stays first and the same message is sent again
	Uncertain    FailureKind = "uncertain"    // MaxPossibleDuplicates possible duplicates; all items of the message are given up
	Unauthorized FailureKind = "unauthorized" // the token is invalid; nothing can be sent, everything stays
	Migrated     FailureKind = "migrated"     // the chat has a new id; the item stays first and is sent there
	Forbidden    FailureKind = "forbidden"    // the bot may not write to the chat; the chat is parked for a while, its items stay
	Failed       FailureKind = "failed"       // not sent, for an unknown reason; it stays first, and is dead after MaxFailures such requests
	Rejected     FailureKind = "rejected"     // refused for good; the first item becomes a dead letter, the others wait for their turn
	Obsolete     FailureKind = "obsolete"     // its target no longer exists; it ends without a dead letter
	Unsupported  FailureKind = "unsupported"  // a newer release wrote it; the covered items are set aside until that release leads
)

// Failure is why a message was not sent.
type Failure struct {
	Kind       FailureKind
	RetryAfter time.Duration // for RateLimited: the wait that the messenger asks for
	NewID      int64         // for Migrated: the messenger's new id of the chat
	Refusal    string        // the messenger's own words, if it answered any
	Err        error
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Kind, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// LeavesLane reports whether the item does not stay in its lane.
func (f *Failure) LeavesLane() bool {
	return f.Kind == Rejected || f.Kind == Obsolete || f.Kind == Uncertain || f.Kind == Unsupported
}

// Result is the outcome of a message that was taken.
type Result struct {
	Message Message
	Receipt
	Fingerprint string // of the content sent
	// Failure is nil if the message was sent or already shows the content. After Ambiguous the covered items stay marked as sending, so the
	// next request for them counts as a possible duplicate. After any other failure that does not end them they wait to be taken again.
	Failure *Failure
	// Pause is how long the failure delays requests, under any leader: all to the chat after RateLimited, otherwise only those for this
	// item. It is 0 if the item is given up for good at once, or waits until its chat can be written to.
	Pause time.Duration
	// Dead is true if the item has failed too often and becomes a dead letter.
	Dead bool
}

// Turn is what the store returns for a requested lane.
type Turn struct {
	Lane    Lane
	Message *Message      // nil: nothing to send now
	Wait    time.Duration // without a message: how long until the waiting items may be sent; 0 if none wait
	// Over says that the first item is not to be sent any more, so that the lane has to be summarized. Wait is short then, and not 0: while
	// somebody else is changing the item, summarizing leaves it as it is.
	Over bool
}

// Backlog is a lane with waiting items.
type Backlog struct {
	Lane
	To      int64
	Private bool
	Purpose notice.Purpose // of the first item
	Age     time.Duration  // of the first item
	Wait    time.Duration  // how long until it may send; 0: now
	// Overfull says that more items wait than Bounds.MaxWaiting, so that the lane has to be summarized.
	Overfull bool
}

// Summarized is how many items Store.Summarize has ended.
type Summarized struct {
	Expired int // that were not to be sent any more
	Dropped int // because too many items wait: results that are in a summary now, and questions without an answer
}

// Request is a recent request that still counts against the rate limits.
type Request struct {
	Chat    ChatID
	Private bool
	Age     time.Duration // since its end, or since its latest possible end
}

// ErrLeaseLost is returned when another dispatcher holds the lease.
var ErrLeaseLost = errors.New("another instance has taken over")

// Bounds limit how much is sent from a lane.
type Bounds struct {
	Merge      int // maximum number of items in a message, at least 1
	MaxWaiting int // how many items may wait in a chat; if there are more, they are summarized
}

// Store holds the items. Every method may be called again after an error.
type Store interface {
	// Resume puts the items that were set aside as Unsupported back into their lanes, in the order of their ids. It fails with ErrLeaseLost
	// when the epoch is over.
	Resume(ctx context.Context, epoch int64) error
	// Waiting returns all lanes with waiting items, except those of parked chats.
	Waiting(ctx context.Context, bounds Bounds) ([]Backlog, error)
	// Recent returns the requests that ended within the given duration, made by any instance, excluding answers to buttons. An item marked
	// as sending counts as a request made now.
	Recent(ctx context.Context, within time.Duration) ([]Request, error)
	// Advance persists results and then takes the next message of each lane, marked as sending; it
	// does both or neither. A result may have been persisted before. There is a turn for each lane,
	// in the same order. Items that were already marked as sending are taken again as the same
	// message and count as possible duplicates. Advance fails with ErrLeaseLost when the epoch is
	// over.
	Advance(ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error)
	// Summarize ends the first items of lanes that are not to be sent any more: those past their
	// deadline, and all pages of a message but the newest. If more items wait than
	// Bounds.MaxWaiting, it also ends results and answers to questions that certainly did not
	// arrive. One item tells of the results that end, in the place of the first of them. No request
	// for such a lane may be in flight. Summarize fails with ErrLeaseLost when the epoch is over.
	Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (Summarized, error)
	// Survey counts the contents of the store. It lists the chats with the most waiting items, at most largest of them.
	Survey(ctx context.Context, largest int) (Survey, error)
}

// Lease is the right to dispatch.
type Lease interface {
	Epoch() int64
	// Remaining returns how long no other instance can take the lease, whatever the clocks show. At 0 or less the lease may be over.
	Remaining() time.Duration
}

// Survey describes the contents of a store.
type Survey struct {
	Waiting int           // waiting items
	Largest []ChatBacklog // the chats with the most waiting items, in descending order
	Dead    int           // current dead letters
	LastID  int64         // grows by about one for each added item
}

// ChatBacklog is the number of waiting items in a chat. Chat is the store's id: metrics must not show who people are.
type ChatBacklog struct {
	Chat    ChatID `json:"chat"`
	Waiting int    `json:"waiting"`
}
