package pgtally_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres/dbtest"
)

// plainMatch is a match that counts, as one of its players has played it.
type plainMatch struct {
	Ladder, ID                 int64
	Number                     int
	Month                      string
	Played                     time.Time
	Player                     int64
	Own, Other                 int
	Before, After              int
	Partners, Opponents        []int64
	OwnRatings, OthersRatings  []int
	streak, expected, surprise int
}

// readPlain reads what each player has played in the ladders from an id on, in the order of the matches' numbers, with the streaks after the matches.
func readPlain(t *testing.T, pool *pgxpool.Pool, first int64) []*plainMatch {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		WITH parts AS (
		    SELECT m.ladder_id, m.id, m.number, m.played_at, m.score_a, m.score_b, mp.player_id, mp.side, h.elo_before, h.elo_after
		    FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at IS NULL
		    WHERE m.undone_at IS NULL AND m.ladder_id >= $1)
		SELECT ladder_id, id, number, to_char(played_at AT TIME ZONE 'UTC', 'YYYY-MM'), played_at, player_id,
		       CASE side WHEN 1 THEN score_a ELSE score_b END, CASE side WHEN 1 THEN score_b ELSE score_a END, elo_before, elo_after,
		       ARRAY(SELECT player_id FROM parts o WHERE o.id = p.id AND o.side = p.side AND o.player_id <> p.player_id),
		       ARRAY(SELECT player_id FROM parts o WHERE o.id = p.id AND o.side <> p.side),
		       ARRAY(SELECT elo_before FROM parts o WHERE o.id = p.id AND o.side = p.side),
		       ARRAY(SELECT elo_before FROM parts o WHERE o.id = p.id AND o.side <> p.side), 0, side, 0
		FROM parts p ORDER BY ladder_id, number, player_id`, first)
	dbtest.Must(t, err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*plainMatch, error) {
		m := new(plainMatch)
		return m, row.Scan(&m.Ladder, &m.ID, &m.Number, &m.Month, &m.Played, &m.Player, &m.Own, &m.Other, &m.Before, &m.After,
			&m.Partners, &m.Opponents, &m.OwnRatings, &m.OthersRatings, &m.streak, &m.expected, &m.surprise)
	})
	dbtest.Must(t, err)
	streaks := make(map[[2]int64]int)
	for _, m := range all {
		k := [2]int64{m.Ladder, m.Player}
		switch {
		case m.Own > m.Other:
			streaks[k]++
		default:
			streaks[k] = 0
		}
		m.streak = streaks[k]
		own, others := mean(m.OwnRatings), mean(m.OthersRatings)
		a, _ := own.Float64()
		b, _ := others.Float64()
		if m.expected == 2 { // the side, until here
			m.expected = 10_000 - int(math.Round(10_000/(1+math.Pow(10, (a-b)/400))))
		} else {
			m.expected = int(math.Round(10_000 / (1 + math.Pow(10, (b-a)/400))))
		}
		if m.Own > m.Other {
			halfUp := new(big.Rat).Add(new(big.Rat).Sub(others, own), big.NewRat(1, 2))
			m.surprise = int(new(big.Int).Div(halfUp.Num(), halfUp.Denom()).Int64())
		}
	}
	return all
}

func mean(ratings []int) *big.Rat {
	sum := new(big.Rat)
	for _, r := range ratings {
		sum.Add(sum, big.NewRat(int64(r), 1))
	}
	return sum.Quo(sum, big.NewRat(int64(len(ratings)), 1))
}

// plainTallies calculates all tallies from matches, as plainly as possible.
func plainTallies(matches []*plainMatch) []string {
	groups := make(map[string][]*plainMatch)
	for _, m := range matches {
		month := fmt.Sprintf("month %d %d %s", m.Ladder, m.Player, m.Month)
		groups[month] = append(groups[month], m)
		for together, others := range map[bool][]int64{true: m.Partners, false: m.Opponents} {
			for _, o := range others {
				for _, when := range []string{m.Month, "total"} {
					pair := fmt.Sprintf("pair %d %d %d %t %s", m.Ladder, m.Player, o, together, when)
					groups[pair] = append(groups[pair], m)
				}
			}
		}
	}
	var all []string
	for name, group := range groups {
		all = append(all, name+plainLine(group, strings.HasPrefix(name, "month")))
	}
	slices.Sort(all)
	return all
}

func plainLine(group []*plainMatch, month bool) string {
	won, drawn, lost, own, other, gained, surplus := 0, 0, 0, 0, 0, 0, 0
	best, streak, upset := [2]int{-1}, [2]int{}, [2]int{}
	reach := func(r *[2]int, value int, m *plainMatch) {
		if value > r[0] {
			*r = [2]int{value, int(m.ID)}
		}
	}
	for _, m := range group {
		score := 0
		switch {
		case m.Own > m.Other:
			won++
			score = 10_000
		case m.Own == m.Other:
			drawn++
			score = 5_000
		default:
			lost++
		}
		own, other, gained, surplus = own+m.Own, other+m.Other, gained+m.After-m.Before, surplus+score-m.expected
		reach(&best, m.After, m)
		reach(&streak, m.streak, m)
		reach(&upset, m.surprise, m)
	}
	counts := fmt.Sprintf(": %d %d %d %d", len(group), won, drawn, lost)
	if month {
		return fmt.Sprintf("%s best %v streak %v upset %v", counts, best, streak, upset)
	}
	return fmt.Sprintf("%s %d:%d %d %d", counts, own, other, gained, surplus)
}

// storedTallies returns the tallies as they are stored, in the form of plainTallies.
func storedTallies(t *testing.T, pool *pgxpool.Pool, first int64) []string {
	t.Helper()
	all := dbtest.Values[string](t, pool, `
		SELECT format('month %s %s %s: %s %s %s %s best [%s %s] streak [%s %s] upset [%s %s]', ladder_id, player_id, to_char(month, 'YYYY-MM'),
		              played, won, drawn, lost, best_elo, best_match, coalesce(streak, 0), coalesce(streak_match, 0),
		              coalesce(upset, 0), coalesce(upset_match, 0))
		FROM player_months WHERE ladder_id >= $1
		UNION ALL
		SELECT format('pair %s %s %s %s %s: %s %s %s %s %s:%s %s %s', ladder_id, player_id, other_id, CASE WHEN together THEN 'true' ELSE 'false' END,
		              coalesce(to_char(month, 'YYYY-MM'), 'total'), played, won, drawn, lost, points_for, points_against, gained, surplus)
		FROM (SELECT ladder_id, player_id, other_id, together, month, played, won, drawn, lost, points_for, points_against, gained, surplus
		      FROM pair_months
		      UNION ALL
		      SELECT ladder_id, player_id, other_id, together, NULL, played, won, drawn, lost, points_for, points_against, gained, surplus
		      FROM pair_totals) AS pairs
		WHERE ladder_id >= $1`, first)
	slices.Sort(all)
	return all
}

// plainPlaces calculates the places at the beginning of the day a week before a time.
func plainPlaces(t *testing.T, pool *pgxpool.Pool, matches []*plainMatch, first int64, now time.Time) []string {
	t.Helper()
	day := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -7)
	type standing struct {
		Ladder, Player int64
		Elo, Played    int
		Member, Active bool
	}
	rows, err := pool.Query(t.Context(), `
		SELECT ladder_id, player_id, elo, played, left_at IS NULL, coalesce(last_played_at > $1, false) FROM group_players
		WHERE ladder_id >= $2`, now.AddDate(0, 0, -60), first)
	dbtest.Must(t, err)
	standings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[standing])
	dbtest.Must(t, err)
	last := make(map[int64]int) // of a ladder: the number of the last match before the day
	for _, line := range dbtest.Values[[]int64](t, pool, `
		SELECT ARRAY[ladder_id, number] FROM matches WHERE played_at < $1 ORDER BY played_at, number`, day) {
		last[line[0]] = int(line[1])
	}
	since := make(map[int64]bool)
	for _, m := range matches {
		since[m.Ladder] = since[m.Ladder] || m.Number > last[m.Ladder]
	}
	then := make(map[int64][]standing)
	for _, s := range standings {
		now := s
		for _, m := range slices.Backward(matches) {
			if m.Ladder == s.Ladder && m.Player == s.Player && m.Number > last[s.Ladder] {
				now.Elo, now.Played = m.Before, now.Played-1
			}
		}
		if since[s.Ladder] && s.Member && s.Active && s.Played >= 5 && now.Played >= 5 {
			then[s.Ladder] = append(then[s.Ladder], now)
		}
	}
	var all []string
	for ladder := range since {
		if since[ladder] {
			all = append(all, fmt.Sprintf("ladder %d since %s after %d", ladder, day.Format(time.DateOnly), last[ladder]))
		}
		for _, s := range then[ladder] {
			place := 1
			for _, o := range then[ladder] {
				if o.Elo > s.Elo {
					place++
				}
			}
			all = append(all, fmt.Sprintf("%d %d: %d", ladder, s.Player, place))
		}
	}
	slices.Sort(all)
	return all
}

func storedPlaces(t *testing.T, pool *pgxpool.Pool, first int64) []string {
	t.Helper()
	all := dbtest.Values[string](t, pool, `
		SELECT format('%s %s: %s', ladder_id, player_id, place) FROM week_places WHERE ladder_id >= $1
		UNION ALL SELECT format('ladder %s since %s after %s', ladder_id, week_since, week_number) FROM ladder_tallies
		WHERE week_since IS NOT NULL AND ladder_id >= $1`, first)
	slices.Sort(all)
	return all
}
