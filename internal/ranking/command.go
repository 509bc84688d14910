package ranking

import "context"

// command is a command or an event that the service handles.
type command struct {
	operation
	name string
	// class is the command's rate class, empty if no person sent the command.
	class RateClass
	// further says how each match after the first one counts, and furtherResults how many there are, if the command answers a
	// question about several: the question counts as one result of whoever reported them, and the press as a press.
	further        RateEntry
	furtherResults int
	// isAdmin reports whether the sender is an admin, nil if the operation need not know.
	isAdmin func(context.Context) (bool, error)
	// locks is true if the operation decides with the group locked from the first attempt on.
	locks bool
	// knownChatOnly is true if the command does nothing in an unknown chat and does not create the chat.
	knownChatOnly bool
	// silent is true if nobody waits for the outcome. A failure is then not answered, nor is a command over a limit; the caller retries.
	silent bool
	// unlogged is true for events, whose outcomes are not logged.
	unlogged bool
	// outcome is set once the changes are decided. It is a pointer because commands are passed by value.
	outcome *CommandOutcome
}

// answerOnly returns a command with the same rate class that changes nothing and is answered with the notice.
func (c command) answerOnly(n Notice) command {
	return command{class: c.class, outcome: c.outcome, operation: answer{notice: n}}
}

// query returns what to read for the command.
func (c command) query(o Origin) Query {
	q := Query{
		Needs: c.needs(), Key: o.Key, Message: o.Message, Chat: o.Chat, Sender: o.Sender, Shown: o.Shown, KnownChat: c.knownChatOnly,
		RateEntry: c.rateEntry(o, nil), Further: c.further,
	}
	if !o.Retried {
		q.SentAt = o.SentAt
	}
	return q
}
