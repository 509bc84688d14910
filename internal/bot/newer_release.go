package bot

import (
	"fmt"
	"slices"

	"elobot/internal/notice"
	"elobot/internal/outbox"
)

// isUnknown reports whether this release has no view for a kind of notice. Only a newer release can
// have introduced such a kind. The exception is ranking.Acknowledged, which has no view because it
// is never a message.
func isUnknown(kind string) bool { return views[notice.Type(kind)] == nil }

// needsNewerRelease reports whether a message cannot be rendered because this release does not know
// the kind of an item. A new message may end before such an item, unless an earlier request for the
// whole message may have succeeded.
func needsNewerRelease(m outbox.Message) bool {
	if m.Action == outbox.Send && !m.Row.Repeated {
		return isUnknown(m.Items[0].Kind)
	}
	return isUnknown(m.Row.Kind) || slices.ContainsFunc(m.Items, func(i outbox.Item) bool { return isUnknown(i.Kind) })
}

// setAside returns the outcome of a message that waits for a newer release. If an earlier request
// for the message may have succeeded, all its items wait. Otherwise only the first item waits.
func setAside(m outbox.Message) (outbox.Receipt, error) {
	var receipt outbox.Receipt
	if !m.Row.Repeated {
		receipt.Covered = 1
	}
	return receipt, &outbox.Failure{Kind: outbox.Unsupported, Err: fmt.Errorf("%w %q", errUnknownKind, m.Row.Kind)}
}
