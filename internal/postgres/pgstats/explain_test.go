package pgstats_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// tallied fills the tallies of all ladders. In ladder 150, one player has played 3,000 matches more and in all against 10,000 others,
// one has joined and never played, and 100 players have played in each of 120 months.
const tallied = `
	INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
	    SELECT group_id, id, n, 3, 1, 32, now() - n * interval '1 hour', 'busy:' || n FROM ladders, generate_series(51, 3050) n WHERE id = 150;
	INSERT INTO match_players (match_id, player_id, side, place, ladder_id, played_at)
	    SELECT m.id, p.id, p.side, 1, m.ladder_id, m.played_at FROM matches m, (
	        SELECT min(player_id) AS id, 1 AS side FROM group_players WHERE ladder_id = 150
	        UNION ALL SELECT max(player_id), 2 FROM group_players WHERE ladder_id = 150) AS p
	    WHERE m.idempotency_key LIKE 'busy:%';
	INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, reason)
	    SELECT match_id, player_id, 1500, 1548 - 32 * side, 32, 1700, 0, 'match' FROM match_players mp JOIN matches m ON m.id = match_id
	    WHERE m.idempotency_key LIKE 'busy:%';
	INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo)
	    SELECT 150, max(player_id), 'Idle', 1500, 1500, 1500 FROM group_players WHERE ladder_id > 160;
	TRUNCATE player_months, pair_months, pair_totals, week_places, ladder_tallies, tally_marks;
	INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match, upset, upset_match)
	    SELECT ladder_id, player_id, date_trunc('month', played_at AT TIME ZONE 'UTC'), count(*), count(*), 0, 0, 1700, min(match_id), 1, min(match_id), 9, min(match_id)
	    FROM match_players GROUP BY 1, 2, 3;
	INSERT INTO pair_months (ladder_id, player_id, other_id, together, month, played, won, drawn, lost, points_for, points_against, gained, surplus)
	    SELECT a.ladder_id, a.player_id, b.player_id, false, date_trunc('month', a.played_at AT TIME ZONE 'UTC'), count(*), count(*), 0, 0, 0, 0, 0, 0
	    FROM match_players a JOIN match_players b ON b.match_id = a.match_id AND b.side <> a.side GROUP BY 1, 2, 3, 5;
	INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match, upset, upset_match)
	    SELECT 150, 1 + n % 100, date '2010-01-01' + n / 100 * interval '1 month', 9, 9, 0, 0, 1800, 1, n % 20 + 1, 1, 9, 1 FROM generate_series(0, 11999) n;
	INSERT INTO pair_totals (ladder_id, player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus)
	    SELECT 150, busy, n, false, 10, 4, 1, 5, 0, 0, 0, n % 77 * 100 - 3000 FROM generate_series(100001, 110000) n,
	        (SELECT min(player_id) AS busy FROM group_players WHERE ladder_id = 150) AS one;
	INSERT INTO pair_totals (ladder_id, player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus)
	    SELECT ladder_id, player_id, other_id, together, sum(played), sum(won), 0, 0, 0, 0, 0, 0 FROM pair_months GROUP BY 1, 2, 3, 4;
	INSERT INTO tally_marks (ladder_id, player_id, month) SELECT 1 + n % 160, n, '2020-01-01' FROM generate_series(1, 20000) n;
	INSERT INTO ladder_tallies (ladder_id, week_since, week_number) SELECT id, '2020-01-01', 1 FROM ladders;
	INSERT INTO boards (chat_id) SELECT id FROM chats;
	INSERT INTO week_places SELECT ladder_id, player_id, 1 FROM group_players;
	UPDATE group_players SET last_played_at = now(), played = 9, won = 8 WHERE played > 0`

const viewedClub = ranking.ExternalChatID(-150)

// TestNoViewScansATable checks all views that this package reads, those about players for the one with the most matches, for an
// ordinary one, and for one with none.
func TestNoViewScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	dbtest.FillFast(t, plain, tallied)
	dbtest.Exec(t, plain, `VACUUM ANALYZE`)
	store := pgstats.NewStore(pool, pool)
	players := dbtest.Values[ranking.PlayerID](t, plain, `
		SELECT s.player_id FROM group_players s JOIN players p ON p.id = s.player_id
		WHERE s.ladder_id = 150 AND s.played > 0 AND p.telegram_user_id IS NOT NULL ORDER BY s.player_id`)
	idle := dbtest.Value[ranking.PlayerID](t, plain, `SELECT player_id FROM group_players WHERE ladder_id = 150 AND played = 0`)
	explained := viewsOfGroup(t, store)
	for name, p := range map[string]ranking.PlayerID{"the busiest": players[0], "an ordinary player": players[1], "an idle player": idle} {
		match := dbtest.Value[int64](t, plain, `SELECT coalesce(max(match_id), 1) FROM match_players WHERE player_id = $1 AND ladder_id = 150`, p)
		other := dbtest.Value[ranking.PlayerID](t, plain, `SELECT coalesce(max(other_id), $2) FROM pair_months WHERE ladder_id = 150 AND player_id = $1`, p, players[0])
		for _, e := range viewsOfPlayer(t, store, p, other, match, p != idle) {
			e.Name += " of " + name
			explained = append(explained, e)
		}
	}
	rec.Take()
	dbtest.MustNotScan(t, plain, &rec, explained)
}

// viewsOfGroup are the views that are about nobody.
func viewsOfGroup(t *testing.T, store *pgstats.Store) (all []dbtest.Explained) {
	since := time.Now().Add(-time.Hour)
	for name, q := range map[string]stats.RankingQuery{
		"the first page": {Page: 1}, "a late page": {Page: 6}, "a page of all": {Page: 6, All: true}, "the first places": {Places: 20},
	} {
		all = append(all, dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
			n, err := store.Ranking(ctx, viewedClub, nil, q, since)
			if len(n.Rows) != max(stats.PageRows, q.Places) || n.Total != 60 {
				t.Errorf("%s of the ranking is %+v", name, n)
			}
			return err
		}, Want: 2})
	}
	all = append(all, dbtest.Explained{Name: "the board", Run: func(ctx context.Context) error {
		n, err := store.Board(ctx, viewedClub, "board", since)
		if len(n.Rows) != stats.BoardRows || n.Rows[0].Name.Name == "" {
			t.Errorf("the board is %+v", n)
		}
		return err
	}, Want: 4})
	for name, month := range map[string]time.Time{"all time": {}, "a month": time.Date(2015, time.May, 1, 0, 0, 0, 0, time.UTC)} {
		all = append(all, dbtest.Explained{Name: "records of " + name, Run: func(ctx context.Context) error {
			n, err := store.Records(ctx, viewedClub, month)
			if n.Streak == nil || n.Streak.Value != 20 || n.Played == nil || n.Rating.Value != 1800 {
				t.Errorf("the records of %s are %+v", name, n)
			}
			return err
		}, Want: 7})
	}
	for name, at := range pagings(40) {
		all = append(all, dbtest.Explained{Name: name + " page of matches", Run: func(ctx context.Context) error {
			n, err := store.Matches(ctx, viewedClub, at)
			if len(n.Rows) != stats.PageRows {
				t.Errorf("the %s page has %d matches", name, len(n.Rows))
			}
			return err
		}, Want: statementsOf(at)})
	}
	return all
}

// viewsOfPlayer are the views about a player and another one. match is one of the player's.
func viewsOfPlayer(t *testing.T, store *pgstats.Store, p, other ranking.PlayerID, match int64, hasPlayed bool) (all []dbtest.Explained) {
	since := time.Now().Add(-time.Hour)
	who := ranking.Person{ID: ranking.UserID(p)}
	check := func(name string, want int, read func(context.Context) (shown bool, err error)) {
		all = append(all, dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
			shown, err := read(ctx)
			if shown != hasPlayed {
				t.Errorf("%s of player %d: it shows something: %t", name, p, shown)
			}
			return err
		}, Want: want})
	}
	check("the own row of a ranking", 3, func(ctx context.Context) (bool, error) {
		n, err := store.Ranking(ctx, viewedClub, &who, stats.RankingQuery{Page: 2}, since)
		return len(n.Rows) > 0 && hasPlayed, err
	})
	check("the page", 9, func(ctx context.Context) (bool, error) {
		n, err := store.Player(ctx, viewedClub, p, since)
		return n.Position > 0 && n.Total == 60 && len(n.Last) > 0 && n.Most != nil && n.Upset != nil, err
	})
	check("the standings in all groups", 1, func(ctx context.Context) (bool, error) {
		n, err := store.Standings(ctx, who, stats.MaxGroups, since)
		return len(n.Groups) > 0 && hasPlayed, err
	})
	check("the comparison", 4, func(ctx context.Context) (bool, error) {
		n, err := store.HeadToHead(ctx, viewedClub, p, other)
		return len(n.Last) > 0, err
	})
	for name, at := range pagings(match) {
		check(fmt.Sprintf("%s page of the history", name), statementsOf(at), func(ctx context.Context) (bool, error) {
			n, err := store.History(ctx, viewedClub, p, at)
			return len(n.Rows) > 0, err
		})
	}
	check("whether one has played", 1, func(ctx context.Context) (bool, error) {
		played, err := store.HavePlayed(ctx, viewedClub, []ranking.PlayerID{p})
		return played[0], err
	})
	for name, begin := range map[string]time.Time{"all time": {}, "years": time.Date(2015, time.May, 1, 0, 0, 0, 0, time.UTC)} {
		check("the chart of "+name, 3, func(ctx context.Context) (bool, error) {
			n, err := store.Ratings(ctx, viewedClub, []ranking.PlayerID{p}, begin)
			return len(n.Players[0]) > 0, err
		})
	}
	check("the chart of nothing", 3, func(ctx context.Context) (bool, error) {
		n, err := store.Ratings(ctx, viewedClub, []ranking.PlayerID{p}, since.AddDate(100, 0, 0))
		return len(n.Others) == 0 && hasPlayed, err
	})
	return all
}

// pagings are the first page, and those before and after a key.
func pagings(key int64) map[string]stats.Paging {
	return map[string]stats.Paging{"first": {}, "older": {Key: key}, "newer": {Key: key, Newer: true}}
}

// statementsOf returns the number of statements that read a page of matches.
func statementsOf(at stats.Paging) int {
	if at.Key == 0 {
		return 2
	}
	return 3
}
