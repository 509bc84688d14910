// Package outbox delivers what has been committed to be sent: strictly in order within a chat, chats side by side, and
// again after every failure that is not about the message itself.
//
// The items lie in a [Store] from the transaction of their effect on. A [Dispatcher] takes them out, one at a time for
// each chat, hands them to a [Sender], and writes down what came of it. It knows neither what the items say nor how
// the messenger works: the sender puts them into words and tells, by a [Failure], which kind of failure it has met.
// What is in memory can be lost at any moment; the store has it all.
package outbox

import (
	"context"
	"fmt"
	"time"
)

// ChatID is the store's id of a chat.
type ChatID int64

// Action is what an item does.
type Action string

// The actions.
const (
	Send  Action = "send"  // a new message
	Edit  Action = "edit"  // another text for a message that is there
	Toast Action = "toast" // the answer to a pressed button
)

// Item is one thing to be told.
type Item struct {
	ID      int64
	Chat    ChatID
	Action  Action
	Edits   int64  // for Edit: the message, 0 if there is none any more
	Button  string // for Toast: the press that is answered
	To      int64  // the messenger's id of the chat
	Private bool   // a chat with one person
	// Language is the chat's, as an IETF tag.
	Language string
	Kind     string
	Payload  []byte
	// ReplyTo and Thread are the message that is answered and the topic it stands in, 0 for none.
	ReplyTo, Thread int64
	Attempts        int // requests begun, this one included
	PerhapsSent     int // requests whose outcome is unknown
}

// Sender sends an item to the messenger and returns the id of the message. Its errors are of type *Failure; any other
// error counts as Rejected.
type Sender interface {
	Send(ctx context.Context, item Item) (messageID int64, err error)
}

// Class is the kind of a failure to send.
type Class string

// The kinds of failures, and what happens to the item.
const (
	RateLimited  Class = "rate_limited" // the chat is left alone for a while; the item stays first
	Unreachable  Class = "unreachable"  // not sent, for a reason that passes; the item stays first
	Ambiguous    Class = "ambiguous"    // perhaps sent, perhaps not; the item stays first and is sent again
	Unauthorized Class = "unauthorized" // the token is not valid; nothing can be sent at all, the items stay
	Gone         Class = "gone"         // the bot may not write to the chat; the chat is parked, its items stay
	Rejected     Class = "rejected"     // the item itself is refused for good; it becomes a dead letter
	Pointless    Class = "pointless"    // what it is about is not there any more; it ends quietly
)

// Failure is why an item was not sent.
type Failure struct {
	Class      Class
	RetryAfter time.Duration // for RateLimited: how long the messenger asks to wait
	Err        error
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Class, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Result is what came of an item that was taken.
type Result struct {
	Item      Item
	MessageID int64 // when it was sent
	// Failure is why it was not sent; nil: it was. An Ambiguous one leaves the item marked as being sent, so that the
	// next request for it counts as perhaps the second.
	Failure *Failure
	Pause   time.Duration // for RateLimited: nothing goes to the chat for so long, whoever dispatches
}

// Store keeps the items.
type Store interface {
	// Waiting returns the chats that have something to be sent now: chats that are neither parked nor paused.
	Waiting(ctx context.Context) ([]ChatID, error)
	// Take returns the oldest waiting item of the chat, marked as being sent, or nil if there is nothing to be sent
	// now. An item that was marked so already counts as perhaps sent.
	Take(ctx context.Context, chat ChatID) (*Item, error)
	// Finish writes down what came of an item.
	Finish(ctx context.Context, r Result) error
}
