package pgranking_test

import (
	"context"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
)

// counted fills the tallies of all ladders. In ladder 150, 100 players have played in each of 120 months, and one against 10,000 others.
const counted = `
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
	    SELECT 150, heavy, n, false, 10, 4, 1, 5, 0, 0, 0, n % 77 * 100 - 3000 FROM generate_series(100001, 110000) n,
	        (SELECT min(player_id) AS heavy FROM group_players WHERE ladder_id = 150) AS one;
	INSERT INTO pair_totals (ladder_id, player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus)
	    SELECT ladder_id, player_id, other_id, together, played, won, drawn, lost, 0, 0, 0, 0 FROM pair_months;
	INSERT INTO tally_marks (ladder_id, player_id, month) SELECT 1 + n % 160, n, '2020-01-01' FROM generate_series(1, 20000) n;
	INSERT INTO ladder_tallies (ladder_id) SELECT id FROM ladders;
	UPDATE group_players SET last_played_at = now(), played = 9, won = 8 WHERE played > 0`

// TestNoQuestionScansATable checks the views about players, for one with many matches and for one with none.
func TestNoQuestionScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	dbtest.FillFast(t, plain, counted)
	dbtest.Exec(t, plain, `VACUUM ANALYZE`)
	store := pgstats.NewStore(pool, pool)
	const club = -150
	players := dbtest.Values[ranking.PlayerID](t, plain, `SELECT player_id FROM group_players WHERE ladder_id = 150 ORDER BY player_id`)
	idle := dbtest.Value[ranking.PlayerID](t, plain, `SELECT max(player_id) FROM group_players WHERE ladder_id > 160`)
	since := time.Now().Add(-time.Hour)
	var explained []dbtest.Explained
	for name, p := range map[string]ranking.PlayerID{"a player": players[0], "an idle player": idle} {
		explained = append(explained,
			dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
				n, err := store.Player(ctx, club, p, since)
				if p == players[0] && (n.Position == 0 || n.Total != 60 || len(n.Last) == 0 || n.Hardest == nil || n.Upset == nil) {
					t.Errorf("read %+v", n)
				}
				return err
			}, Want: 9},
			dbtest.Explained{Name: name + " against another one", Run: func(ctx context.Context) error {
				other := dbtest.Value[ranking.PlayerID](t, plain, `
					SELECT coalesce(max(other_id), $1 + 1) FROM pair_months WHERE ladder_id = 150 AND player_id = $1`, p)
				n, err := store.HeadToHead(ctx, club, p, other)
				if p == players[0] && len(n.Last) == 0 {
					t.Errorf("read %+v", n)
				}
				return err
			}, Want: 4})
	}
	for name, month := range map[string]time.Time{"all time": {}, "a month": time.Date(2015, time.May, 1, 0, 0, 0, 0, time.UTC)} {
		explained = append(explained, dbtest.Explained{Name: "records of " + name, Run: func(ctx context.Context) error {
			n, err := store.Records(ctx, club, month)
			if n.Streak == nil || n.Streak.Value != 20 || n.Played == nil || n.Rating.Value != 1800 {
				t.Errorf("read %+v", n)
			}
			return err
		}, Want: 7})
	}
	for name, since := range map[string]time.Time{"all time": {}, "the last years": time.Date(2015, time.May, 1, 0, 0, 0, 0, time.UTC), "nothing": time.Now().AddDate(100, 0, 0)} {
		explained = append(explained, dbtest.Explained{Name: "chart of " + name, Run: func(ctx context.Context) error {
			n, err := store.Ratings(ctx, club, players[:4], since)
			if (len(n.Players[0]) > 0 && len(n.Others) > 0) != (name != "nothing") {
				t.Errorf("%s: %d ratings, %d others", name, len(n.Players[0]), len(n.Others))
			}
			return err
		}, Want: 3})
	}
	explained = append(explained, dbtest.Explained{Name: "who has played", Run: func(ctx context.Context) error {
		_, err := store.HavePlayed(ctx, club, []ranking.PlayerID{players[0], idle})
		return err
	}, Want: 1})
	dbtest.MustNotScan(t, plain, &rec, explained)
}
