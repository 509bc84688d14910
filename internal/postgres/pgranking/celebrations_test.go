package pgranking_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestLeadersAmongTheInactive: only so many who have not played lately are passed over.
func TestLeadersAmongTheInactive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET played = 5, drawn = 4, last_played_at = '2023-11-01'`)
	since := time.Date(2023, time.October, 1, 0, 0, 0, 0, time.UTC)
	for i, tc := range []struct {
		added int
		want  []ranking.Leader
	}{
		{198, []ranking.Leader{{Standing: 1, Elo: 1516}, {Standing: 2, Elo: 1484}, {}}}, // there may be more after these
		{1, []ranking.Leader{{Standing: 1, Elo: 1516}, {}}},
		{1, []ranking.Leader{{}}},
	} {
		dbtest.Exec(t, w.Pool, `INSERT INTO players (telegram_user_id, display_name) SELECT 1000000 * $1::int + n, 'x' FROM generate_series(1, $2::int) n`, i+1, tc.added)
		dbtest.Exec(t, w.Pool, `
			INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at)
			SELECT 1, id, 'x', 1600, 1600, 1600, 5, 5, '2023-09-30' FROM players p
			WHERE display_name = 'x' AND NOT EXISTS (SELECT FROM group_players s WHERE s.player_id = p.id)`)
		snap, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, People: []ranking.Person{alice}, Leaders: ranking.LeaderQuery{ActiveSince: since, Limit: 5}})
		if diff := cmp.Diff(tc.want, snap.Leaders); err != nil || diff != "" {
			t.Errorf("leaders, %v (-want +got):\n%s", err, diff)
		}
	}
}

// TestLeadersOfManyPlayers: only the top of a ranking is read, in the order of its index.
func TestLeadersOfManyPlayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	dbtest.Exec(t, w.Pool, `INSERT INTO players (telegram_user_id, display_name) SELECT 1000000 + n, 'x' FROM generate_series(1, 3000) n`)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at)
		SELECT 1, id, 'x', 1000 + id % 500, 1500, 1500, 5, 5, '2023-11-01' FROM players WHERE display_name = 'x'`)
	dbtest.Exec(t, w.Pool, `ANALYZE group_players`)
	plan := strings.Join(dbtest.Values[string](t, w.Pool, `EXPLAIN `+pgranking.Leaders, 1, "", "", time.Unix(0, 0), 5), "\n")
	if !strings.Contains(plan, "group_players_ranking_idx") || strings.Contains(plan, "Sort") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestLargestUpset: what the largest upset of a month is, and whether the tallies have all of the ladder.
func TestLargestUpset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	check := func(when string, known bool, largest int) {
		t.Helper()
		month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
		upset, err := w.Store.LargestUpset(t.Context(), 1, month)
		if want := (ranking.MonthUpset{Known: known, Largest: largest}); err != nil || upset != want {
			t.Errorf("%s, the largest upset is %+v, %v", when, upset, err)
		}
	}
	check("in a new ladder", true, 0)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match, upset, upset_match)
		SELECT 1, id, '2023-11-01'::date, 1, 1, 0, 0, 1600, 1, 149 + id, 1 FROM players
		UNION ALL SELECT 1, 1, '2023-10-01', 1, 1, 0, 0, 1600, 1, 200, 1`)
	check("with upsets", true, 151)
	dbtest.Exec(t, w.Pool, `INSERT INTO tally_marks (ladder_id, player_id, month) VALUES (1, 1, '2023-10-01')`)
	check("with a mark", false, 151)
	dbtest.Exec(t, w.Pool, `DELETE FROM tally_marks; INSERT INTO ladder_tallies (ladder_id, recounting) VALUES (1, true)`)
	check("while it is counted again", false, 151)
}
