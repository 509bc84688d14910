package ranking

import (
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PersonSettings is a notice that shows what a person can choose for all groups, with a button to
// change it.
type PersonSettings struct {
	OffWeb bool `json:"off_web"` // whether web boards leave out the person's name
}

var _ = notice.Register[PersonSettings](notice.Kind{Name: "person_settings", Purpose: notice.Answer, Alone: true})

// StayOffWeb is the press of a button with which people choose whether the web boards of all groups
// leave out their names.
type StayOffWeb struct{ Off bool }

func (o StayOffWeb) plan(_ *Service, c *call) *call {
	op := offWebOperation{people: senderOf(c.Origin), off: o.Off}
	return c.with(job{name: "stay off the web", bucket: RatePress, operation: op})
}

type offWebOperation struct {
	plain
	people participants
	off    bool
}

// needs asks for a new player, because only a stored one can be off the web.
func (o offWebOperation) needs() Needs { return Needs{People: o.people, New: 1} }

func (o offWebOperation) decide(snap *Snapshot) (Decision, need, error) {
	return Decision{
		Effect: &OffWeb{Player: snap.People[0].Player.ID, Off: o.off}, Page: PersonSettings{OffWeb: o.off},
	}, nil, nil
}

// OffWeb is a change of whether web boards leave out the name of a player, who has an account.
type OffWeb struct {
	Player ladder.PlayerID
	Off    bool
}

func (*OffWeb) outcome() CommandOutcome { return OutcomeSettingChanged }
