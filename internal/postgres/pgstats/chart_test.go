package pgstats_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/stats"
)

// TestRatings checks that a chart shows the ratings after the matches that are not undone. Each
// series begins with the rating before its first match.
func TestRatings(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	dbtest.Exec(t, w.Pool, `UPDATE matches SET played_at = played_at + number * interval '1 day'`)
	at := func(number int) time.Time { return played.AddDate(0, 0, number) }
	read := func(since time.Time, players ...ladder.PlayerID) stats.Ratings {
		t.Helper()
		r, err := store.Ratings(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), players, since)
		dbtest.Must(t, err)
		return r
	}
	rated := func(day, match, elo int) stats.Rating { return stats.Rating{At: at(day), Match: match, Elo: elo} }
	alices := []stats.Rating{rated(1, 0, 1500), rated(1, 1, 1516), rated(3, 3, 1548), rated(4, 4, 1564)}
	carols := []stats.Rating{rated(4, 3, 1500), rated(4, 4, 1484)}
	bobs := []stats.Rating{rated(1, 0, 1500), rated(1, 1, 1484), rated(3, 3, 1452)}
	nobody := w.ID(t, "Zoe")
	elos := func(elos ...int) (all []*int) {
		for _, elo := range elos {
			all = append(all, &elo)
		}
		return all
	}
	for name, tc := range map[string]struct {
		got, want stats.Ratings
	}{
		"all time": {read(time.Time{}, carol, alice), stats.Ratings{
			Players: [][]stats.Rating{carols, alices}, Elos: elos(1484, 1564), Others: [][]stats.Rating{bobs}}},
		"who has not played": {read(at(3), nobody), stats.Ratings{
			Players: [][]stats.Rating{nil}, Elos: []*int{nil},
			Others: [][]stats.Rating{{rated(4, 3, 1548), rated(4, 4, 1564)}, carols}}},
		"nothing": {read(at(4), alice), stats.Ratings{Players: [][]stats.Rating{nil}, Elos: elos(1564)}},
	} {
		tc.want.Title = "Club"
		dbtest.Equal(t, name, tc.want, tc.got)
	}
	dbtest.Exec(t, w.Pool, `
		UPDATE players SET merged_into = $1, telegram_user_id = NULL, username = NULL WHERE id = $2`, bob, nobody)
	if got := read(time.Time{}, nobody); cmp.Diff(bobs, got.Players[0]) != "" || *got.Elos[0] != 1452 {
		t.Errorf("of a merged player: %+v", got)
	}
	got, err := store.HavePlayed(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
		[]ladder.PlayerID{nobody, carol, 999, bob})
	if diff := cmp.Diff([]bool{true, true, false, true}, got); diff != "" || err != nil {
		t.Errorf("who has played: %v (-want +got):\n%s", err, diff)
	}
}

// TestRatingsAreLimited checks that the chart of a ladder with very many matches shows only the
// last matches.
func TestRatingsAreLimited(t *testing.T) {
	t.Parallel()
	w, store, alice, _, _ := crowd(t)
	const matches = stats.ChartedMatches + 10
	dbtest.FillFast(t, w.Pool, `
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT g.id, l.id, l.id, 1000 + n, 1, 0, 32, now() + n * interval '1 minute', 'x:' || n
		    FROM groups g JOIN ladders l ON l.group_id = g.id, generate_series(1, 20010) n;
		INSERT INTO match_players (match_id, player_id, side)
		    SELECT m.id, p.id, p.side FROM matches m,
		        (SELECT min(id) AS id, 1 AS side FROM players UNION ALL SELECT max(id), 2 FROM players) p
		        WHERE m.number > 1000;
		INSERT INTO elo_history
		    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		    SELECT match_id, player_id, 1500, 1500, 32, 1500, 0, 0, 'match'
		    FROM match_players JOIN matches m ON m.id = match_id WHERE m.number > 1000`)
	begun := time.Now()
	r, err := store.Ratings(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), []ladder.PlayerID{alice}, time.Time{})
	dbtest.Must(t, err)
	t.Logf("read in %v", time.Since(begun))
	total, first := 0, matches
	for _, points := range append(r.Players, r.Others...) {
		total += max(0, len(points)-1)
		if len(points) > 1 {
			first = min(first, points[1].Match)
		}
	}
	if total != 2*stats.ChartedMatches || first != 1000+11 {
		t.Errorf("%d ratings from match %d on", total, first)
	}
}
