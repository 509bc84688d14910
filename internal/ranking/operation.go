package ranking

import "context"

// operation is what a command does. The service calls read, unlimited, refuse and permit; then, with the group locked,
// readLocked and refuse; and last decide. None of them writes to the store. Reads are repeated after new people are stored
// and after a conflict, so read and readLocked must overwrite what they have read before.
type operation interface {
	// read reads what the operation concerns beyond the snapshot.
	read(context.Context, Store, Snapshot) error
	// readLocked reads it again with the group locked, and whatever is needed only then.
	readLocked(context.Context, Store, Snapshot) error
	// unlimited reports whether the rate limits do not apply.
	unlimited(Snapshot) bool
	// refuse returns a refusal or nil. It is called before any player is added, and again with the group locked.
	refuse(Snapshot) Notice
	// permit returns a refusal if the sender lacks permission. It is called after refuse and outside any transaction,
	// because it may ask the messenger.
	permit(context.Context, Snapshot) Notice
	// decide returns the changes that the command makes.
	decide(context.Context, Snapshot) (Changes, error)
}

// matchOperation is an operation that reports or amends a match.
type matchOperation interface {
	operation
	// rejectedResults describes the results in a NotRecorded. There is at least one.
	rejectedResults(Snapshot) []RejectedResult
}

// plain is an operation that reads nothing more, is never refused and changes nothing. Others embed it.
type plain struct{}

func (plain) read(context.Context, Store, Snapshot) error       { return nil }
func (plain) readLocked(context.Context, Store, Snapshot) error { return nil }
func (plain) unlimited(Snapshot) bool                           { return false }
func (plain) refuse(Snapshot) Notice                            { return nil }
func (plain) permit(context.Context, Snapshot) Notice           { return nil }
func (plain) decide(context.Context, Snapshot) (Changes, error) { return Changes{}, nil }

// answer changes nothing and answers with a notice.
type answer struct {
	plain
	notice Notice
}

func (a answer) decide(context.Context, Snapshot) (Changes, error) {
	return Changes{Notice: a.notice}, nil
}

// question answers with the notice that ask reads, after all names are up to date.
type question struct {
	plain
	ask   func(context.Context, Snapshot) (Notice, error)
	edits int64 // the message that the answer replaces unless it is a refusal, 0 for none
	posts bool  // the answer to a pressed button is a message of its own unless it is a refusal
}

// withoutSnapshot returns an ask that needs to know nothing about the people of the command.
func withoutSnapshot(read func(context.Context) (Notice, error)) func(context.Context, Snapshot) (Notice, error) {
	return func(ctx context.Context, _ Snapshot) (Notice, error) { return read(ctx) }
}

func (q question) decide(ctx context.Context, snap Snapshot) (Changes, error) {
	n, err := q.ask(ctx, snap)
	if q.edits != 0 && !isRefusal(n) {
		return Changes{Page: n, Edits: q.edits}, err
	}
	if q.posts && !isRefusal(n) {
		return Changes{Notice: n, CallbackAnswer: Acknowledged{}}, err
	}
	return Changes{Notice: n}, err
}

// decision only decides.
type decision struct {
	plain
	fn func(Snapshot) Changes
}

func (d decision) decide(_ context.Context, snap Snapshot) (Changes, error) { return d.fn(snap), nil }
