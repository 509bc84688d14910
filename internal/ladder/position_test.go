package ladder_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"elobot/internal/ladder"
)

// TestPlace checks that each new match stands behind all matches that were played until then, and
// that positions are unique, never follow from a number before the last one, and keep the order of
// the other matches. The ladder grows by several files, until matches have to move for want of
// room.
func TestPlace(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	day := func(n int) time.Time { return time.Unix(int64(n)*86_400, 0) }
	var ordered []ladder.Placed
	for n := range 5 {
		at := ladder.PositionOf(2 * (n + 1))
		ordered = append(ordered, ladder.Placed{Position: at, PlayedAt: day(10*n + random.IntN(15))})
	}
	number := 20
	for range 60 {
		times := make([]time.Time, 1+random.IntN(40))
		for i := range times {
			times[i] = day(20 + random.IntN(2))
		}
		times[0] = day(random.IntN(60))
		slices.SortFunc(times, time.Time.Compare)
		places, moved := ladder.Place(ordered, times)
		to := make(map[ladder.Position]ladder.Position)
		for _, m := range moved {
			to[m.From] = m.To
		}
		before := ordered
		ordered = nil
		var want []time.Time // the order of the times
		next := 0
		var latest time.Time
		for _, m := range before {
			if m.PlayedAt.After(latest) {
				latest = m.PlayedAt
			}
			for ; next < len(times) && times[next].Before(latest); next++ {
				want = append(want, times[next])
			}
			want = append(want, m.PlayedAt)
			ordered = append(ordered, ladder.Placed{Position: cmp.Or(to[m.Position], m.Position), PlayedAt: m.PlayedAt})
		}
		want = append(want, times[next:]...)
		for i, p := range places {
			if number++; p == 0 {
				p = ladder.PositionOf(number)
			} else if p == ladder.PositionOf(p.Number()) {
				t.Fatalf("position %d follows from a number", p)
			}
			ordered = append(ordered, ladder.Placed{Position: p, PlayedAt: times[i]})
		}
		slices.SortStableFunc(ordered, func(a, b ladder.Placed) int { return cmp.Compare(a.Position, b.Position) })
		for i, m := range ordered {
			if !m.PlayedAt.Equal(want[i]) || i > 0 && m.Position == ordered[i-1].Position {
				t.Fatalf("match %d of %d is at %d", i, len(ordered), m.Position)
			}
		}
	}
	// Only 2³² positions are between two numbers, so a file that halves the room comes to its end.
	tight := []ladder.Placed{
		{Position: ladder.PositionOf(1), PlayedAt: day(1)}, {Position: ladder.PositionOf(1) + 2, PlayedAt: day(3)},
		{Position: ladder.PositionOf(2), PlayedAt: day(4)},
	}
	places, moved := ladder.Place(tight, []time.Time{day(2), day(2)})
	if len(moved) != 1 || places[0] >= places[1] || places[1] >= moved[0].To || moved[0].To >= ladder.PositionOf(2) {
		t.Errorf("without room, the matches get %d, and %v move", places, moved)
	}
}
