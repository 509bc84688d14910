// Package outbox delivers what has been committed to be sent: strictly in order within a chat, chats side by side, below
// the messenger's limits, and again after every failure that is not about the message itself.
//
// The items lie in a [Store] from the transaction of their effect on. A [Dispatcher] takes them out, hands what a chat
// waits for to a [Sender] as one [Message], and writes down what came of it. It knows neither what the items say nor how
// the messenger works: the sender puts them into words and tells, by a [Failure], which kind of failure it has met.
// What is in memory can be lost at any moment; the store has it all.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ChatID is the store's id of a chat.
type ChatID int64

// Lane is a queue: what a chat is told, or the answers to the buttons that were pressed in it. Each is strictly first in,
// first out.
type Lane struct {
	Chat            ChatID
	CallbackAnswers bool
}

// Action is what a message does.
type Action string

// The actions.
const (
	Send           Action = "send"   // a new message; several may be told as one
	Edit           Action = "edit"   // another text for a message that is there, or nothing if it is not
	Ensure         Action = "ensure" // a message that exists once: edited if it is there, found again or made if it is not
	CallbackAnswer Action = "toast"  // the answer to a pressed button
)

// Purpose is what something is told for.
type Purpose string

// The purposes.
const (
	Outcome      Purpose = "outcome"      // what came of a command
	Answer       Purpose = "answer"       // to a question, which can be asked again
	Notification Purpose = "notification" // for people who have not asked
)

// Item is one thing to be told.
type Item struct {
	ID      int64
	Key     string // the idempotency key of what it comes from, for the log
	Kind    string
	Payload []byte
	// Addressee is who is answered, by name; empty if nobody is.
	Addressee          string
	ReplyTo            int64 // the message that is answered, 0 for none
	Button             string
	Attempts           int  // requests begun, the one that is about to begin included
	PossibleDuplicates int  // requests whose outcome is unknown
	Repeated           bool // the last one of them was unknown when this one was about to begin
	Failures           int  // requests that have Failed
}

// Message is what goes out in one request: one item, or several from the beginning of a lane.
type Message struct {
	Lane    Lane
	To      int64 // the messenger's id of the chat
	Private bool  // a chat with one person
	// Language is the chat's, as an IETF tag.
	Language string
	Thread   int64 // the topic that it stands in, 0 for none
	Action   Action
	Purpose  Purpose // of the first item

	// Items are what is told, oldest first. For Edit they are what the whole message has to say, the new content of the
	// item that has caused it included; their ids are then those of the rows that they were told by.
	Items []Item
	// Row is the item that the message is about: the first one, or for Edit the one that has caused it. Its id names the
	// operation in the log, and is the same after a crash.
	Row Item
	// Count is how many items the message stands for, at least len(Items): of more, Items are the first ones to be named,
	// and the others are told by their number.
	Count int

	// Object is what exists once, for Ensure.
	Object string
	// Target is, for Edit and Ensure, the messenger's id of the message that is there, 0 if none is known, and Known the
	// fingerprint of what it says.
	Target int64
	Known  string

	More bool // the lane had more to be told when the message was taken
}

// Receipt is what a sender says about a request.
type Receipt struct {
	MessageID int64 // 0 if it is not known
	// Told is how many of the items the request was about, from the first on. The others did not fit, or have to stand
	// alone; they wait for their turn. 0 stands for all.
	Covered int
}

// Sender puts a message into words and sends it, or as much of it as fits. Its errors are of type *Failure; any other
// error counts as Failed. The receipt of a failure says how many items it concerns.
type Sender interface {
	Send(ctx context.Context, m Message) (Receipt, error)
}

// Class is the kind of a failure to send.
type Class string

// The kinds of failures, and what happens to what was to be sent.
const (
	RateLimited  Class = "rate_limited" // the chat is left alone for a while; it stays first
	Unreachable  Class = "unreachable"  // not sent, for a reason that passes; it stays first
	Ambiguous    Class = "ambiguous"    // perhaps sent, perhaps not; it stays first and is sent again, the same
	Uncertain    Class = "uncertain"    // perhaps sent MaxCopies times; it ends, with all that it tells
	Unauthorized Class = "unauthorized" // the token is not valid; nothing can be sent at all, everything stays
	Migrated     Class = "migrated"     // the chat has another id now; it stays first and goes there
	Forbidden    Class = "gone"         // the bot may not write to the chat; the chat is parked, its items stay
	Failed       Class = "failed"       // not sent, and nobody knows why; it stays first, and is dead after 8 such requests
	Rejected     Class = "rejected"     // refused for good; the first item becomes a dead letter, and others wait for their turn
	Obsolete     Class = "pointless"    // what it is about is not there any more; it ends quietly
)

// Failure is why something was not sent.
type Failure struct {
	Class        Class
	RetryAfter   time.Duration // for RateLimited: how long the messenger asks to wait
	NewID        int64         // for Migrated: the messenger's new id of the chat
	NotAttempted bool          // the messenger was not asked at all, so that nothing counts against its limits
	Err          error
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Class, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// ends says that nothing more is to be sent of what the failure is about.
func (f *Failure) ends() bool {
	return f.Class == Rejected || f.Class == Obsolete || f.Class == Uncertain
}

// Result is what came of a message that was taken.
type Result struct {
	Message Message
	Receipt
	Fingerprint string // of what was told
	// Failure is why it was not sent; nil: it was, or the message that is there says it already. An Ambiguous one leaves
	// the items that it concerns marked as being sent, so that the next request for them counts as perhaps the second.
	// Every other one that does not end them lets them wait to be taken anew.
	Failure *Failure
	// Pause is for how long nothing is to be sent after the failure, whoever dispatches: to the whole chat after
	// RateLimited, else of this item.
	Pause time.Duration
	// Dead says that the item has failed too often and becomes a dead letter.
	Dead bool
}

// Turn is what there is for a lane that was asked about.
type Turn struct {
	Lane    Lane
	Message *Message      // nil: nothing is to be sent now
	Wait    time.Duration // without a message: how long nothing may be sent that waits; 0 if nothing waits
	Expired int           // items that ended because they came too late
	Dropped int           // questions that ended unanswered because too much waits
}

// Backlog is a lane in which something waits.
type Backlog struct {
	Lane    Lane
	To      int64
	Private bool
	Purpose Purpose       // of the first item
	Age     time.Duration // of the first item
	Wait    time.Duration // how long nothing may be sent, 0 if it may
}

// Request is a request of the last minutes, which counts against the messenger's limits.
type Request struct {
	Chat    ChatID
	Private bool
	Age     time.Duration // since its end, or since it may have ended at the latest
}

// ErrLeaseLost says that another dispatcher is at work now.
var ErrLeaseLost = errors.New("another instance has taken over")

// Bounds are how much of a lane is taken.
type Bounds struct {
	Merge int // how many items a message may tell, at least 1
	// Waiting is how many items may wait in a chat. Of more, those too many are told as one message by their number.
	Waiting int
}

// Store keeps the items. All its methods may be called again after an error.
type Store interface {
	// Waiting returns all lanes in which something waits, but for parked chats.
	Waiting(ctx context.Context) ([]Backlog, error)
	// Recent returns the requests of the last so much time, toasts left out, by whomever they were made. What is marked
	// as being sent counts as a request of this moment.
	Recent(ctx context.Context, within time.Duration) ([]Request, error)
	// Advance writes down results, each of which it may know already, and then takes what the lanes have to send now,
	// marked as being sent; both or none. Items that were marked so before are taken again as the message that they were,
	// and count as perhaps sent. It fails with ErrLeaseLost when the epoch is over.
	Advance(ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error)
	// Survey counts what there is, and names so many of the chats in which most waits.
	Survey(ctx context.Context, largest int) (Survey, error)
}

// Lease is the right to dispatch.
type Lease interface {
	Epoch() int64
	// Left returns for how long nobody else can have it, however late the clocks are; 0 or less: it may be over.
	Left() time.Duration
}

// Survey is what there is in a store.
type Survey struct {
	Waiting int           // items that wait
	Largest []ChatBacklog // the chats in which most wait, most first
	Dead    int           // items that became dead letters and still are
	Frozen  int           // chats that the messenger asks to leave alone
	Parked  int           // chats that the bot may not write to, and in which something waits
	// LastID grows by about one with each item that is added.
	LastID int64
}

// ChatBacklog is how much waits in a chat.
type ChatBacklog struct {
	To      int64 `json:"chat_id"`
	Waiting int   `json:"waiting"`
}
