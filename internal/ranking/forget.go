package ranking

import (
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// ForgetMe forgets the sender: what all groups know of the person then belongs to a former player
// without a name. It works in the private chat, where the bot asks first.
type ForgetMe struct {
	Sure bool // the sender has confirmed it
}

func (f ForgetMe) plan(s *Service, c *call) *call {
	if !f.Sure {
		return Say{Notice: ForgetPrompt{}}.plan(s, c)
	}
	return c.with(job{
		name: "forget", ofGroup: true, knownChatOnly: true, locks: true, operation: forgetOperation{origin: c.Origin},
	})
}

type forgetOperation struct {
	plain
	origin Origin
}

func (f forgetOperation) decide(snap *Snapshot) (Decision, need, error) {
	if snap.ChatID == 0 { // a redelivery, after the chat was deleted too
		return Decision{ignored: true}, nil, nil
	}
	p := f.origin.Sender
	return Decision{
		Effect: &Forgotten{User: p.ID, Username: p.Username, Names: []string{p.Name}}, Page: ForgetDone{},
	}, nil, nil
}

// Forgotten is a person to be forgotten in all groups: the account User, the unclaimed players with
// the Username, and all players whom a group counts as one of these. A zero User, or an empty
// Username, stands for nobody.
type Forgotten struct {
	User     ladder.UserID
	Username string
	Names    []string // other names of the person
}

func (*Forgotten) outcome() CommandOutcome { return OutcomeSettingChanged }

// ForgetPrompt asks whether to forget the sender, and says what that means.
type ForgetPrompt struct{}

var _ = notice.Register[ForgetPrompt](notice.Kind{Name: "forget_prompt", Purpose: notice.Answer, Alone: true})

// ForgetDone says that the sender is forgotten.
type ForgetDone struct{}

var _ = notice.Register[ForgetDone](notice.Kind{Name: "forget_done", Purpose: notice.Outcome, Alone: true})
