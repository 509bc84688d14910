package ranking

import (
	"context"

	"elobot/internal/command"
)

// Question is a question that the Answerer answers from stored data.
type Question interface {
	// IsAbout reports whether the question may be about people named in said, the Said of the
	// command's Origin.
	IsAbout(said command.Command) bool
}

// Ask answers a question with a notice from the Answerer, which may be called several times for one
// command. The answer to a pressed button replaces the message with the button, unless the answer
// is a refusal or Posts is set.
type Ask struct {
	Question Question
	// Posts makes the answer to a pressed button a new message, unless the answer is a refusal.
	Posts bool
	// OfAdmins restricts the question to admins. The Snapshot then has Everybody.
	OfAdmins bool
}

// Answerer answers questions. It runs outside any transaction.
type Answerer interface {
	Answer(ctx context.Context, q Question, a Asked) (Notice, error)
}

// Asked is the context of a question: its Origin and the Snapshot. The People of the Snapshot are
// the sender and, if the question may be about people, the people that the command mentions or
// shows. The Snapshot has Everybody only if Ask.OfAdmins is set, or if the command may mean players
// by plain names or mentions an unknown person.
type Asked struct {
	Origin Origin
	Snapshot
	people participants // in the order of Snapshot.People
}

// Find looks for the person p among the People, and returns the person as the command shows them
// and what the store knows about them. If p has a Player, Find looks for that player among
// Everybody and returns p unchanged. If there is no such person, it returns p and a zero Known.
func (a Asked) Find(p command.Person) (command.Person, Known) {
	if p.Player != 0 {
		return p, a.everybodyWith(p.Player)
	}
	if i := a.people.index(p); i >= 0 {
		return a.people[i], a.People[i]
	}
	return p, Known{}
}

// EverybodyThere returns the players of the group's ladders, including those who have left. It
// returns none if the Snapshot lacks Everybody.
func (a Asked) EverybodyThere() []command.Person { return a.everybody() }

// Near returns the name of the first player whom a new username may mean, nil if there is none.
func (a Asked) Near(username string) *Name {
	if near := a.near(username); len(near) > 0 {
		return new(NameOf(near[0], Known{}))
	}
	return nil
}

func (q Ask) plan(_ *Service, c *call) *call {
	op := asking{Ask: q, people: senderOf(c.Origin), everybody: q.OfAdmins, origin: c.Origin}
	if q.Question.IsAbout(c.Said) {
		op.people, op.everybody = c.named(), q.OfAdmins || c.mayNamePlayers()
	}
	return c.with(op.job())
}

// asking is an operation that answers with the notice known or, if known is nil, with a notice from
// the Answerer.
type asking struct {
	plain
	Ask
	people    participants
	everybody bool // requests Everybody
	origin    Origin
	known     Notice // the answer; nil to ask the Answerer
}

func (a asking) job() job {
	j := job{name: "answer", bucket: RateQuestion, asks: true, ofAdmins: a.OfAdmins, operation: a}
	if a.origin.Button != "" { // a press must always get an answer, so presses have a limit of their own
		j.name, j.bucket = "press", RatePress
	}
	return j
}

func (a asking) needs() Needs { return Needs{People: a.people, Everybody: a.everybody, Near: true} }

func (a asking) permission(*Snapshot) Permission {
	return adminsOnly{asks: !a.OfAdmins}.permission(nil)
}

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
