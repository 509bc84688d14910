// Package intake takes updates in and is done with one only when it has been handled for good: its transaction has
// committed, or it lies among the dead letters. Only then is it confirmed to the messenger, which repeats everything
// else. The package does not know what is in an update.
package intake

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Update is one update as it came.
type Update struct {
	ID int64
	// Lane is what the update belongs to, a chat as a rule: the updates of a lane are handled one after the other, in
	// the order in which they came.
	Lane        int64
	Raw         json.RawMessage
	Redelivered bool // handled once more because somebody asked for it: what comes of it is told however late it is
}

// Handler handles an update. When it returns nil, everything that comes of the update has been committed. It may be
// called again with the same update, also after it succeeded. It returns soon when the context ends.
type Handler func(ctx context.Context, u Update) error

// ErrUnreadable is what a Handler returns for an update that it will never be able to read, so that trying again is of
// no use.
var ErrUnreadable = errors.New("update cannot be read")

// Class is what an error of a Handler or of DeadLetters means for the update.
type Class int

// The classes of errors.
const (
	Failed   Class = iota // the update fails for a reason of its own, which may pass
	Hopeless              // the same, and trying again is of no use
	Busy                  // somebody holds what the update needs: that says nothing against it, nor of other updates
	Away                  // the database is away, for all updates
)

// Source is where updates come from. Its errors are of type *SourceError or pass by themselves.
type Source interface {
	// Updates confirms all updates before the offset and returns the first ones that are not confirmed, at most 100,
	// waiting up to wait for the first. Offset 0 confirms nothing.
	Updates(ctx context.Context, offset int64, wait time.Duration) ([]Update, error)
	// Confirm confirms all updates before the offset.
	Confirm(ctx context.Context, offset int64) error
}

// SourceError is an error of a Source with a meaning of its own.
type SourceError struct {
	Fatal      bool          // trying again is of no use
	RetryAfter time.Duration // when to try again, 0: soon
	Err        error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// DeadLetter is an update that could not be handled, and why.
type DeadLetter struct {
	Update    Update
	LastError string
	Attempts  int
	FirstSeen time.Time
	Silent    bool // do not tell the sender: reading the update to find out who that is may end the process
}

// DeadLetters keeps what could not be handled.
type DeadLetters interface {
	// Keep keeps a dead letter. It may be called again for the same update.
	Keep(ctx context.Context, letter DeadLetter) error
}
