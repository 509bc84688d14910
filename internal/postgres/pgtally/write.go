package pgtally

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// ladderTallies are the tallies of several ladders.
type ladderTallies map[ranking.LadderID]stats.Tallies

// of returns the tallies of a ladder, to be added to.
func (l ladderTallies) of(ladder ranking.LadderID) stats.Tallies {
	t, there := l[ladder]
	if !there {
		t = stats.NewTallies()
		l[ladder] = t
	}
	return t
}

// ladderPair is a player and another one in a ladder, who played together or against each other.
type ladderPair struct {
	Ladder        ranking.LadderID
	Player, Other ranking.PlayerID
	Together      bool
}

// pairs returns the pairs of all months; a pair may come several times.
func (l ladderTallies) pairs() (all []ladderPair) {
	for ladder, t := range l {
		for k := range t.Pairs {
			all = append(all, ladderPair{ladder, k.Player, k.Other, k.Together})
		}
	}
	return all
}

// monthRow is a row of player_months.
type monthRow struct {
	ladder ranking.LadderID
	stats.MonthKey
	*stats.PlayerMonth
}

// pairRow is a row of pair_months or, with a zero month, of pair_totals.
type pairRow struct {
	ladder ranking.LadderID
	stats.PairKey
	*stats.Pair
}

func (l ladderTallies) monthRows() (rows []monthRow) {
	for ladder, t := range l {
		for k, m := range t.Months {
			rows = append(rows, monthRow{ladder, k, m})
		}
	}
	slices.SortFunc(rows, func(a, b monthRow) int {
		return cmp.Or(cmp.Compare(a.ladder, b.ladder), cmp.Compare(a.Player, b.Player), a.Month.Compare(b.Month))
	})
	return rows
}

func pairRows(ladder ranking.LadderID, pairs map[stats.PairKey]*stats.Pair) (rows []pairRow) {
	for k, p := range pairs {
		rows = append(rows, pairRow{ladder, k, p})
	}
	slices.SortFunc(rows, func(a, b pairRow) int {
		together := func(r pairRow) int {
			if r.Together {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Player, b.Player), cmp.Compare(a.Other, b.Other), cmp.Compare(together(a), together(b)), a.Month.Compare(b.Month))
	})
	return rows
}

// queueInsert inserts the tallies of months that have no rows. It leaves out the totals.
func queueInsert(batch *pgx.Batch, tallies ladderTallies) {
	queueMonths(batch, tallies.monthRows(), "")
	var pairs []pairRow
	for ladder, t := range tallies {
		pairs = append(pairs, pairRows(ladder, t.Pairs)...)
	}
	queuePairs(batch, "pair_months", pairs, "")
}

// queueAdd adds the tallies of new matches to what is there. It does not change the totals of the pairs in other.
func queueAdd(batch *pgx.Batch, tallies ladderTallies, other []ladderPair) {
	queueMonths(batch, tallies.monthRows(), `
		ON CONFLICT (ladder_id, player_id, month) DO UPDATE
		SET played = t.played + excluded.played, won = t.won + excluded.won, drawn = t.drawn + excluded.drawn, lost = t.lost + excluded.lost,
		    best_elo = greatest(t.best_elo, excluded.best_elo),
		    best_match = CASE WHEN excluded.best_elo > t.best_elo THEN excluded.best_match ELSE t.best_match END,
		    streak = greatest(t.streak, excluded.streak),
		    streak_match = CASE WHEN excluded.streak <= t.streak OR excluded.streak IS NULL THEN t.streak_match ELSE excluded.streak_match END,
		    upset = greatest(t.upset, excluded.upset),
		    upset_match = CASE WHEN excluded.upset <= t.upset OR excluded.upset IS NULL THEN t.upset_match ELSE excluded.upset_match END`)
	const add = ` DO UPDATE
		SET played = t.played + excluded.played, won = t.won + excluded.won, drawn = t.drawn + excluded.drawn, lost = t.lost + excluded.lost,
		    points_for = t.points_for + excluded.points_for, points_against = t.points_against + excluded.points_against,
		    gained = t.gained + excluded.gained, surplus = t.surplus + excluded.surplus`
	var pairs, totals []pairRow
	for ladder, t := range tallies {
		pairs = append(pairs, pairRows(ladder, t.Pairs)...)
		totals = append(totals, pairRows(ladder, t.Totals())...)
	}
	left := make(map[ladderPair]bool, len(other))
	for _, p := range other {
		left[p] = true
	}
	totals = slices.DeleteFunc(totals, func(r pairRow) bool { return left[ladderPair{r.ladder, r.Player, r.Other, r.Together}] })
	queuePairs(batch, "pair_months", pairs, "ON CONFLICT (ladder_id, player_id, other_id, together, month)"+add)
	queuePairs(batch, "pair_totals", totals, "ON CONFLICT (ladder_id, player_id, other_id, together)"+add)
}

// queueMonths inserts rows into player_months. conflict says what happens to those that are there.
func queueMonths(batch *pgx.Batch, rows []monthRow, conflict string) {
	if len(rows) == 0 {
		return
	}
	number := func(value func(monthRow) int) []int32 {
		return postgres.Column(rows, func(r monthRow) int32 { return int32(value(r)) })
	}
	match := func(value func(monthRow) stats.Peak) []zeronull.Int8 {
		return postgres.Column(rows, func(r monthRow) zeronull.Int8 { return zeronull.Int8(value(r).Match) })
	}
	record := func(value func(monthRow) stats.Peak) []zeronull.Int4 {
		return postgres.Column(rows, func(r monthRow) zeronull.Int4 { return zeronull.Int4(value(r).Value) })
	}
	batch.Queue(`
		INSERT INTO player_months AS t (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match,
		                                streak, streak_match, upset, upset_match)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::date[], $4::integer[], $5::integer[], $6::integer[], $7::integer[],
		                     $8::integer[], $9::bigint[], $10::integer[], $11::bigint[], $12::integer[], $13::bigint[])
		`+conflict,
		postgres.Column(rows, func(r monthRow) ranking.LadderID { return r.ladder }),
		postgres.Column(rows, func(r monthRow) ranking.PlayerID { return r.Player }),
		postgres.Column(rows, func(r monthRow) time.Time { return r.Month }),
		number(func(r monthRow) int { return r.Played }), number(func(r monthRow) int { return r.Won }),
		number(func(r monthRow) int { return r.Drawn }), number(func(r monthRow) int { return r.Lost }),
		number(func(r monthRow) int { return r.Best.Value }), match(func(r monthRow) stats.Peak { return r.Best }),
		record(func(r monthRow) stats.Peak { return r.Streak }), match(func(r monthRow) stats.Peak { return r.Streak }),
		record(func(r monthRow) stats.Peak { return r.Upset }), match(func(r monthRow) stats.Peak { return r.Upset }))
}

// queuePairs inserts rows into pair_months or pair_totals. conflict says what happens to those that are there.
func queuePairs(batch *pgx.Batch, table string, rows []pairRow, conflict string) {
	if len(rows) == 0 {
		return
	}
	number := func(value func(pairRow) int) []int32 {
		return postgres.Column(rows, func(r pairRow) int32 { return int32(value(r)) })
	}
	columns, more, args := "", "", []any{
		postgres.Column(rows, func(r pairRow) ranking.LadderID { return r.ladder }),
		postgres.Column(rows, func(r pairRow) ranking.PlayerID { return r.Player }),
		postgres.Column(rows, func(r pairRow) ranking.PlayerID { return r.Other }),
		postgres.Column(rows, func(r pairRow) bool { return r.Together }),
		number(func(r pairRow) int { return r.Played }), number(func(r pairRow) int { return r.Won }),
		number(func(r pairRow) int { return r.Drawn }), number(func(r pairRow) int { return r.Lost }),
		number(func(r pairRow) int { return r.PointsFor }), number(func(r pairRow) int { return r.PointsAgainst }),
		number(func(r pairRow) int { return r.Gained }), number(func(r pairRow) int { return r.Surplus }),
	}
	if table == "pair_months" {
		columns, more = ", month", ", $13::date[]"
		args = append(args, postgres.Column(rows, func(r pairRow) time.Time { return r.Month }))
	}
	batch.Queue(`
		INSERT INTO `+table+` AS t (ladder_id, player_id, other_id, together, played, won, drawn, lost,
		                        points_for, points_against, gained, surplus`+columns+`)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::integer[], $6::integer[], $7::integer[],
		                     $8::integer[], $9::integer[], $10::integer[], $11::integer[], $12::integer[]`+more+`)
		`+conflict, args...)
}

// sums are the columns of pair_totals that are sums of those of pair_months.
const sums = `sum(played), sum(won), sum(drawn), sum(lost), sum(points_for), sum(points_against), sum(gained), sum(surplus)`

// queueSum adds up the totals of pairs again.
func queueSum(batch *pgx.Batch, pairs []ladderPair) {
	if len(pairs) == 0 {
		return
	}
	args := []any{
		postgres.Column(pairs, func(p ladderPair) ranking.LadderID { return p.Ladder }),
		postgres.Column(pairs, func(p ladderPair) ranking.PlayerID { return p.Player }),
		postgres.Column(pairs, func(p ladderPair) ranking.PlayerID { return p.Other }),
		postgres.Column(pairs, func(p ladderPair) bool { return p.Together }),
	}
	const these = `unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[]) AS k (ladder_id, player_id, other_id, together)`
	batch.Queue(`
		DELETE FROM pair_totals t USING `+these+`
		WHERE t.ladder_id = k.ladder_id AND t.player_id = k.player_id AND t.other_id = k.other_id AND t.together = k.together`, args...)
	batch.Queue(`
		INSERT INTO pair_totals
		SELECT k.*, total.* FROM (SELECT DISTINCT * FROM `+these+`) AS k
		CROSS JOIN LATERAL (
		    SELECT `+sums+` FROM pair_months
		    WHERE ladder_id = k.ladder_id AND player_id = k.player_id AND other_id = k.other_id AND together = k.together
		    HAVING count(*) > 0) AS total`, args...)
}
