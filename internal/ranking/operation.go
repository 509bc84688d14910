package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"elobot/internal/command"
)

// operation is what a command does. Its methods are pure: they neither read nor write, and may be
// called again. The service calls them in this order.
type operation interface {
	// needs says what the other methods look at.
	needs() Needs
	// about returns what decides in which ladder and season the operation takes effect.
	about(Snapshot) subject
	// isUnlimited reports whether no rate limit applies.
	isUnlimited(Snapshot) bool
	// rejectedResults describes what the operation reports or amends in a NotRecorded.
	rejectedResults(Snapshot) []RejectedResult
	// refuse returns why nobody can do it, nil if somebody can. The other methods are called only
	// then.
	refuse(Snapshot) Notice
	// permission says who may do it. Where decide refuses anyway, that is anybody, so that decide's
	// refusal is the one that is said.
	permission(Snapshot) Permission
	// decide returns what the command changes and what is said, or a refusal, or what it needs
	// before that. It fails with ErrInconsistent.
	decide(Snapshot) (Decision, need, error)
	// isMalformed reports whether the operation only says what is wrong with a result.
	isMalformed() bool
}

// subject is what an operation is about, if it is about matches.
type subject struct {
	amended    *StoredMatch // nil for none
	reportedAt time.Time    // when the new matches were played, zero for none
}

// plain is an operation that everybody may do, and that needs to know nothing and changes nothing.
// Others embed it.
type plain struct{}

func (plain) needs() Needs                              { return Needs{} }
func (plain) about(Snapshot) subject                    { return subject{} }
func (plain) isUnlimited(Snapshot) bool                 { return false }
func (plain) rejectedResults(Snapshot) []RejectedResult { return nil }
func (plain) refuse(Snapshot) Notice                    { return nil }
func (plain) permission(Snapshot) Permission            { return Permission{} }
func (plain) decide(Snapshot) (Decision, need, error)   { return Decision{}, nil, nil }
func (plain) isMalformed() bool                         { return false }

// decideUnlessRefused decides an operation that is part of another one, and that everybody may do.
func decideUnlessRefused(op operation, snap Snapshot) (Decision, need, error) {
	if refusal := op.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil, nil
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

func (a answer) decide(Snapshot) (Decision, need, error) { return Decision{Notice: a.notice}, nil, nil }

// event is what an update shows, or what a command does that everybody may do.
type event struct {
	plain
	people participants
	fn     func(Snapshot) Decision
}

func (e event) needs() Needs { return Needs{People: e.people} }

func (e event) decide(snap Snapshot) (Decision, need, error) { return e.fn(snap), nil, nil }

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

func (q question) decide(snap Snapshot) (Decision, need, error) {
	n := snap.Answer
	switch {
	case n == nil:
		return Decision{}, answerTo{q}, nil
	case isRefusal(n):
		return Decision{Notice: n}, nil, nil
	case q.posts:
		return Decision{Notice: n, CallbackAnswer: Acknowledged{}}, nil, nil
	default:
		return q.origin.answer(n), nil, nil
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
	// Involved reports whether the sender is one of those involved. It matters only with Involved.
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

// asAdmin reports whether only being an admin gives the sender permission.
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

// Say answers a question, or a command that could not be parsed. It changes nothing else. The
// answer to a pressed button replaces the message with the button, unless it is a refusal.
type Say struct{ Notice Notice }

func (say Say) do(ctx context.Context, s *Service, o Origin) error {
	if o.Malformed == "" {
		return Ask(func(context.Context, Where) (Notice, error) { return say.Notice, nil }).do(ctx, s, o)
	}
	said := answer{people: senderOf(o), notice: say.Notice}
	return s.handle(ctx, o, job{name: "answer", bucket: RateResult, operation: malformedResult{said, o.Malformed}})
}

// handleMessage handles a command whose operation read finds in a message, given who is in the
// group if the message may mean people by plain names. If so, needs says what the operation may
// need to know besides. Only a report adds players.
func (s *Service) handleMessage(
	ctx context.Context, o Origin, j job, needs Needs, read func(everybody []command.Person) operation,
) (CommandOutcome, error) {
	if !o.Names {
		j.operation = read(nil)
		return s.run(ctx, o, j)
	}
	people := senderOf(o)
	for _, p := range slices.Concat(o.Mentioned, o.VisibleUsers) {
		people.add(p)
	}
	needs.People, needs.Everybody = people, true
	if j.reports {
		needs.New = len(people)
	}
	if o.Button != "" {
		people.areOfEarlierMessage(senderOf(o))
	}
	j.mayNeed, j.read, j.asks = needs, read, !j.reports
	return s.run(ctx, o, j)
}
