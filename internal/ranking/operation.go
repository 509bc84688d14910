package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// operation is what a command does. Its methods are pure: they neither read nor write, and may be
// called again. The service calls them in this order.
type operation interface {
	// needs says what the other methods look at.
	needs() Needs
	// about returns what decides in which ladder and season the operation takes effect.
	about(*Snapshot) subject
	// isUnlimited reports whether no rate limit applies.
	isUnlimited(*Snapshot) bool
	// rejectedResults describes what the operation reports or amends in a NotRecorded.
	rejectedResults(*Snapshot) []RejectedResult
	// refuse returns why nobody can do it, nil if somebody can. The other methods are called only
	// then.
	refuse(*Snapshot) Notice
	// permission says who may do it. Where decide refuses anyway, that is anybody, so that decide's
	// refusal is the one that is said.
	permission(*Snapshot) Permission
	// decide returns what the command changes and what is said, or a refusal, or what it needs
	// before that. It fails with ErrInconsistent.
	decide(*Snapshot) (Decision, need, error)
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

func (plain) needs() Needs                               { return Needs{} }
func (plain) about(*Snapshot) subject                    { return subject{} }
func (plain) isUnlimited(*Snapshot) bool                 { return false }
func (plain) rejectedResults(*Snapshot) []RejectedResult { return nil }
func (plain) refuse(*Snapshot) Notice                    { return nil }
func (plain) permission(*Snapshot) Permission            { return Permission{} }
func (plain) decide(*Snapshot) (Decision, need, error)   { return Decision{}, nil, nil }
func (plain) isMalformed() bool                          { return false }

// decideUnlessRefused decides an operation that is part of another one, and that everybody may do.
func decideUnlessRefused(op operation, snap *Snapshot) (Decision, need, error) {
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

func (a answer) decide(*Snapshot) (Decision, need, error) {
	return Decision{Notice: a.notice}, nil, nil
}

// event is what an update shows, or what a command does that everybody may do.
type event struct {
	plain
	people participants
	fn     func(*Snapshot) Decision
}

func (e event) needs() Needs { return Needs{People: e.people} }

func (e event) decide(snap *Snapshot) (Decision, need, error) { return e.fn(snap), nil, nil }

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
	Anybody    Who = iota
	Involved       // those who are involved
	OnlyAdmins     // nobody else
)

// AdminStatus tells whether the sender of a command is an admin of the chat.
type AdminStatus int

// The values of AdminStatus.
const (
	AdminUnasked AdminStatus = iota // the operation need not know
	AdminUnknown                    // the messenger did not answer
	IsAdmin
	NoAdmin
)

// refusal returns what the sender is told without permission, nil with it.
func (p Permission) refusal(o Origin, snap *Snapshot) Notice {
	switch {
	case p.Who == Anybody, p.Who == Involved && p.Involved, snap.Admin == IsAdmin:
		return nil
	case snap.Admin != NoAdmin:
		return Refusal{Code: AdminsUnknown, Number: p.Refusal.Number}
	}
	p.Refusal.Instead = cmp.Or(p.Refusal.Instead, o.Instead)
	return p.Refusal
}

// asAdmin reports whether only being an admin gives the sender permission.
func (p Permission) asAdmin() bool { return p.Who == OnlyAdmins || p.Who == Involved && !p.Involved }

// Admins knows who is an admin of a chat.
type Admins interface {
	IsAdmin(ctx context.Context, chat ExternalChatID, user ladder.UserID) (bool, error)
}

// adminStatus returns whether the sender of a command is an admin. It asks once, and only if the
// operation may need to know, even if the answer turns out not to matter.
func (s *Service) adminStatus(ctx context.Context, c *call) AdminStatus {
	switch {
	case !c.ofAdmins || c.admin != AdminUnasked:
		return c.admin
	case c.Sender == nil:
		return IsAdmin
	}
	switch admin, err := s.admins.IsAdmin(ctx, c.Chat.ID, c.Sender.ID); {
	case err != nil:
		s.log.WarnContext(ctx, "failed to check whether the sender is an admin", "key", c.Key, "chat_id", c.Chat.ID, "error", err)
		return AdminUnknown
	case admin:
		return IsAdmin
	default:
		return NoAdmin
	}
}

// Operation is what a command asks the service to do: a value.
type Operation interface {
	// plan gives the call the job that does it, and returns it. It is called again when more is
	// known: the command without the words that name a ladder, or the prompt that it answers. Who
	// is in the group is no part of the plan: the job reads that itself.
	plan(s *Service, c *call) *call
}

// Do handles a command.
func (s *Service) Do(ctx context.Context, o Origin, op Operation) error {
	o.SentAt = o.SentAt.Truncate(time.Microsecond) // the store is no more precise
	return s.run(ctx, op.plan(s, &call{Origin: o, wants: op}))
}

// Say answers a question, or a command that could not be parsed. It changes nothing else. The
// answer to a pressed button replaces the message with the button, unless it is a refusal.
type Say struct {
	Notice Notice
	// Malformed is the name of the command if it should report or amend a match, otherwise empty.
	Malformed string
}

func (say Say) plan(_ *Service, c *call) *call {
	if say.Malformed == "" {
		return c.with(asking{people: senderOf(c.Origin), origin: c.Origin, known: say.Notice}.job())
	}
	said := answer{people: senderOf(c.Origin), notice: say.Notice}
	return c.with(job{name: "answer", bucket: RateResult, operation: malformedResult{said, say.Malformed}})
}

// reading returns the call with the operation that read finds in its message once it is known who
// is in the group, because the message may mean people by plain names. needs says what the
// operation may need to know besides. Only a report adds players.
func (c *call) reading(needs Needs, read func(everybody []command.Person) operation) *call {
	needs.People, needs.Everybody = c.named(), true
	if c.reports {
		needs.New = len(needs.People)
	}
	c.mayNeed, c.read, c.asks = needs, read, !c.reports
	return c
}

// mayNamePlayers reports whether the command may mean players by plain names.
func (c *call) mayNamePlayers() bool { return c.Chat.IsGroup() && c.Said.MayNamePlayers() }

// named returns the sender and all others whom the command mentions or shows.
func (c *call) named() participants {
	people := senderOf(c.Origin)
	for _, p := range slices.Concat(c.Said.Mentions, []command.Person{c.Said.Sender}, c.VisibleUsers) {
		if p != (command.Person{}) {
			people.add(p)
		}
	}
	if c.Button != "" {
		people.areOfEarlierMessage(senderOf(c.Origin))
	}
	return people
}
