package ranking

import (
	"context"
	"slices"
	"time"

	"elobot/internal/elo"
)

// Contestant is somebody in a match that is yet to be played.
type Contestant struct {
	Name     Name
	Standing Standing // that of a newcomer for somebody who has never played in the ladder
}

// IsNew reports whether it would be the first match in the ladder that counts for the contestant.
func (c Contestant) IsNew() bool { return c.Standing.Played == 0 }

// ExpectedScore returns the expected score of the first side, between 0 and 1.
func ExpectedScore(a, b []Contestant) float64 { return elo.ExpectedOf(ratingsOf(a), ratingsOf(b)) }

func ratingsOf(side []Contestant) []int {
	ratings := make([]int, len(side))
	for i, c := range side {
		ratings[i] = c.Standing.Elo
	}
	return ratings
}

// Preview returns by how much a match with a score would change the ratings of its players: those of side A, and those of side B.
func (r RatingRules) Preview(score Score, a, b []Contestant) (changesA, changesB []int) {
	var parts []Part
	var standings []*Standing
	for i, side := range [][]Contestant{a, b} {
		for _, c := range side {
			after := c.Standing
			parts, standings = append(parts, Part{Player: after.Player, Side: i + 1}), append(standings, &after)
		}
	}
	changes := make([]int, len(parts))
	entries, _ := play(r, score, time.Time{}, parts, standings)
	for i, e := range entries {
		changes[i] = e.After - e.Before
	}
	return changes[:len(a)], changes[len(a):]
}

// Sides says who would play against whom, or why that is not clear, given who is in the group, as Meant does. All may be on the first
// side.
type Sides func(everybody []Person) (sides [2][]Person, unclear Notice)

// AskAboutMatch answers a question about people who may play against each other with the notice that read returns. The contestants
// are in the order of the people. Nobody becomes a player by that. If message is not 0, the answer replaces that message, whose
// button was pressed.
func (s *Service) AskAboutMatch(ctx context.Context, o Origin, who Sides, message int64, read func(Ladder, [2][]Contestant) Notice) error {
	c := command{name: "answer", class: RateQuestion}
	if message != 0 {
		c.name, c.class = "page", RatePress
	}
	return s.ask(ctx, o, c, who, question{edits: message}, func(_ context.Context, snap Snapshot, people participants, asked [2][]int) (Notice, error) {
		all, refusal := contestantsOf(snap, people, slices.Concat(asked[0], asked[1]))
		if refusal != nil {
			return refusal, nil
		}
		first := len(asked[0])
		return read(snap.Ladder, [2][]Contestant{all[:first], all[first:]}), nil
	})
}

// contestantsOf returns those of the people who would play, or why they cannot.
func contestantsOf(snap Snapshot, people participants, playing []int) (all []Contestant, refusal Notice) {
	for i, person := range playing {
		p, k := people[person], snap.People[person]
		if p.Doubtful && !k.isAccount() {
			return nil, Refusal{Code: NotAPerson, Name: p.Username}
		}
		if slices.ContainsFunc(playing[:i], func(other int) bool { return person == other || k.isSame(snap.People[other]) }) {
			return nil, Refusal{Code: SamePlayer}
		}
		all = append(all, Contestant{Name: p.shownName(k), Standing: k.standing(snap.Ladder)})
	}
	return all, nil
}

// isAccount reports whether a message has shown the person.
func (k Known) isAccount() bool { return k.Player != nil && k.Player.UserID != 0 }

// isPlayer reports whether the person is a player already.
func (k Known) isPlayer() bool { return k.Player != nil && !k.New }

// isSame reports whether two people are known to be the same player.
func (k Known) isSame(o Known) bool {
	return k.Player != nil && o.Player != nil && k.Player.ID == o.Player.ID
}
