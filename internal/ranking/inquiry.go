package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// Inquiry is an operation that answers with a notice that is read elsewhere. It is read again after a conflict. The answer to a pressed
// button replaces the message with the button, unless it is a refusal.
type Inquiry struct {
	about Sides // nil for nobody
	posts bool
	read  func(context.Context, asked) (Notice, error)
}

// asked are the people that a question is about.
type asked struct {
	origin Origin
	snap   Snapshot
	people participants // of the snapshot
	sides  [2][]int     // who is meant, as indexes into people
}

// Meant says who a question is about, or why that is not clear, given who is in the group. Nobody is given unless the message may mean
// people by plain names.
type Meant func(everybody []command.Person) (people []command.Person, unclear Notice)

// Only is about people who are known.
func Only(people ...command.Person) Meant {
	return func([]command.Person) ([]command.Person, Notice) { return people, nil }
}

// Sides says who would play against whom, or why that is not clear, given who is in the group, as Meant does. All may be on the first side.
type Sides func(everybody []command.Person) (sides [2][]command.Person, unclear Notice)

// Where says where a question was asked: which ladder applies there, and the time zone of the chat.
type Where struct {
	Ladder
	Zone *time.Location
}

// Ask is a question about nobody, perhaps about where it was asked, which read gets.
func Ask(read func(context.Context, Where) (Notice, error)) Inquiry {
	return Inquiry{read: func(ctx context.Context, a asked) (Notice, error) {
		return read(ctx, Where{a.snap.Ladder, a.snap.Display.Zone()})
	}}
}

// AskAbout is a question about people whose players read gets, in a ladder. A question about a non-player is refused, and does not add a player. Only
// the sender need not be one: read then gets the zero Player.
func AskAbout(who Meant, read func(context.Context, Ladder, []Player) (Notice, error)) Inquiry {
	all := func(everybody []command.Person) ([2][]command.Person, Notice) {
		people, unclear := who(everybody)
		return [2][]command.Person{people}, unclear
	}
	return Inquiry{about: all, read: func(ctx context.Context, a asked) (Notice, error) {
		players := make([]Player, len(a.sides[0]))
		for i, at := range a.sides[0] {
			switch k := a.snap.People[at]; {
			case k.isPlayer():
				players[i] = *k.Player
			case a.origin.Sender == nil || at > 0:
				p := a.people[at]
				refusal := Refusal{Code: NoSuchPlayer, Name: cmp.Or(p.Name, "@"+p.Username)}
				if near := a.snap.near(p.Username); len(near) > 0 {
					refusal.Near = new(shownName(near[0], Known{}))
				}
				return refusal, nil
			}
		}
		return read(ctx, a.snap.Ladder, players)
	}}
}

// AskAboutMatch is a question about people who may play against each other. The contestants are in the order of the people. Nobody becomes
// a player by that.
func AskAboutMatch(who Sides, read func(Ladder, [2][]Contestant) Notice) Inquiry {
	return Inquiry{about: who, read: func(_ context.Context, a asked) (Notice, error) {
		all, refusal := contestantsOf(a.snap, a.people, slices.Concat(a.sides[0], a.sides[1]))
		if refusal != nil {
			return refusal, nil
		}
		first := len(a.sides[0])
		return read(a.snap.Ladder, [2][]Contestant{all[:first], all[first:]}), nil
	}}
}

// Posted returns the question with the answer to a pressed button as a message of its own.
func (q Inquiry) Posted() Inquiry {
	q.posts = true
	return q
}

func (q Inquiry) do(ctx context.Context, s *Service, o Origin) error {
	j := job{name: "answer", bucket: RateQuestion, asks: true}
	if o.Button != "" {
		j.name, j.bucket = "press", RatePress // a press always gets an answer, up to a limit of its own
	}
	if q.about == nil {
		j.operation = q.of(o, asked{people: senderOf(o)})
		return s.handle(ctx, o, j)
	}
	_, err := s.handleMessage(ctx, o, j, Needs{}, func(everybody []command.Person) operation {
		sides, unclear := q.about(everybody)
		if unclear != nil {
			return question{people: senderOf(o), origin: o, ask: func(context.Context, Snapshot) (Notice, error) { return unclear, nil }}
		}
		a := asked{people: senderOf(o)}
		a.sides = a.people.addSides(sides)
		a.people.complete(o.VisibleUsers)
		if o.Button != "" {
			a.people.areOfEarlierMessage(senderOf(o))
		}
		return q.of(o, a)
	})
	return err
}

// of returns the operation that asks the question about people.
func (q Inquiry) of(o Origin, a asked) operation {
	return question{people: a.people, origin: o, posts: q.posts, ask: func(ctx context.Context, snap Snapshot) (Notice, error) {
		a.origin, a.snap = o, snap
		return q.read(ctx, a)
	}}
}

// Contestant is somebody in a match that is yet to be played.
type Contestant struct {
	Name     Name
	Standing ladder.Standing // that of a newcomer for somebody who has never played in the ladder
}

// IsNew reports whether it would be the first match in the season that counts for the contestant.
func (c Contestant) IsNew() bool { return c.Standing.Played == 0 }

// contestantsOf returns those of the people who would play, or why they cannot.
func contestantsOf(snap Snapshot, people participants, playing []int) (all []Contestant, refusal Notice) {
	for i, person := range playing {
		p, k := people[person], snap.People[person]
		if p.MayBeBot() && !k.isAccount() {
			return nil, Refusal{Code: NotAPerson, Name: p.Username}
		}
		if slices.ContainsFunc(playing[:i], func(other int) bool { return person == other || k.isSame(snap.People[other]) }) {
			return nil, Refusal{Code: SamePlayer}
		}
		all = append(all, Contestant{Name: shownName(p, k), Standing: k.standing(snap.Ladder)})
	}
	return all, nil
}
