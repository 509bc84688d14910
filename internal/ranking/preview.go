package ranking

import (
	"slices"
	"time"

	"elobot/internal/elo"
)

// Contestant is somebody in a match that is yet to be played.
type Contestant struct {
	Name     Name
	Standing Standing // that of a newcomer for somebody who has never played in the ladder
}

// IsNew is true if it would be the first match in the ladder that counts for the contestant.
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

// Preview returns by how much a match with a score would change the ratings of the players of each side.
func (r RatingRules) Preview(score Score, sides [2][]Contestant) (changes [2][]int) {
	var parts []Part
	var standings []*Standing
	for i, side := range sides {
		for _, c := range side {
			after := c.Standing
			parts, standings = append(parts, Part{Player: after.Player, Side: i + 1}), append(standings, &after)
		}
	}
	entries, _ := play(r, score, time.Time{}, parts, standings)
	for i, e := range entries {
		side := &changes[parts[i].Side-1]
		*side = append(*side, e.After-e.Before)
	}
	return changes
}

// contestantsOf returns those of the people who would play, or why they cannot.
func contestantsOf(snap Snapshot, people participants, playing []int) (all []Contestant, refusal Notice) {
	for i, person := range playing {
		p, k := people[person], snap.People[person]
		if p.MaybeBot && !k.isAccount() {
			return nil, Refusal{Code: NotAPerson, Name: p.Username}
		}
		if slices.ContainsFunc(playing[:i], func(other int) bool { return person == other || k.isSame(snap.People[other]) }) {
			return nil, Refusal{Code: SamePlayer}
		}
		all = append(all, Contestant{Name: p.shownName(k), Standing: k.standing(snap.Ladder)})
	}
	return all, nil
}
