package pgstats_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// member describes a player of a ladder. Lists of members are in the order in which the players
// joined.
type member struct {
	Elo, Won, Drawn, Lost int
	Days                  int // since the last match
	Left                  bool
}

// rankingOf calculates the ranking of the members who have played and not left. Members without a
// match for the given number of days are hidden, unless days is 0 or all is set. Of the others,
// members with the given number of matches have a place, provided that there are at least three of
// them. rankingOf returns all rows, the number of rows with a place, and the number of hidden
// members.
func rankingOf(members []member, matches, days int, all bool) (rows []stats.Row, placed, hidden int) {
	var listed []stats.Row
	for i, m := range members {
		row := stats.Row{
			Name: ranking.Name{Player: ladder.PlayerID(i + 1)}, Elo: m.Elo, Won: m.Won, Drawn: m.Drawn, Lost: m.Lost,
		}
		switch {
		case row.Played() == 0 || m.Left:
		case days > 0 && m.Days >= days && !all:
			hidden++
		default:
			listed = append(listed, row)
		}
	}
	slices.SortStableFunc(listed, func(a, b stats.Row) int { return cmp.Compare(b.Elo, a.Elo) })
	for _, row := range listed {
		if row.Played() >= matches {
			placed++
		}
	}
	if placed < 3 {
		return listed, 0, hidden
	}
	for _, row := range listed {
		if row.Played() >= matches {
			row.Position = 1
			for _, better := range listed {
				if better.Played() >= matches && better.Elo > row.Elo {
					row.Position++
				}
			}
			rows = append(rows, row)
		}
	}
	for _, row := range listed {
		if row.Played() < matches {
			rows = append(rows, row)
		}
	}
	return rows, placed, hidden
}

// pageOf plainly calculates a page of a ranking. asker is an index into members; if it is too
// large, the asker is not in the ladder.
func pageOf(members []member, matches, days, asker int, q stats.RankingQuestion) stats.RankingPage {
	rows, placed, hidden := rankingOf(members, matches, days, q.All)
	n := stats.RankingPage{
		Page: q.Page, Total: len(rows), All: q.All, Hidden: hidden, PlaceMatches: matches,
		HideDays: days, Unplaced: placed == 0,
		NoDraws: !slices.ContainsFunc(rows, func(r stats.Row) bool { return r.Drawn > 0 }),
	}
	own := stats.Row{Position: -1}
	if asker < len(members) && !members[asker].Left {
		m := members[asker]
		own = stats.Row{
			Name: ranking.Name{Player: ladder.PlayerID(asker + 1)},
			Elo:  m.Elo, Won: m.Won, Drawn: m.Drawn, Lost: m.Lost, Mine: true,
		}
		own.Inactive = own.Played() > 0 && days > 0 && m.Days >= days && !q.All
	}
	for i, r := range rows {
		if r.Name == own.Name {
			own, rows[i].Mine = r, true
			own.Mine = true
		}
	}
	from, size := 0, q.Places
	if size == 0 {
		n.Page, size = min(q.Page, max(1, (len(rows)+9)/10)), 10
		from = 10 * (n.Page - 1)
	}
	n.Rows = rows[from:min(len(rows), from+size)]
	if own.Position >= 0 && !slices.Contains(n.Rows, own) {
		n.Own = &own
	}
	return n
}

// TestAnyRanking checks that each page of any ranking is as pageOf calculates it. TestAnyViews
// covers Row.Moved.
func TestAnyRanking(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.New(t))
	store := pgstats.NewStore(pool, pool)
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-100, 'group', 'Club');
		INSERT INTO groups (chat_id) SELECT id FROM chats;
		`+dbtest.DefaultLadders+`
		INSERT INTO players (telegram_user_id, display_name) SELECT n, 'P' FROM generate_series(1, 45) n`)
	now := time.Date(2026, time.November, 11, 0, 0, 0, 0, time.UTC)
	draws := rapid.IntRange(0, 1)
	anybody := func(draws int) *rapid.Generator[member] {
		return rapid.Custom(func(rt *rapid.T) member {
			return member{
				Elo: rapid.IntRange(1490, 1510).Draw(rt, "elo"), Won: rapid.IntRange(0, 4).Draw(rt, "won"),
				Drawn: draws * rapid.IntRange(0, 1).Draw(rt, "drawn"),
				Lost:  rapid.IntRange(0, 4).Draw(rt, "lost"), Days: rapid.SampledFrom([]int{0, 1, 29, 30, 60, 61}).Draw(rt, "days"),
				Left: rapid.IntRange(0, 9).Draw(rt, "left") == 0,
			}
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		members := rapid.SliceOfN(anybody(draws.Draw(rt, "draws")), 0, 45).Draw(rt, "members")
		matches := rapid.SampledFrom([]int{1, 3, 5, 10}).Draw(rt, "matches for a place")
		days := rapid.SampledFrom([]int{0, 30, 60}).Draw(rt, "days until hidden")
		dbtest.Exec(t, pool, `DELETE FROM group_players`)
		dbtest.Exec(t, pool, `UPDATE ladders SET place_matches = $1, hide_days = $2`, matches, days)
		for i, m := range members {
			played := m.Won + m.Drawn + m.Lost
			dbtest.Exec(t, pool, `
				INSERT INTO group_players
				    (season_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, last_played_at, left_at)
				VALUES (1, $1, 'P', $2, 1500, 1510, $3, $4, $5, $6,
				    CASE WHEN $3 > 0 THEN $7::timestamptz END, CASE WHEN $8 THEN $7::timestamptz END)`,
				i+1, m.Elo, played, m.Won, m.Drawn, m.Lost, now.AddDate(0, 0, -m.Days), m.Left)
		}
		for range 8 {
			q := stats.RankingQuestion{All: rapid.Bool().Draw(rt, "all"), Page: rapid.IntRange(1, 6).Draw(rt, "page")}
			if rapid.IntRange(0, 3).Draw(rt, "top") == 0 {
				q.Page, q.Places = 0, rapid.IntRange(1, 20).Draw(rt, "places")
			}
			asker := rapid.IntRange(0, 45).Draw(rt, "asker") // perhaps beyond the members
			got, err := store.Ranking(t.Context(), dbtest.Ladder(t, pool, dbtest.Club.ID),
				&command.Person{ID: ladder.UserID(asker + 1)}, q, now)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(pageOf(members, matches, days, asker, q), got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("%+v of %d (-calculated +read):\n%s", q, asker, diff)
			}
		}
	})
}
