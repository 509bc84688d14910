package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// operation is what a command does. Its methods neither read nor write stored data, and may be
// called repeatedly.
type operation interface {
	// needs returns what the other methods need to know.
	needs() Needs
	// about returns what determines the ladder and season of the operation.
	about(*Snapshot) subject
	// isUnlimited reports whether the command is exempt from the rate limits.
	isUnlimited(*Snapshot) bool
	// rejectedResults returns what the operation reports or amends, as items of a NotRecorded.
	rejectedResults(*Snapshot) []RejectedResult
	// refuse returns a refusal that does not depend on the sender's permission, nil if there is
	// none. permission and decide are called only after it has returned nil, except that decide may
	// be called alone if the chat is not stored.
	refuse(*Snapshot) Notice
	// permission returns who may run the operation.
	permission(*Snapshot) Permission
	// decide returns the effect of the command and its notices, or a refusal, or what it needs to
	// know first. It fails with ErrInconsistent if the stored ratings cannot be replayed.
	decide(*Snapshot) (Decision, need, error)
	// isMalformed reports whether the operation only tells the sender what is wrong with a result.
	isMalformed() bool
}

// subject identifies the matches that an operation is about, if any.
type subject struct {
	amended    *StoredMatch // nil for none
	reportedAt time.Time    // the PlayedAt of the new matches, zero for none
}

// plain is an operation that needs nothing, changes nothing, and may be run by any sender. Other
// operations embed it.
type plain struct{}

func (plain) needs() Needs                               { return Needs{} }
func (plain) about(*Snapshot) subject                    { return subject{} }
func (plain) isUnlimited(*Snapshot) bool                 { return false }
func (plain) rejectedResults(*Snapshot) []RejectedResult { return nil }
func (plain) refuse(*Snapshot) Notice                    { return nil }
func (plain) permission(*Snapshot) Permission            { return Permission{} }
func (plain) decide(*Snapshot) (Decision, need, error)   { return Decision{}, nil, nil }
func (plain) isMalformed() bool                          { return false }

// decideUnlessRefused returns the refusal of op or, if there is none, its decision. op is part of
// another operation, so its permission is not checked.
func decideUnlessRefused(op operation, snap *Snapshot) (Decision, need, error) {
	if refusal := op.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil, nil
	}
	return op.decide(snap)
}

// answer is an operation that only sends a notice.
type answer struct {
	plain
	people participants
	notice Notice
}

func (a answer) needs() Needs { return Needs{People: a.people} }

func (a answer) decide(*Snapshot) (Decision, need, error) {
	return Decision{Notice: a.notice}, nil, nil
}

// event is an operation that any sender may run. fn returns its decision.
type event struct {
	plain
	people participants
	fn     func(*Snapshot) Decision
}

func (e event) needs() Needs { return Needs{People: e.people} }

func (e event) decide(snap *Snapshot) (Decision, need, error) { return e.fn(snap), nil, nil }

// answer returns the decision that answers with n: as the new content of the message Pressed, or as
// a new message if Pressed is 0.
func (o Origin) answer(n Notice) Decision {
	if o.Pressed != 0 {
		return Decision{Page: n}
	}
	return Decision{Notice: n}
}

// Permission is who may run an operation.
type Permission struct {
	Who Who
	// Involved is set if the sender is involved in the match or prompt. It is used only if Who is
	// the constant Involved.
	Involved bool
	Refusal  Refusal // for senders without permission
}

// Who is the set of people who have permission.
type Who int

// The values of Who, which the rules of a ladder store. Admins always have permission.
const (
	Anybody    Who = iota
	Involved       // people involved in the match or prompt
	OnlyAdmins     // admins alone
)

// AdminStatus says whether the sender of a command is an admin of the chat.
type AdminStatus int

const (
	AdminUnasked AdminStatus = iota // not determined, because the operation does not need it
	AdminUnknown                    // the check with the messenger failed
	IsAdmin
	NoAdmin
)

// refusal returns the refusal for the sender, nil if the sender has permission.
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

// senderStatus is the need to know whether the sender is an admin.
type senderStatus struct{}

func (senderStatus) what() string { return "whether the sender is an admin" }

// permitted returns the refusal for the sender, nil if the sender has permission. It needs to know
// whether the sender is an admin if that matters and was not determined before.
func (c *call) permitted(p Permission, snap *Snapshot) (Notice, need) {
	if p.asAdmin() && c.admin == AdminUnasked {
		return nil, senderStatus{}
	}
	return p.refusal(c.Origin, snap), nil
}

// asAdmin reports whether the sender can have permission only as an admin.
func (p Permission) asAdmin() bool { return p.Who == OnlyAdmins || p.Who == Involved && !p.Involved }

// Admins finds out whether a person is an admin of a chat.
type Admins interface {
	IsAdmin(ctx context.Context, chat ExternalChatID, user ladder.UserID) (bool, error)
}

// adminStatus returns whether the sender of a command is an admin. It asks the messenger at most
// once for each command, and only if the operation may need to know. A command without a Sender
// counts as sent by an admin.
func (s *Service) adminStatus(ctx context.Context, c *call) AdminStatus {
	switch {
	case !c.ofAdmins || c.admin != AdminUnasked:
		return c.admin
	case c.Sender == nil:
		return IsAdmin
	}
	switch admin, err := s.admins.IsAdmin(ctx, c.Chat.ID, c.Sender.ID); {
	case err != nil:
		s.log.WarnContext(ctx, "failed to check whether the sender is an admin",
			"key", c.Key, "chat_id", c.Chat.ID, "error", err)
		return AdminUnknown
	case admin:
		return IsAdmin
	default:
		return NoAdmin
	}
}

// Operation is a value that describes what a command asks the service to do.
type Operation interface {
	// plan gives the call its job, and returns the call. The service may call plan again: after it
	// has removed the name of a ladder from the command, after it has looked for the prompt that
	// the command answers, and after it has found that the message that the command edits was
	// handled before.
	plan(s *Service, c *call) *call
}

// Do handles a command. If it fails with ErrConflict, ErrLocked or ErrTimeout, the command itself
// is not at fault.
func (s *Service) Do(ctx context.Context, o Origin, op Operation) error {
	o.SentAt = o.SentAt.Truncate(time.Microsecond) // the store has no higher precision
	return s.run(ctx, op.plan(s, &call{Origin: o, wants: op}))
}

// Say answers a command with the Notice and changes nothing. If Malformed is empty, the answer to a
// pressed button replaces the message with the button, unless the answer is a refusal.
type Say struct {
	Notice Notice
	// Malformed is the name of the command if the command is a malformed report or amendment,
	// otherwise empty.
	Malformed string
}

func (say Say) plan(_ *Service, c *call) *call {
	if say.Malformed == "" {
		return c.with(asking{people: senderOf(c.Origin), origin: c.Origin, known: say.Notice}.job())
	}
	said := answer{people: senderOf(c.Origin), notice: say.Notice}
	return c.with(job{name: "answer", bucket: RateResult, operation: malformedResult{said, say.Malformed}})
}

// reading defers the choice of the call's operation until the group's members and ladders are
// known, because the message may use plain names. read then parses the message. needs is what the
// operation may need besides people. Only a report may then have an effect or add players, unless
// the caller of reading changes that.
func (c *call) reading(needs Needs, read func(*Snapshot) operation) *call {
	needs.People, needs.Everybody = c.named(), true
	if c.reports {
		needs.New = len(needs.People)
	}
	c.mayNeed, c.read, c.asks = needs, read, !c.reports
	return c
}

// mayNamePlayers reports whether the command may mean players by plain names.
func (c *call) mayNamePlayers() bool { return c.Chat.IsGroup() && c.Said.MayNamePlayers() }

// named returns the sender and all other people that the command mentions or shows.
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
