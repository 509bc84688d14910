package pgranking_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestLeaders checks that players without a recent match, newcomers and players who have left are
// not among the leaders.
func TestLeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	dbtest.Exec(t, w.Pool, `UPDATE ladders SET place_matches = 5`)
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET played = 5, drawn = 4, last_played_at = '2023-11-01'`)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO players (telegram_user_id, display_name) SELECT 1000000 + n, 'x' FROM generate_series(1, 300) n`)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO group_players
		    (season_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at, left_at)
		SELECT 1, id, 'x', 1600, 1600, 1600, 5 - (id % 3 = 0)::integer, 5 - (id % 3 = 0)::integer,
		       CASE id % 3 WHEN 1 THEN '2023-09-30'::timestamptz ELSE '2023-11-01' END, CASE id % 3 WHEN 2 THEN now() END
		FROM players WHERE display_name = 'x'`)
	for limit, want := range map[int][]ladder.Leader{
		5: {{Standing: 1, Elo: 1516}, {Standing: 2, Elo: 1484}}, 1: {{Standing: 1, Elo: 1516}},
	} {
		query := ladder.LeaderQuery{At: time.Date(2023, time.November, 30, 0, 0, 0, 0, time.UTC), Limit: limit}
		snap, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, Needs: ranking.Needs{
			People: []command.Person{alice}, Result: &query,
		}})
		if diff := cmp.Diff(want, snap.Leaders); err != nil || diff != "" {
			t.Errorf("%d leaders, %v (-want +got):\n%s", limit, err, diff)
		}
	}
}

// TestLargestUpset checks that only matches of the month that are not undone can be its largest
// upset.
func TestLargestUpset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	check := func(when string, largest int) {
		t.Helper()
		month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
		upset, err := w.Store.LargestUpset(t.Context(), 1, month)
		if err != nil || upset != largest {
			t.Errorf("%s, the largest upset is %d, %v", when, upset, err)
		}
	}
	check("in a new ladder", 0)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO matches
		    (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, upset, idempotency_key)
		SELECT 1, 1, 1, 100 + n, 3, 1, 32, played_at::timestamptz, upset, n FROM (VALUES
		    (1, '2023-11-01 00:00Z', 150), (2, '2023-11-30 23:59Z', 151), (3, '2023-11-15 12:00Z', NULL),
		    (4, '2023-10-31 23:59Z', 200), (5, '2023-12-01 00:00Z', 300)) AS m (n, played_at, upset)`)
	check("with upsets", 151)
	dbtest.Exec(t, w.Pool, `UPDATE matches SET undone_at = now() WHERE number = 102`)
	check("when the largest is undone", 150)
}
