package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// operation is what a command does. Its methods are pure: they neither read nor write, and may be called again.
type operation interface {
	// needs says what the other methods look at.
	needs() Needs
	// refuse returns why nobody can do it, nil if somebody can. The other methods are called only then.
	refuse(Snapshot) Notice
	// permission says who may do it. Where decide refuses anyway, that is anybody, so that decide's refusal is the one that is said.
	permission(Snapshot) Permission
	// decide returns what the command changes and what is said, or a refusal. It fails with ErrInconsistent, with errUnanswered if
	// nothing is to be stored or said, and with upsetOf.
	decide(Snapshot) (Decision, error)
}

// replaying is an operation that replays a ladder.
type replaying interface {
	// replays returns the match from which on decide needs to know the History, nil if it needs none.
	replays(Snapshot) *StoredMatch
}

// amending is an operation about a match that it does not replay itself.
type amending interface {
	// amends returns the match, nil for none.
	amends(Snapshot) *StoredMatch
}

// dated is an operation that may report matches.
type dated interface {
	// at returns when they were played, zero for none: the time of the message decides in which season they count.
	at() time.Time
}

// moving is a replaying operation that moves the match to another ladder, and replays that too.
type moving interface {
	into() *Ladder
}

// matchOperation is an operation that reports or amends a match.
type matchOperation interface {
	// rejectedResults describes the results in a NotRecorded. There is at least one.
	rejectedResults(Snapshot) []RejectedResult
}

// plain is an operation that everybody may do, and that needs to know nothing and changes nothing. Others embed it.
type plain struct{}

func (plain) needs() Needs                      { return Needs{} }
func (plain) refuse(Snapshot) Notice            { return nil }
func (plain) permission(Snapshot) Permission    { return Permission{} }
func (plain) decide(Snapshot) (Decision, error) { return Decision{}, nil }

// decideUnlessRefused decides an operation that is part of another one, and that everybody may do.
func decideUnlessRefused(op operation, snap Snapshot) (Decision, error) {
	if refusal := op.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil
	}
	return op.decide(snap)
}

// answer changes nothing and answers with a notice.
type answer struct {
	plain
	people participants
	notice Notice
}

func (a answer) needs() Needs { return Needs{People: a.people} }

func (a answer) decide(Snapshot) (Decision, error) { return Decision{Notice: a.notice}, nil }

// event is what an update shows, or what a command does that everybody may do.
type event struct {
	plain
	people participants
	fn     func(Snapshot) Decision
}

func (e event) needs() Needs { return Needs{People: e.people} }

func (e event) decide(snap Snapshot) (Decision, error) { return e.fn(snap), nil }

// resolving is an operation that is completed by what was read.
type resolving interface {
	// in returns the complete operation, and the snapshot with its people.
	in(Snapshot) (operation, Snapshot)
}

// named is an operation that is known only once it is known who is in the group, because its message may mean people by plain names. It
// must need whatever the operation does that read returns, apart from its People.
type named struct {
	plain
	mayNeed Needs
	read    func(everybody []Person) operation
}

func (n named) needs() Needs { return n.mayNeed }

func (n named) in(snap Snapshot) (operation, Snapshot) {
	op := n.read(snap.everybody())
	needs := op.needs()
	known := make([]Known, len(needs.People))
	for i, p := range needs.People {
		known[i] = n.known(snap, p)
		if known[i].New && i >= needs.New {
			known[i].Player, known[i].New = nil, false
		}
	}
	snap.People = known
	return op, snap
}

// known returns what is known of a person. The operation may be about the sender, those that the message mentions or shows, and those who
// are in the group.
func (n named) known(snap Snapshot, p Person) Known {
	if p.Player != 0 {
		return snap.Everybody[slices.IndexFunc(snap.Everybody, func(k Known) bool { return k.Player.ID == p.Player })]
	}
	return snap.People[slices.IndexFunc(n.mayNeed.People, func(q Person) bool { return samePerson(p, q) })]
}

// question answers with a notice that is read elsewhere.
type question struct {
	plain
	people participants
	origin Origin
	// ask reads the answer. It is called outside any transaction.
	ask   func(context.Context, Snapshot) (Notice, error)
	posts bool // the answer to a pressed button is a message of its own unless it is a refusal
}

func (q question) needs() Needs { return Needs{People: q.people, Near: true} }

func (q question) decide(snap Snapshot) (Decision, error) {
	n := snap.Answer
	switch {
	case isRefusal(n):
		return Decision{Notice: n}, nil
	case q.posts:
		return Decision{Notice: n, CallbackAnswer: Acknowledged{}}, nil
	default:
		return q.origin.answer(n), nil
	}
}

// answer returns the decision to answer a command with a message, and a press in the message with
// the button.
func (o Origin) answer(n Notice) Decision {
	if o.Pressed != 0 {
		return Decision{Page: n}
	}
	return Decision{Notice: n}
}

// Permission says who may do what an operation does.
type Permission struct {
	Who Who
	// Involved is true if the sender is one of those involved. It matters only with Involved.
	Involved bool
	Refusal  Refusal // what all others are told
}

// Who is a circle of people who have permission.
type Who int

// The circles. Admins have permission for everything.
const (
	Anybody  Who = iota
	Involved     // those who are involved
	Admins       // nobody else
)

// AdminStatus tells whether the sender of a command is an admin of the chat.
type AdminStatus int

// The values of AdminStatus.
const (
	AdminUnknown AdminStatus = iota // the messenger was not asked, or did not answer
	IsAdmin
	NoAdmin
)

// refusal returns what the sender is told without permission, nil with it.
func (p Permission) refusal(o Origin, snap Snapshot) Notice {
	switch {
	case p.Who == Anybody, p.Who == Involved && p.Involved, snap.Admin == IsAdmin:
		return nil
	case snap.Admin == AdminUnknown:
		return Refusal{Code: AdminsUnknown, Number: p.Refusal.Number}
	}
	p.Refusal.Instead = cmp.Or(p.Refusal.Instead, o.Instead)
	return p.Refusal
}

// asAdmin is true if only being an admin gives the sender permission.
func (p Permission) asAdmin() bool { return p.Who == Admins || p.Who == Involved && !p.Involved }

// adminStatus asks whether the sender of a command is an admin, if its operation needs to know.
func (s *Service) adminStatus(ctx context.Context, o Origin, j job) AdminStatus {
	if j.isAdmin == nil {
		return AdminUnknown
	}
	switch admin, err := j.isAdmin(ctx); {
	case err != nil:
		s.log.WarnContext(ctx, "failed to check whether the sender is an admin", "key", o.Key, "chat_id", o.Chat.ID, "error", err)
		return AdminUnknown
	case admin:
		return IsAdmin
	default:
		return NoAdmin
	}
}

// Operation is what a command asks the service to do.
type Operation interface {
	do(ctx context.Context, s *Service, o Origin) error
}

// Do handles a command.
func (s *Service) Do(ctx context.Context, o Origin, op Operation) error {
	o.SentAt = o.SentAt.Truncate(time.Microsecond) // the store is no more precise
	return op.do(ctx, s, o)
}

// Say answers a question, or a command that could not be parsed. It changes nothing else. The answer to a pressed button replaces the
// message with the button, unless it is a refusal.
type Say struct{ Notice Notice }

func (say Say) do(ctx context.Context, s *Service, o Origin) error {
	if o.Malformed == "" {
		return Ask(func(context.Context, Where) (Notice, error) { return say.Notice, nil }).do(ctx, s, o)
	}
	said := answer{people: senderOf(o), notice: say.Notice}
	return s.handle(ctx, o, job{name: "answer", bucket: RateResult, operation: malformedResult{said, o.Malformed}})
}

// handleMessage handles a command whose operation read finds in a message, given who is in the group if the message may mean people by
// plain names. If so, needs says what the operation may need to know besides. Only a report adds players.
func (s *Service) handleMessage(ctx context.Context, o Origin, j job, needs Needs, read func(everybody []Person) operation) error {
	if !o.Names {
		j.operation = read(nil)
		return s.handle(ctx, o, j)
	}
	people := senderOf(o)
	for _, p := range slices.Concat(o.Mentioned, o.VisibleUsers) {
		people.add(p)
	}
	needs.People, needs.Everybody = people, true
	if needs.Result != nil {
		needs.New = len(people)
	}
	if o.Button != "" {
		people.areOfEarlierMessage(senderOf(o))
	}
	j.operation = named{mayNeed: needs, read: read}
	return s.handle(ctx, o, j)
}
