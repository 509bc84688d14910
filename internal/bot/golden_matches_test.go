package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// matchRows returns matches of two days, with a draw, teams, a stand-in, an undone match and two
// corrected ones.
func matchRows() []stats.MatchRow {
	name := func(names ...string) (all []ranking.Name) {
		for _, n := range names {
			all = append(all, called(n))
		}
		return all
	}
	day := time.Date(2026, time.November, 3, 20, 15, 0, 0, time.UTC)
	return []stats.MatchRow{
		{Match: 957, Number: 57, Played: day, Sides: [2][]ranking.Name{name("Alice"), name("Bob")}, Score: [2]int{3, 1}},
		{Match: 956, Number: 56, Played: day.Add(-time.Hour), Sides: [2][]ranking.Name{name("Carol"), name("Dave")}, Score: [2]int{2, 2}},
		{Match: 955, Number: 55, Played: day.Add(-2 * time.Hour), Sides: [2][]ranking.Name{name("Bob"), name("Alice")}, Score: [2]int{3, 0}, Undone: true},
		{Match: 954, Number: 54, Played: day.Add(-30 * time.Hour), Sides: [2][]ranking.Name{name("Alice", "Bob"), name("Carol", "Dave")}, Score: [2]int{11, 7}, Was: &[2]int{7, 11}},
		{Match: 953, Number: 53, Played: day.Add(-31 * time.Hour), Sides: [2][]ranking.Name{name("Alice", "Bob", "Eve"), name("Carol", "Dave", "Kim", "Zoë")}, Score: [2]int{2, 1}, Was: &[2]int{2, 1}},
		{Match: 952, Number: 52, Played: day.Add(-32 * time.Hour), Sides: [2][]ranking.Name{name("Alice"), name("Bob", "Carol")}, StandIns: [2]int{1, 0}, Score: [2]int{3, 1}},
	}
}

func goldenMatchLists() map[string]notice.Notice {
	rows := matchRows()
	own := slices.Clone(rows)
	for i, change := range []*int{new(12), new(0), nil, new(-8), new(130), new(9)} {
		own[i].Change = change
	}
	odd := []stats.MatchRow{{Number: 1, Played: rows[0].Played,
		Sides: [2][]ranking.Name{{called(hostile)}, {{Name: "Bob", Mark: "bob_2"}}}, Score: [2]int{1, 0}}}
	alice := called("Alice")
	otherDays := []stats.MatchRow{rows[1], rows[4]}
	otherDays[0].Number, otherDays[1].Number, otherDays[1].Was = 41, 57, nil // #57 was reported later
	noScore := slices.Clone(rows[:3])
	noScore[0].Score, noScore[1].Score, noScore[2].Was = [2]int{0, -1}, [2]int{-1, -1}, &[2]int{0, -1}
	noScore[2].Undone = false
	return map[string]notice.Notice{
		"no_score":         stats.MatchPage{Rows: noScore},
		"of_group":         stats.MatchPage{Title: "Table tennis", Rows: rows, Newer: true, Older: true},
		"of_group_days":    stats.MatchPage{Rows: otherDays},
		"of_group_first":   stats.MatchPage{Rows: rows[:1], Older: true},
		"of_group_none":    stats.MatchPage{Title: "Table tennis"},
		"of_group_hostile": stats.MatchPage{Title: hostile, Rows: odd},
		"of_player":        stats.HistoryPage{Name: ranking.Name{Player: 7, Name: "Alice"}, Rows: own, Newer: true, Older: true},
		"of_player_last":   stats.HistoryPage{Name: alice, Rows: own[3:], Newer: true},
		"of_player_none":   stats.HistoryPage{Name: alice},
		"of_nobody":        stats.HistoryPage{},
	}
}

func goldenOdds() map[string]notice.Notice {
	player := func(name string, elo, win, lose, draw int) stats.OddsPlayer {
		return stats.OddsPlayer{Name: called(name), Elo: elo, Win: win, Lose: lose, Draw: draw}
	}
	newcomer := func(p stats.OddsPlayer) stats.OddsPlayer {
		p.New = true
		return p
	}
	single := func(a, b stats.OddsPlayer) [2][]stats.OddsPlayer {
		return [2][]stats.OddsPlayer{{a}, {b}}
	}
	alice, bob := player("Alice", 1600, 11, -21, -5), player("Bob", 1500, 21, -11, 5)
	doubles := [2][]stats.OddsPlayer{
		{player("Alice", 1601, 16, -16, 0), player("Dave", 1500, 16, -16, 0)}, {player("Bob", 1550, 16, -16, 0), newcomer(player("Carol", 1551, 40, -40, 1))},
	}
	many := doubles
	for len(many[0]) < 5 {
		many[0] = append(slices.Clone(many[0]), newcomer(player("Eve", 1500, 16, -16, 0)))
		many[1] = append(slices.Clone(many[1]), newcomer(player("Kim", 1500, 16, -16, 0)),
			newcomer(player("Zoë", 1500, 16, -16, 0)))
	}
	return map[string]notice.Notice{
		"singles":        stats.Odds{Sides: single(alice, bob), Expected: 64, Draws: true},
		"no_draws":       stats.Odds{Sides: single(alice, bob), Expected: 64},
		"stand_in":       stats.Odds{Sides: [2][]stats.OddsPlayer{{alice}, doubles[1]}, StandIns: [2]int{1, 0}, Expected: 55},
		"margin":         stats.Odds{Sides: single(alice, newcomer(bob)), Expected: 64, Draws: true, Margin: true},
		"new":            stats.Odds{Sides: single(newcomer(alice), newcomer(bob)), Expected: 64, Draws: true},
		"new_in_season":  stats.Odds{Sides: single(newcomer(alice), newcomer(bob)), Expected: 64, Season: 2},
		"doubles":        stats.Odds{Sides: doubles, Expected: 50, Draws: true},
		"many_new":       stats.Odds{Sides: many, Expected: 50},
		"hostile":        stats.Odds{Sides: single(newcomer(player(hostile, 1500, 16, -16, 0)), bob), Expected: 50},
		"sure":           stats.Odds{Sides: single(player("Alice", 9999, 0, -32, -16), bob), Expected: 99},
		"teams":          stats.Teams{Odds: stats.Odds{Sides: doubles, Expected: 50, Draws: true}, Split: 9, Number: 1, Of: 3},
		"teams_2":        stats.Teams{Odds: stats.Odds{Sides: doubles, Expected: 50}, Split: 5, Number: 2, Of: 3},
		"teams_all":      stats.Teams{Odds: stats.Odds{Sides: many, Expected: 50}, Split: 1<<10 - 1, Number: 92_378, Of: 92_378},
		"report_hostile": ranking.ScorePrompt{Prompt: 5, Scores: [][2]int{{10, 8}, {8, 10}}, Teams: [2][]ranking.Name{{called("Alice"), called("Dave")}, {called("Bob"), called(hostile)}}},
	}
}

// TestTheLongestMatchListFits checks that ten matches with the longest names fit into a message,
// and so do the odds of twenty players.
func TestTheLongestMatchListFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, testTheLongestMatchListFits)
}

func testTheLongestMatchListFits(_ *testing.T, w words, send func(notice.Notice) botsim.Message) {
	for _, raw := range namesIn(w) {
		name := ranking.Name{Name: raw, Mark: strings.Repeat("W", 32)}
		for _, size := range []int{1, 2, 10} {
			team := slices.Repeat([]ranking.Name{name}, size)
			var rows []stats.MatchRow
			for i := range stats.PageRows {
				rows = append(rows, stats.MatchRow{
					Match: 999_999_999, Number: 999_999_999, Played: time.Date(2026, time.November, 30-i, 0, 0, 0, 0, time.UTC),
					StandIns: [2]int{1, 1}, Sides: [2][]ranking.Name{team, team},
					Score: [2]int{999, 999}, Was: &[2]int{999, 998}, Change: new(-10_000),
				})
			}
			send(stats.MatchPage{Title: strings.Repeat("W", 255), Rows: rows, Newer: true, Older: true})
			send(stats.HistoryPage{Name: name, Rows: rows, Newer: true, Older: true})
			player := stats.OddsPlayer{Name: name, Elo: 10_000, Win: 10_000, Lose: -10_000, Draw: -10_000, New: true}
			side := slices.Repeat([]stats.OddsPlayer{player}, size)
			other := slices.Clone(side)
			other[0].Win = 0
			odds := stats.Odds{Sides: [2][]stats.OddsPlayer{other, other}, Expected: 99, Draws: true, Margin: true}
			send(odds)
			send(stats.Teams{Odds: odds, Number: 92_378, Of: 92_378})
			send(ranking.ScorePrompt{Teams: [2][]ranking.Name{team, team}})
		}
	}
}
