package ranking

import (
	"context"
	"time"
)

// Join gives the sender a standing in the group's ladder. A player who left is shown in the ranking again.
func (s *Service) Join(ctx context.Context, o Origin) error {
	if o.Sender == nil {
		return s.Answer(ctx, o, Refusal{Code: NobodyToJoin})
	}
	return s.handle(ctx, o, command{
		name:      "join",
		people:    participants{*o.Sender},
		needed:    1,
		class:     RateQuestion,
		operation: joinOperation{at: o.SentAt},
	})
}

type joinOperation struct {
	plain
	at time.Time
}

// unlimited is true if the sender enters the ladder or comes back to it. Joining while in the ladder counts as a question.
func (j joinOperation) unlimited(snap Snapshot) bool {
	standing := snap.People[0].Standing
	return standing == nil || standing.presentAt(j.at) != *standing
}

func (j joinOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	known := snap.People[0]
	standing := known.standing(snap.Ladder)
	changes := Changes{Notice: Joined{
		Name:    snap.senderName(),
		Elo:     standing.Elo,
		Already: known.Standing != nil,
		Played:  standing.Played,
	}}
	if known.Standing == nil {
		changes.Effect = &NewStanding{Ladder: snap.Ladder.ID, Standing: standing}
	} else if present := standing.presentAt(j.at); present != standing {
		changes.Effect = (*ChangedStanding)(&present)
	}
	return changes, nil
}
