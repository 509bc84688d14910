package pgranking_test

import (
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestMergeInTeams checks that a match in which both players of a merge play on the same side is
// undone, and keeps both. In other matches, the remaining player replaces the merged player.
func TestMergeInTeams(t *testing.T) {
	t.Parallel()
	type teams [2][]command.Person
	record := func(w *world, key string, m teams) {
		t.Helper()
		report := command.Match{A: m[0], B: m[1], Scores: []ladder.Score{{A: 11, B: 7}, {A: 7, B: 11}, {A: 11, B: 8}}}
		dbtest.Must(t, dbtest.Service(w.Store).Do(t.Context(), dbtest.By(key, bob), dbtest.Reported(report)))
	}
	w, as := newWorld(t, alice, bob, carol, zoe), newWorld(t, alice, bob, carol, zoe)
	record(w, "1", teams{{al, bob}, {carol, zoe}})
	record(as, "1", teams{{alice, bob}, {carol, zoe}})
	record(w, "2", teams{{al, alice}, {bob, carol}})
	record(w, "3", teams{{zoe, alice}, {bob, carol}})
	record(as, "3", teams{{zoe, alice}, {bob, carol}})
	w.Answer(t, "m", renamed)
	dbtest.Equal(t, "standings, as of one player from the beginning", dbtest.Values[string](t, as.Pool, standings),
		dbtest.Values[string](t, w.Pool, standings))
	w.mustYield(t, `
		SELECT concat_ws(' ', number, undone_at IS NOT NULL, side, string_agg(display_name, ' ' ORDER BY display_name))
		FROM matches m JOIN match_players mp ON match_id = m.id JOIN players p ON p.id = player_id
		GROUP BY number, undone_at, side ORDER BY number, side`,
		"1 f 1 Alice Bob", "1 f 2 Carol Zoe", "2 t 1 Alice al", "2 t 2 Bob Carol", "3 f 1 Alice Zoe", "3 f 2 Bob Carol")
	w.mustYield(t, `
		SELECT concat_ws(' ', number, count(*), count(DISTINCT h.player_id))
		FROM elo_history h JOIN matches m ON m.id = match_id
		WHERE superseded_at = 'infinity' GROUP BY number ORDER BY number`, "1 4 4", "3 4 4")
}

// TestMergeWhereOneHasOnlyJoined checks that a player who has only joined a ladder can be merged
// with a player who has matches in it.
func TestMergeWhereOneHasOnlyJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	dbtest.Must(t, dbtest.Service(w.Store).Do(t.Context(), dbtest.By("j", alice), ranking.Join{}))
	// Pretend that the ladder had another start_elo when Alice joined.
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET elo = 1000, start_elo = 1000, best_elo = 1000`)
	w.Record(t, "1", al, bob, 3, 1)
	w.Answer(t, "m", renamed)
	// Bob loses 30, as for a win of 1000 against 1500. A win of 1500 against 1000 would be worth 2.
	w.mustYield(t, standings, "Club Alice Alice 1030 1000 1030 1 1 0 0 1", "Club Bob Bob 1470 1500 1500 1 0 0 1 -1")
	w.mustYield(t, `SELECT count(*)::text FROM sightings WHERE counts_as IS NOT NULL`, "1")
}
