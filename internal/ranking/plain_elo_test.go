package ranking_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// countedMatch is a counting match with the names of its players.
type countedMatch struct {
	A, B           []string
	ScoreA, ScoreB int
	K              int // 0 for 32
}

// standingRow is a standing, either stored or calculated by recalculate.
type standingRow struct {
	Who                                                string
	Elo, Start, Best, Played, Won, Drawn, Lost, Streak int
}

// standingTable holds standings by player.
type standingTable map[string]standingRow

// recalculate calculates standings from matches independently of the ranking and elo packages. It is the reference
// calculation of the tests. Players without a start rating start with 1500.
func recalculate(starts map[string]int, bouts []countedMatch) standingTable {
	table := make(standingTable)
	for who, start := range starts {
		table[who] = standingRow{Who: who, Elo: start, Start: start, Best: start}
	}
	for _, b := range bouts {
		sides := [2][]string{b.A, b.B}
		var average [2]float64
		for side, names := range sides {
			for _, who := range names {
				if _, there := table[who]; !there {
					table[who] = standingRow{Who: who, Elo: 1500, Start: 1500, Best: 1500}
				}
				average[side] += float64(table[who].Elo)
			}
			average[side] /= float64(len(names))
		}
		score, k := 0.5, float64(b.K)
		if b.ScoreA != b.ScoreB {
			score = float64(max(0, min(1, b.ScoreA-b.ScoreB)))
		}
		if b.K == 0 {
			k = 32
		}
		winner := 0 // the side that gains
		gain := k * (score - 1/(1+math.Pow(10, (average[1]-average[0])/400)))
		if gain < 0 {
			winner, gain = 1, -gain
		}
		points := int(math.Round(gain))
		for _, who := range sides[winner] {
			points = min(points, 10_000-table[who].Elo)
		}
		for _, who := range sides[1-winner] {
			points = min(points, table[who].Elo)
		}
		if winner == 1 {
			points = -points
		}
		for _, who := range b.A {
			table[who] = table[who].play(points, b.ScoreA, b.ScoreB)
		}
		for _, who := range b.B {
			table[who] = table[who].play(-points, b.ScoreB, b.ScoreA)
		}
	}
	return table
}

func (p standingRow) play(change, own, other int) standingRow {
	p.Elo += change
	p.Best = max(p.Best, p.Elo)
	p.Played++
	switch {
	case own > other:
		p.Won++
		p.Streak = max(0, p.Streak) + 1
	case own < other:
		p.Lost++
		p.Streak = min(0, p.Streak) - 1
	default:
		p.Drawn++
		p.Streak = 0
	}
	return p
}

func TestRecalculate(t *testing.T) {
	t.Parallel()
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	ab, cd, ac, bd := []string{"a", "b"}, []string{"c", "d"}, []string{"a", "c"}, []string{"b", "d"}
	for name, test := range map[string]struct {
		bouts []countedMatch
		want  []standingRow
	}{
		// a wins 16 from an equal, b wins 17 back from one rated 32 higher, then a draw of nearly equals
		"singles": {[]countedMatch{{a, b, 3, 0, 0}, {b, a, 3, 0, 0}, {a, b, 1, 1, 0}}, []standingRow{
			{"a", 1499, 1500, 1516, 3, 1, 1, 1, 0}, {"b", 1501, 1500, 1501, 3, 1, 1, 1, 0},
		}},
		// 1516:1484, a draw of equal sides, 15 from one rated 32 lower, 18 from a side rated 47 higher
		"doubles": {[]countedMatch{{ab, cd, 3, 0, 0}, {ac, bd, 2, 2, 0}, {a, c, 1, 0, 0}, {ab, cd, 0, 1, 0}}, []standingRow{
			{"a", 1513, 1500, 1531, 4, 2, 1, 1, -1}, {"b", 1498, 1500, 1516, 3, 1, 1, 1, -1},
			{"c", 1487, 1500, 1500, 4, 1, 1, 2, 1}, {"d", 1502, 1500, 1502, 3, 1, 1, 1, 1},
		}},
		"uneven": {[]countedMatch{{a, cd, 0, 1, 0}}, []standingRow{
			{"a", 1484, 1500, 1500, 1, 0, 0, 1, -1}, {"c", 1516, 1500, 1516, 1, 1, 0, 0, 1}, {"d", 1516, 1500, 1516, 1, 1, 0, 0, 1},
		}},
		// half of K, limited by the loser's rating
		"at the minimum": {[]countedMatch{{[]string{"poor"}, []string{"pauper"}, 3, 0, 64}}, []standingRow{
			{"poor", 15, 10, 15, 1, 1, 0, 0, 1}, {"pauper", 0, 5, 5, 1, 0, 0, 1, -1},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := make(standingTable)
			for _, p := range test.want {
				want[p.Who] = p
			}
			starts := make(map[string]int)
			for _, p := range test.want {
				starts[p.Who] = p.Start
			}
			if diff := cmp.Diff(want, recalculate(starts, test.bouts)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

// The keys of a standingTable: names, or ids that do not change with the name.
const (
	byName     = "s.name"
	byIdentity = "coalesce(p.telegram_user_id::text, p.username)"
)

// standingTable returns the stored standings in the ladder of a chat.
func (g *game) standingTable(t *testing.T, chat ranking.ExternalChatID, who string) standingTable {
	t.Helper()
	all := make(standingTable)
	for _, p := range rows[standingRow](t, g, `
		SELECT `+who+`, s.elo, s.start_elo, s.best_elo, s.played, s.won, s.drawn, s.lost, s.streak
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN ladders l ON l.id = s.ladder_id
		JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1`, chat) {
		all[p.Who] = p
	}
	return all
}
