package ranking

import (
	"fmt"
)

// command is a command or an event that the service handles.
type command struct {
	operation
	name string
	// people is who the operation is about. The sender is among them, so that every command claims the sender's unclaimed
	// player.
	people participants
	needed int // how many of the people, from the first on, are added if unknown
	// equal says which recent matches the operation needs to know.
	equal EqualResults
	// leaders says which players at the top of the ranking it needs to know.
	leaders LeaderQuery
	// class is the command's rate class, empty if no person sent the command.
	class RateClass
	// further says how each match after the first one counts, and furtherResults how many there are, if the command answers a
	// question about several: the question counts as one result of whoever reported them, and the press as a press.
	further        RateEntry
	furtherResults int
	// locks is true if the operation decides with the group locked from the first attempt on.
	locks bool
	// knownChatOnly is true if the command does nothing in an unknown chat and does not create the chat.
	knownChatOnly bool
	// silent is true if nobody waits for the outcome. A failure is then not answered; the caller retries.
	silent bool
	// outcome is set once the changes are decided. It is a pointer because commands are passed by value.
	outcome *CommandOutcome
}

func (c command) query(o Origin) Query {
	return Query{
		Key: o.Key, Message: o.Message, Chat: o.Chat, People: c.people, Further: c.further, Equal: c.equal, Leaders: c.leaders,
	}
}

// answerOnly returns a command with the same rate class that changes nothing and is answered with the notice.
func (c command) answerOnly(n Notice) command {
	return command{class: c.class, outcome: c.outcome, operation: answer{notice: n}}
}

// requireKnown returns ErrConflict unless all people that the command needs are known.
func (c command) requireKnown(snap Snapshot) error {
	for i, k := range snap.People[:c.needed] {
		if k.Player == nil {
			return fmt.Errorf("%w: person %d no longer exists", ErrConflict, i+1)
		}
	}
	return nil
}

// isUnconcerned reports whether the command changes nothing because the chat is unknown. Then only its key is stored.
func (c command) isUnconcerned(snap Snapshot) bool { return c.knownChatOnly && snap.ChatID == 0 }
