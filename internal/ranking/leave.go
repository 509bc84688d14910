package ranking

import (
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// Leave takes the sender out of the group's rankings. Until the sender joins again, no ranking
// shows them, and a command that would enter them in a match is refused. Old results stay.
type Leave struct{}

func (Leave) plan(s *Service, c *call) *call {
	if c.Sender == nil {
		return Say{Notice: Refusal{Code: NobodyToJoin}}.plan(s, c)
	}
	return c.leaving(leaveOperation{origin: c.Origin, people: senderOf(c.Origin)})
}

// RemovePlayer takes a player out of the group's rankings, as Leave does. Only admins may do so. A
// guest or an unclaimed player without any match is deleted, except for the id.
type RemovePlayer struct {
	Player ladder.PlayerID
	// Back brings a guest or an unclaimed player back instead. Other people send /join.
	Back bool
}

func (r RemovePlayer) plan(_ *Service, c *call) *call {
	op := leaveOperation{origin: c.Origin, people: senderOf(c.Origin), removes: true, back: r.Back}
	op.people = append(op.people, command.Person{Player: r.Player})
	return c.leaving(op)
}

func (c *call) leaving(op leaveOperation) *call {
	return c.with(job{name: "leave", bucket: RateQuestion, ofAdmins: op.removes, ofGroup: true, operation: op})
}

// leaveOperation takes the last of the people out of the rankings, or brings that person back.
type leaveOperation struct {
	plain
	origin  Origin
	people  participants
	removes bool // the operation is a RemovePlayer
	back    bool // as in RemovePlayer
}

func (l leaveOperation) needs() Needs {
	needs := Needs{People: l.people}
	if !l.removes {
		needs.New = 1 // only a stored player can be out of the rankings
	}
	return needs
}

// isUnlimited exempts a command that changes something.
func (l leaveOperation) isUnlimited(snap *Snapshot) bool { return l.who(snap).Out == l.back }

func (l leaveOperation) who(snap *Snapshot) Known { return snap.People[len(l.people)-1] }

func (l leaveOperation) refuse(snap *Snapshot) Notice {
	switch k := l.who(snap); {
	case k.Player == nil, l.removes && (k.Named != nil || !k.IsAccount() && k.Player.Name == Nameless):
		// The button is older than a merge of the player, or than the player's deletion.
		return Refusal{Code: UnknownButton}
	case l.back && k.IsAccount() && k.Out:
		return k.refusesOut(false)
	}
	return nil
}

func (l leaveOperation) permission(*Snapshot) Permission {
	if l.removes {
		return Permission{Who: OnlyAdmins, Refusal: Refusal{Code: AdminsOnly}}
	}
	return Permission{}
}

func (l leaveOperation) decide(snap *Snapshot) (Decision, need, error) {
	k := l.who(snap)
	n := LeftRanking{Name: k.Player.name(), How: HowLeft}
	if !k.IsAccount() { // the player may be deleted, along with the name
		n.Name = Name{Name: k.Player.Name}
	}
	over := n
	over.How = HowOver
	var effect Effect = &TakenOut{
		Left: Left{Group: snap.Group, Player: k.Player.ID, At: l.origin.SentAt}, Over: over,
	}
	switch {
	case l.back:
		n.How = HowBack
		effect = &CameBack{Group: snap.Group, Players: []ladder.PlayerID{k.Player.ID}, At: l.origin.SentAt, Joined: true}
	case l.removes && k.person().IsGuest():
		n.How = HowRemovedGuest
	case l.removes:
		n.How = HowRemoved
	}
	d := l.origin.answer(n)
	if k.Out == l.back {
		d.Effect = effect
	}
	return d, nil, nil
}

// refusesOut returns the refusal of a command that would enter the person, who is Out, in a match.
// isSender is set if the person sent the command.
func (k Known) refusesOut(isSender bool) Refusal {
	r := Refusal{Code: PlayerOut, Name: k.Player.Name, Who: new(k.Player.name())}
	switch {
	case isSender:
		r.Code = SenderOut
	case !k.IsAccount() && k.person().IsGuest():
		r.Code = GuestOut
	}
	return r
}

// LeftRanking says that a person is out of the group's rankings, or back in them, or ignored.
type LeftRanking struct {
	Name Name   `json:"name"`
	How  HowOut `json:"how"`
}

var _ = notice.Register[LeftRanking](notice.Kind{Name: "left_ranking", Purpose: notice.Outcome})

// HowOut is what a LeftRanking says about a person.
type HowOut string

// The values of HowOut.
const (
	HowLeft         HowOut = "left"          // they left by their own command
	HowRemoved      HowOut = "removed"       // an admin removed them
	HowRemovedGuest HowOut = "removed_guest" // an admin removed them, and they are a guest
	HowBack         HowOut = "back"          // an admin has brought them back
	HowIgnored      HowOut = "ignored"       // they stay, but their reports and presses are refused
	HowHeard        HowOut = "heard"         // their reports and presses are no longer refused
	HowOver         HowOut = "over"          // they are out, so the prompt with this message is over
)
