package ranking

import (
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// Join gives the sender a standing in the group's default ladder, if they have none there. A player
// who had left the group comes back to all its ladders.
type Join struct{}

func (Join) plan(s *Service, c *call) *call {
	if c.Sender == nil {
		return Say{Notice: Refusal{Code: NobodyToJoin}}.plan(s, c)
	}
	return c.with(job{
		name: "join", bucket: RateQuestion, ofGroup: true, operation: joinOperation{person: *c.Sender, at: c.SentAt},
	})
}

type joinOperation struct {
	plain
	person command.Person // who joins
	at     time.Time
}

func (j joinOperation) needs() Needs { return Needs{People: []command.Person{j.person}, New: 1} }

// isUnlimited exempts a /join that changes something: the sender enters the ladder or comes back to
// it.
func (j joinOperation) isUnlimited(snap *Snapshot) bool {
	k := snap.People[0]
	return k.Standing == nil || k.Out || k.Standing.PresentAt(j.at) != *k.Standing
}

func (j joinOperation) decide(snap *Snapshot) (Decision, need, error) {
	known := snap.People[0]
	standing := known.StandingIn(snap.Ladder)
	joined := Joined{
		Name:    known.Player.name(),
		Guest:   j.person.IsNewGuest(),
		Elo:     standing.Elo,
		Already: known.Standing != nil,
		Played:  standing.Played,
	}
	back := CameBack{Group: snap.Group, Players: []ladder.PlayerID{standing.Player}, At: j.at, Joined: true}
	switch present := standing.PresentAt(j.at); {
	case joined.Guest && known.IsAccount(): // the account's owner has to send /join
		joined.Already = true
		return Decision{Notice: joined}, nil, nil
	case known.Standing == nil:
		return Decision{Notice: joined, Effect: &NewStanding{snap.Season, standing, back}}, nil, nil
	case present != standing, known.Out:
		joined.Back = true
		return Decision{Notice: joined, Effect: &back}, nil, nil
	default:
		return Decision{Notice: joined}, nil, nil
	}
}
