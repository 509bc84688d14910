// Package intake receives updates and confirms an update only after it has been persisted: its
// transaction has committed, or it has become a dead letter. The messenger redelivers everything
// else. The package does not look into updates.
//
// What a failed attempt means for the update (see [Blame]):
//   - If the update itself failed, it is retried for at most 5 seconds after its first failure, and
//     then becomes a dead letter. If a retry is pointless, it becomes one at once.
//   - If the database is unavailable, or a lock is in the way, the update waits as long as it
//     takes: the [Poller] retries it, and the [Webhook] has it redelivered. This time does not
//     count toward giving up. Outside careful mode, a lock holds up only the update's own lane.
//
// Careful mode (see [Worker.BeCareful]) identifies an update that crashes the process, and gives up
// on it. The first attempts at different updates run one at a time, and each is recorded durably
// before it begins. An attempt that never returned may have crashed the process, so its update lets
// the others go first. After eight such attempts the update becomes a dead letter without another
// attempt. The mode lasts for at least two minutes, and longer while a recorded attempt is open.
package intake

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Update is one update as the messenger delivered it.
type Update struct {
	ID int64
	// Lane usually identifies a chat. The updates of a lane are handled one after the other, in the
	// order of arrival.
	Lane int64
	Raw  json.RawMessage
	// Content is Raw as the Reader decoded it. All attempts share the value, so no
	// Handler may change it.
	Content any
	// SentAt is when the update was sent, by the messenger's clock. The Reader leaves it zero for
	// an update without a date, such as a button press; the Handler then gets an estimate. For a
	// Retried update, it is the time of the retry.
	SentAt time.Time
	// Retried means that an operator asked to have the update handled again. Its notices are sent
	// no matter how late they are.
	Retried bool
}

// Reader decodes an update. It fails only if the update has no id. The result then still has Raw
// and Content.
type Reader func(raw []byte) (Update, error)

// Handler handles an update. When it returns nil, all effects of the update have been committed. It
// may be called again with the same update, even after success. It must return soon after the
// context ends.
type Handler func(ctx context.Context, u Update) error

// ErrUnreadable is a Handler's error for an update that it cannot read. A retry is pointless.
var ErrUnreadable = errors.New("update cannot be read")

// Blame is what an error of a Handler, of DeadLetters or of Attempts means for the update.
type Blame int

const (
	// Failed: the update itself failed; a retry may succeed.
	Failed Blame = iota
	// Permanent: the update itself failed; a retry is pointless.
	Permanent
	// Locked: a lock, a conflict or a slow statement is in the way of this update; other updates
	// are not affected.
	Locked
	// Unavailable: the database is unavailable, for all updates.
	Unavailable
)

// Source is the messenger's queue of updates. Its errors are transient, unless a *SourceError is
// Fatal.
type Source interface {
	// Updates confirms all updates before the offset and returns the first unconfirmed updates, at
	// most 100. If there are none, it waits for the first update, at most for the given time.
	// Offset 0 confirms nothing.
	Updates(ctx context.Context, offset int64, wait time.Duration) ([]Update, error)
	// Confirm confirms all updates before the offset.
	Confirm(ctx context.Context, offset int64) error
}

// SourceError is an error of a Source with instructions for the retry.
type SourceError struct {
	Fatal      bool          // a retry is pointless
	RetryAfter time.Duration // the shortest wait before a retry; 0: no minimum
	Err        error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// DeadLetter is an update that could not be handled, with the reason.
type DeadLetter struct {
	Update    Update
	LastError string
	Attempts  int
	FirstSeen time.Time
	// Silent means not to notify the sender: reading the update to find the sender may
	// crash the process.
	Silent bool
}

// DeadLetters stores the updates that could not be handled.
type DeadLetters interface {
	// Save stores a dead letter. It may be called again for the same update.
	Save(ctx context.Context, letter DeadLetter) error
}
