package ranking

import "elobot/internal/notice"

// PrivateNotice is a notice to the private chat of a command's sender.
type PrivateNotice struct {
	Chat   ChatID
	Notice Notice
}

// SentPrivately answers a press whose result goes to the private chat of the person who pressed.
type SentPrivately struct{}

var _ = notice.Register[SentPrivately](notice.Kind{Name: "sent_privately", Purpose: notice.Answer})

// NotStarted answers such a press if the bot cannot write to the person, who has never started the
// bot or has blocked it.
type NotStarted struct{}

var _ = notice.Register[NotStarted](notice.Kind{Name: "not_started", Purpose: notice.Answer})

// privately returns the decision that answers a press with a notice in the private chat of the
// person who pressed, or asks that person to start the bot first.
func (o Origin) privately(snap *Snapshot, n Notice) (Decision, need, error) {
	switch {
	case snap.PrivateChat == nil:
		return Decision{}, privateChatOf{o.Sender.ID}, nil
	case *snap.PrivateChat == 0:
		return Decision{CallbackAnswer: NotStarted{}}, nil, nil
	default:
		return Decision{ToSender: &PrivateNotice{*snap.PrivateChat, n}, CallbackAnswer: SentPrivately{}}, nil, nil
	}
}
