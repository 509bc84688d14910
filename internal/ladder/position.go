package ladder

import (
	"math"
	"slices"
	"time"
)

// Position is the place of a match in the replay of its ladder, where it is unique. A match that
// was reported on the day it was played has the PositionOf its number. Any other match may have a
// position between two of these.
type Position int64

// LastPosition is after the positions of all matches.
const LastPosition Position = math.MaxInt64

// PositionOf returns the position of a match with this number that was reported on the day it was
// played. It leaves room for 2³²-1 matches before the position of the next number.
func PositionOf(number int) Position { return Position(number) << 32 }

// Number returns the match number whose PositionOf is p or, if there is none, the last one before
// p.
func (p Position) Number() int { return int(p >> 32) }

// Gap is where new matches of another day belong in a ladder.
type Gap struct {
	Before Position // of the match before the gap, 0 for none
	After  Position // of the match after the gap, 0 for none
	Later  int      // number of the group's matches from After on
	// Taken are the positions, in order, of the matches of other days that are between the
	// PositionOf the last number before the gap and the PositionOf the next number.
	Taken []Position
}

// MovedPosition is the change of a match's position.
type MovedPosition struct{ From, To Position }

// Places returns positions for count new matches in the gap, in order. A position is never the
// PositionOf a number, because the match with that number may be moved to this ladder later. If no
// match follows the gap, all positions are 0, and the new matches get the PositionOf their numbers.
// If the gap is too small, the matches at Taken move as well, so that all of them and the new
// matches are equally far apart.
func (g Gap) Places(count int) (places []Position, moved []MovedPosition) {
	places = make([]Position, count)
	if g.After == 0 {
		return places, nil
	}
	at := 0
	for at < len(g.Taken) && g.Taken[at] <= g.Before {
		at++
	}
	all := slices.Insert(slices.Clone(g.Taken), at, places...)
	moved = spread(g.Before.Number(), all)
	return all[at : at+count], moved
}

// spread gives the new matches between the positions that follow from number and from the next one
// a position each, and returns the changes of the others. all has the positions of the matches
// there, in order, with 0 for each new match. New matches between two others get equal distances.
// If there is no room for them, all get equal distances.
func spread(number int, all []Position) (moved []MovedPosition) {
	before, end := PositionOf(number), PositionOf(number+1)
	was := slices.Clone(all)
	for i := 0; i < len(all); i++ {
		if was[i] != 0 {
			before = was[i]
			continue
		}
		after, count := end, slices.IndexFunc(was[i:], func(p Position) bool { return p != 0 })
		if count < 0 {
			count = len(all) - i
		} else {
			after = was[i+count]
		}
		room := after - before
		if room <= Position(count) {
			step := (end - PositionOf(number)) / Position(len(all)+1)
			for k := range all {
				all[k] = PositionOf(number) + step*Position(k+1)
			}
			break
		}
		for k := range count {
			all[i+k] = before + room*Position(k+1)/Position(count+1)
		}
		i += count - 1
	}
	for i, p := range was {
		if p != 0 && p != all[i] {
			moved = append(moved, MovedPosition{p, all[i]})
		}
	}
	return moved
}

// Placed is a match in the order of its ladder.
type Placed struct {
	Position
	PlayedAt time.Time
}

// Place returns positions for new matches, whose times are in order. Each comes before the first
// match of the ladder that was played later, as in a Gap. A position of 0 means the one that
// follows from the number of the new match. ordered has all matches of the ladder, in order, and
// moved the changes of their positions.
func Place(ordered []Placed, times []time.Time) (places []Position, moved []MovedPosition) {
	places = make([]Position, len(times))
	var number int     // the matches in all are behind the position that follows from it
	var all []Position // as in spread
	var added []int    // the indexes in all of the new matches
	placed, next := 0, 0
	settle := func() {
		if len(added) > 0 {
			moved = append(moved, spread(number, all)...)
		}
		for _, at := range added {
			places[placed] = all[at]
			placed++
		}
		all, added = all[:0], added[:0]
	}
	var latest time.Time
	for _, m := range ordered {
		if m.PlayedAt.After(latest) {
			latest = m.PlayedAt
		}
		for ; next < len(times) && times[next].Before(latest); next++ {
			added, all = append(added, len(all)), append(all, 0)
		}
		if m.Number() != number {
			settle()
			number = m.Number()
		}
		if m.Position != PositionOf(number) {
			all = append(all, m.Position)
		}
	}
	settle()
	return places, moved
}
