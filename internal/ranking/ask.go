package ranking

import (
	"context"

	"elobot/internal/command"
)

// Question is what somebody asks: a value that the Answerer understands.
type Question interface {
	// IsAbout reports whether a command may ask about people whom it names. For a button, the
	// command is the one that the message with the button answers.
	IsAbout(said command.Command) bool
}

// Ask answers a question with what the Answerer reads. It is read again after a conflict. The
// answer to a pressed button replaces the message with the button, unless it is a refusal.
type Ask struct {
	Question Question
	// Posts reports whether the answer to a pressed button is a message of its own unless it is a
	// refusal.
	Posts bool
}

// Answerer answers questions. It is called outside any transaction.
type Answerer interface {
	Answer(ctx context.Context, q Question, a Asked) (Notice, error)
}

// Asked is where a question was asked and by whom, and what is known there: of the people whom the
// command mentions or shows, and of everybody in the group if it may mean players by plain names.
type Asked struct {
	Origin Origin
	Snapshot
	people participants // of the snapshot
}

// Find returns a person as the command shows them, and what is known of them: nothing of somebody
// whom it does not show.
func (a Asked) Find(p command.Person) (command.Person, Known) {
	if p.Player != 0 {
		return p, a.everybodyWith(p.Player)
	}
	if i := a.people.index(p); i >= 0 {
		return a.people[i], a.People[i]
	}
	return p, Known{}
}

// EverybodyThere returns the people who are in a ladder of the group, nobody unless the command may
// mean players by plain names.
func (a Asked) EverybodyThere() []command.Person { return a.everybody() }

// Near returns the name of a player whom a new username may mean, nil if there is none.
func (a Asked) Near(username string) *Name {
	if near := a.near(username); len(near) > 0 {
		return new(NameOf(near[0], Known{}))
	}
	return nil
}

func (q Ask) plan(_ *Service, c *call) *call {
	op := asking{Ask: q, people: senderOf(c.Origin), origin: c.Origin}
	if q.Question.IsAbout(c.Said) {
		op.people, op.everybody = c.named(), c.mayNamePlayers()
	}
	return c.with(op.job())
}

// asking answers with a notice that is known already or that the Answerer reads.
type asking struct {
	plain
	Ask
	people    participants
	everybody bool // players may be meant by plain names
	origin    Origin
	known     Notice // nil for a notice that is to be read
}

func (a asking) job() job {
	j := job{name: "answer", bucket: RateQuestion, asks: true, operation: a}
	if a.origin.Button != "" { // a press always gets an answer, up to a limit of its own
		j.name, j.bucket = "press", RatePress
	}
	return j
}

func (a asking) needs() Needs { return Needs{People: a.people, Everybody: a.everybody, Near: true} }

func (a asking) decide(snap *Snapshot) (Decision, need, error) {
	n := a.known
	if n == nil {
		n = snap.Answer
	}
	switch {
	case n == nil:
		return Decision{}, answerTo{a}, nil
	case isRefusal(n):
		return Decision{Notice: n}, nil, nil
	case a.Posts && a.origin.Button != "":
		return Decision{Notice: n, CallbackAnswer: Acknowledged{}}, nil, nil
	default:
		return a.origin.answer(n), nil, nil
	}
}
