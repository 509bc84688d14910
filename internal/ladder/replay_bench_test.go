package ladder

import (
	"fmt"
	"testing"
)

// playedHistory returns the history of a ladder of 20 players, with the given number of matches
// between sides of the given size.
func playedHistory(tb testing.TB, matches, size int) History {
	tb.Helper()
	const players = 20
	var c History
	now := make(Table)
	for p := range PlayerID(players) {
		name := fmt.Sprintf("Player %d", p)
		s := Standing{ID: StandingID(p + 1), Player: p, Name: name, Elo: 1500, StartElo: 1500, BestElo: 1500}
		now[p] = &s
	}
	var entry HistoryID
	for i := range matches {
		m := Match{ID: MatchID(i + 1), Number: i + 1, RatingRules: RatingRules{K: 32},
			Result: Result{Score: Score{A: i % 4, B: 1 + i%3}}}
		for j := range 2 * size { // with a step of 1 or 3, no player repeats
			m.Parts = append(m.Parts, Part{Player: PlayerID((i + j*(1+2*(i%2))) % players), Side: 1 + j%2})
		}
		entries, upset, err := now.Play(&m)
		if err != nil {
			tb.Fatal(err)
		}
		m.Upset = upset
		for j := range entries {
			entry++
			entries[j].ID = entry
			m.Parts[j].Entry = &entries[j]
		}
		c.Matches = append(c.Matches, m)
	}
	for p := range PlayerID(players) {
		c.Standings = append(c.Standings, RankedPlayer{Standing: *now[p]})
	}
	return c
}

// BenchmarkReplay replays a whole season, both unchanged and with its first match undone.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{1, 2} {
		for _, matches := range []int{1_000, 10_000} {
			c := playedHistory(b, matches, size)
			for _, first := range []bool{false, true} {
				b.Run(fmt.Sprintf("undone=%t/size=%d/matches=%d", first, size, matches), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						w, err := c.Replay(ByUndo, func(m *Match) { m.Undone = first && m.Number == 1 })
						if err != nil || (len(w.Entries) > 0) != first || (len(w.Standings) > 0) != first {
							b.Fatalf("%d entries appended, %d standings, error %v", len(w.Entries), len(w.Standings), err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(matches), "ns/match")
				})
			}
		}
	}
}
