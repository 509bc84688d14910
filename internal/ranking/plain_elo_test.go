package ranking_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// countedMatch is a counting match with the names of its players.
type countedMatch struct {
	Number         int
	A, B           []string
	ScoreA, ScoreB int
	plainRules
}

// plainRules are the rules of a match that rate it.
type plainRules struct {
	K                  int // 0 for 32
	ProvisionalK       int
	ProvisionalMatches int // fewer matches of a player count with ProvisionalK
	Margin             bool
}

// historyRow is how a match changed a standing, either stored or calculated by recalculate.
type historyRow struct {
	Number                         int
	Who                            string
	Before, After, K, Best, Streak int // Best, Streak and Longest are those before the match
	Longest                        int
}

// standingRow is a standing, either stored or calculated by recalculate.
type standingRow struct {
	Who                                                string
	Elo, Start, Best, Played, Won, Drawn, Lost, Streak int
	Longest                                            int
}

// standingTable holds standings by player.
type standingTable map[string]standingRow

// recalculate calculates standings from matches independently of the ranking and elo packages. It is the reference calculation of the
// tests. Players without a start rating start with 1500. The history has the players of side A first.
func recalculate(starts map[string]int, bouts []countedMatch) (standingTable, []historyRow) {
	table, history := make(standingTable), []historyRow(nil)
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
		score := 0.5
		if b.ScoreA != b.ScoreB {
			score = float64(max(0, min(1, b.ScoreA-b.ScoreB)))
		}
		winner := 0 // the side that gains
		surplus := score - 1/(1+math.Pow(10, (average[1]-average[0])/400))
		if surplus < 0 {
			winner, surplus = 1, -surplus
		}
		room := 10_000 // what every member can gain or lose
		for _, who := range sides[winner] {
			room = min(room, 10_000-table[who].Elo)
		}
		for _, who := range sides[1-winner] {
			room = min(room, table[who].Elo)
		}
		for side, names := range sides {
			own, other := b.ScoreA, b.ScoreB
			if side == 1 {
				own, other = other, own
			}
			for _, who := range names {
				before, k := table[who], b.kOf(table[who].Played)
				points := int(math.Round(float64(k) * b.goalIndex() * surplus))
				if b.ScoreA != b.ScoreB && points == 0 { // a decided match always moves something
					points = 1
				}
				points = min(room, points)
				if side != winner {
					points = -points
				}
				table[who] = before.play(points, own, other)
				history = append(history, historyRow{b.Number, who, before.Elo, table[who].Elo, k, before.Best, before.Streak, before.Longest})
			}
		}
	}
	return table, history
}

func (r plainRules) kOf(played int) int {
	switch {
	case played < r.ProvisionalMatches:
		return r.ProvisionalK
	case r.K == 0:
		return 32
	}
	return r.K
}

// goalIndex is what eloratings.net says: half more for two goals, three quarters for three, and then an eighth for each. But it is never
// more than 2.
func (b countedMatch) goalIndex() float64 {
	goals := max(b.ScoreA-b.ScoreB, b.ScoreB-b.ScoreA)
	if !b.Margin || goals < 2 {
		return 1
	}
	if goals == 2 {
		return 1 + 1.0/2
	}
	return math.Min(1+3.0/4+float64(goals-3)/8, 2)
}

func (p standingRow) play(change, own, other int) standingRow {
	p.Elo += change
	p.Best = max(p.Best, p.Elo)
	p.Played++
	switch {
	case own > other:
		p.Won++
		p.Streak = max(0, p.Streak) + 1
		p.Longest = max(p.Longest, p.Streak)
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
	bout := func(a, b []string, scoreA, scoreB int, rules ...plainRules) countedMatch {
		m := countedMatch{A: a, B: b, ScoreA: scoreA, ScoreB: scoreB}
		if len(rules) > 0 {
			m.plainRules = rules[0]
		}
		return m
	}
	special := plainRules{K: 32, ProvisionalK: 64, ProvisionalMatches: 1, Margin: true}
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	ab, cd, ac, bd := []string{"a", "b"}, []string{"c", "d"}, []string{"a", "c"}, []string{"b", "d"}
	for name, test := range map[string]struct {
		bouts []countedMatch
		want  []standingRow
	}{
		// a wins 16 from an equal, b wins 17 back from one rated 32 higher, then a draw of nearly equals
		"singles": {[]countedMatch{bout(a, b, 3, 0), bout(b, a, 3, 0), bout(a, b, 1, 1)}, []standingRow{
			{"a", 1499, 1500, 1516, 3, 1, 1, 1, 0, 1}, {"b", 1501, 1500, 1501, 3, 1, 1, 1, 0, 1},
		}},
		// 1516:1484, a draw of equal sides, 15 from one rated 32 lower, 18 from a side rated 47 higher
		"doubles": {[]countedMatch{bout(ab, cd, 3, 0), bout(ac, bd, 2, 2), bout(a, c, 1, 0), bout(ab, cd, 0, 1)}, []standingRow{
			{"a", 1513, 1500, 1531, 4, 2, 1, 1, -1, 1}, {"b", 1498, 1500, 1516, 3, 1, 1, 1, -1, 1},
			{"c", 1487, 1500, 1500, 4, 1, 1, 2, 1, 1}, {"d", 1502, 1500, 1502, 3, 1, 1, 1, 1, 1},
		}},
		"uneven": {[]countedMatch{bout(a, cd, 0, 1)}, []standingRow{
			{"a", 1484, 1500, 1500, 1, 0, 0, 1, -1, 0}, {"c", 1516, 1500, 1516, 1, 1, 0, 0, 1, 1}, {"d", 1516, 1500, 1516, 1, 1, 0, 0, 1, 1},
		}},
		// half of K, limited by the loser's rating
		"at the minimum": {[]countedMatch{bout([]string{"poor"}, []string{"pauper"}, 3, 0, plainRules{K: 64})}, []standingRow{
			{"poor", 15, 10, 15, 1, 1, 0, 0, 1, 1}, {"pauper", 0, 5, 5, 1, 0, 0, 1, -1, 0},
		}},
		// 16 from an equal; a newcomer, rated 16 lower, wins 59 with 64·1.75 and takes 29 with 32·1.75; 3 for a draw with one rated 72
		// higher; 39 with 32·2 from the same
		"rules": {[]countedMatch{
			bout(a, b, 5, 0), bout(c, a, 4, 1, special), bout(a, c, 2, 2, special), bout(b, c, 10, 0, special),
		}, []standingRow{
			{"a", 1490, 1500, 1516, 3, 1, 1, 1, 0, 1}, {"b", 1523, 1500, 1523, 2, 1, 0, 1, 1, 1}, {"c", 1517, 1500, 1559, 3, 1, 1, 1, -1, 1},
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
			got, _ := recalculate(starts, test.bouts)
			if diff := cmp.Diff(want, got); diff != "" {
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
		SELECT `+who+`, s.elo, s.start_elo, s.best_elo, s.played, s.won, s.drawn, s.lost, s.streak, s.longest_streak
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN ladders l ON l.id = s.ladder_id
		JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1`, chat) {
		all[p.Who] = p
	}
	return all
}

// currentHistory returns the current history of a chat's matches, in the order of their numbers, those of side A first.
func (g *game) currentHistory(t *testing.T, chat ranking.ExternalChatID, who string) []historyRow {
	t.Helper()
	return rows[historyRow](t, g, `
		SELECT m.number, `+who+`, h.elo_before, h.elo_after, h.k_factor, h.best_before, h.streak_before, h.longest_before
		FROM elo_history h JOIN matches m ON m.id = h.match_id JOIN match_players mp USING (match_id, player_id)
		JOIN players p ON p.id = h.player_id
		JOIN group_players s ON s.ladder_id = m.ladder_id AND s.player_id = h.player_id
		JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 AND h.superseded_at = 'infinity'
		ORDER BY m.number, mp.side, mp.place`, chat)
}
