package pgranking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestPremises: a match is recorded only if what its celebration follows from is as it was read, also together with the match of
// another group, which is recorded by itself then.
func TestPremises(t *testing.T) {
	t.Parallel()
	month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
	for change, conflicts := range map[string]bool{
		"": false,
		"UPDATE group_players SET elo = elo + 1 WHERE id = 1":                               true,
		"UPDATE group_players SET left_at = now() WHERE id = 1":                             true,
		"UPDATE group_players SET played = 4, drawn = 3 WHERE id = 2":                       true,
		"UPDATE group_players SET elo = 1400 WHERE id = 3":                                  true,
		"UPDATE group_players SET elo = 1400 WHERE id = 4":                                  false, // not read
		"UPDATE player_months SET upset = 151":                                              true,
		"UPDATE player_months SET upset = 149":                                              true,
		"UPDATE player_months SET month = '2023-10-01'":                                     true,
		"UPDATE ladder_tallies SET recounting = true":                                       true,
		"INSERT INTO tally_marks (ladder_id, player_id, month) VALUES (1, 1, '2023-10-01')": true,
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob, carol, zoe)
			w.Play(t, "1", alice, bob)
			w.Play(t, "2", carol, zoe)
			dbtest.Exec(t, w.Pool, `UPDATE group_players SET played = 5, drawn = 4, elo = 1600 - id, best_elo = 1600, last_played_at = '2023-11-01'`)
			dbtest.Exec(t, w.Pool, `DELETE FROM tally_marks`)
			dbtest.Exec(t, w.Pool, `INSERT INTO ladder_tallies (ladder_id) VALUES (1)`)
			dbtest.Exec(t, w.Pool, `
				INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match, upset, upset_match)
				VALUES (1, 1, '2023-11-01', 1, 1, 0, 0, 1600, 1, 150, 1)`)
			c := dbtest.Match(w.Read(t, alice, bob), "celebrates")
			c.Premises = ranking.Premises{
				Leaders: &ranking.Leaders{
					LeaderQuery: ranking.LeaderQuery{ActiveSince: month.Add(-time.Hour), Limit: 3}, Found: []ranking.Leader{{Standing: 1, Elo: 1599}, {Standing: 2, Elo: 1598}, {Standing: 3, Elo: 1597}},
				},
				Upset: &ranking.MonthUpset{Month: month, Known: true, Largest: 150},
			}
			if change != "" {
				dbtest.Exec(t, w.Pool, change)
			}
			err := w.Store.Apply(t.Context(), c)
			if got := errors.Is(err, ranking.ErrConflict); got != conflicts || err != nil && !got {
				t.Errorf("a conflict: %t (%v), want %t", got, err, conflicts)
			}
		})
	}
}

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
	plan := strings.Join(dbtest.Values[string](t, w.Pool, `EXPLAIN `+pgranking.Leaders, 1, time.Unix(0, 0), 5), "\n")
	if !strings.Contains(plan, "group_players_ranking_idx") || strings.Contains(plan, "Sort") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestPremisesOfNobody: a new ladder has no leaders and no upsets.
func TestPremisesOfNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
	upset, err := w.Store.LargestUpset(t.Context(), 1, month)
	if want := (ranking.MonthUpset{Month: month, Known: true}); err != nil || upset != want {
		t.Errorf("the largest upset is %+v, %v", upset, err)
	}
	q := ranking.LeaderQuery{ActiveSince: month, Limit: 5}
	snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: club, People: []ranking.Person{alice, bob}, Leaders: q})
	if err != nil || len(snap.Leaders) > 0 {
		t.Fatal(fmt.Sprint(snap.Leaders, err))
	}
	c := dbtest.Match(snap, "k")
	c.Premises = ranking.Premises{Leaders: &ranking.Leaders{LeaderQuery: q}, Upset: &upset}
	if err := w.Store.Apply(t.Context(), c); err != nil {
		t.Error(err)
	}
}
