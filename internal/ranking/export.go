package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"

	"elobot/internal/transfer"
)

// ErrNotEmpty means that a group has recorded matches.
var ErrNotEmpty = errors.New("the group has matches")

// Exporter exports groups.
type Exporter interface {
	// Export writes all data of the chat's group as a zip file: an export for Restore, and files
	// for spreadsheets, where forgotten people are called former, with their numbers. It reads one
	// snapshot of the database. If it fails, what it has written is of no use. It fails with
	// ErrNoSuchGroup if the chat has no group.
	Export(ctx context.Context, chat ExternalChatID, former string, w io.Writer) error
}

// restorer has the methods of a Locked that only restores use.
type restorer interface {
	AuditReader
	// Restore replaces everything of the rankings of a group without matches by what an export has.
	// The effect that it returns must be applied. Restore fails with ErrNotEmpty if the group has
	// matches, and with a transfer.Fault if the export is unusable.
	Restore(ctx context.Context, here Here, e *transfer.Export) (*RestoredGroup, error)
}

// RestoredGroup is what a restore has changed in a transaction that is still open. The restore is
// an import, so that it can be taken back; without matches, the Number is 0.
type RestoredGroup struct {
	ImportChanges
	Matches, Players int
}

func (*RestoredGroup) outcome() CommandOutcome { return OutcomeRecorded }

// Restore restores an export into the chat's group, which must not have a match. It writes nothing
// unless all ratings of the export follow from its matches, and nothing if dryRun is set. It fails
// with ErrNoSuchGroup, with ErrNotEmpty, or with a transfer.Fault that says what is wrong with the
// export.
func Restore(
	ctx context.Context, store Store, chat ExternalChatID, e *transfer.Export, dryRun bool,
) (*RestoredGroup, error) {
	locked, snap, err := lockPatiently(ctx, store, Query{Chat: Chat{ID: chat}, KnownChat: true})
	if err != nil {
		return nil, err
	}
	defer locked.Release(ctx)
	if snap.Group == 0 {
		return nil, ErrNoSuchGroup
	}
	r, err := restoreVerified(ctx, locked, snap, e)
	if err != nil || dryRun {
		return r, err
	}
	return r, locked.Apply(ctx, snap.imported(r))
}

// restoreVerified restores an export in the transaction, and verifies it. If it fails, the
// transaction must be rolled back.
func restoreVerified(ctx context.Context, l Locked, snap *Snapshot, e *transfer.Export) (*RestoredGroup, error) {
	r, err := l.Restore(ctx, snap.Here, e)
	if err == nil {
		err = verifyRestored(ctx, l, snap.Chat.ID)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// verifyRestored returns a transfer.Fault if Verify would find a problem in the chat's group.
func verifyRestored(ctx context.Context, reader AuditReader, chat ExternalChatID) error {
	groups, err := reader.Groups(ctx, chat)
	if err != nil {
		return err
	}
	fault := transfer.Fault{Reason: transfer.WrongRatings}
	a := audit{reader: reader, progress: func() {}, matches: new(int), found: func(f Finding) {
		if fault.Value == "" {
			fault.Value, fault.Line = string(f.Problem), f.Number
		}
	}}
	for _, g := range groups {
		if g.Detached {
			continue
		}
		if err := a.group(ctx, g); err != nil {
			return fmt.Errorf("verify a restored group: %w", err)
		}
	}
	if fault.Value != "" {
		return fault
	}
	return nil
}
