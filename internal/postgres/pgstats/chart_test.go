package pgstats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// The ratings of a chart are those of matches that count, as they are now. Each course begins with the rating before.
func TestRatings(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	dbtest.Exec(t, w.Pool, `UPDATE matches SET played_at = played_at + number * interval '1 day'`)
	at := func(number int) time.Time { return played.AddDate(0, 0, number) }
	read := func(since time.Time, players ...ranking.PlayerID) stats.Ratings {
		t.Helper()
		r, err := store.Ratings(t.Context(), dbtest.Club.ID, players, since)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	rated := func(day, match, elo int) stats.Rating { return stats.Rating{At: at(day), Match: match, Elo: elo} }
	alices := []stats.Rating{rated(1, 0, 1500), rated(1, 1, 1516), rated(3, 3, 1548), rated(4, 4, 1564)}
	carols := []stats.Rating{rated(4, 3, 1500), rated(4, 4, 1484)}
	bobs := []stats.Rating{rated(1, 0, 1500), rated(1, 1, 1484), rated(3, 3, 1452)}
	nobody := w.ID(t, "Zoe")
	for name, tc := range map[string]struct {
		got, want stats.Ratings
	}{
		"all time": {read(time.Time{}, carol, alice), stats.Ratings{Players: [][]stats.Rating{carols, alices}, Others: [][]stats.Rating{bobs}}},
		"who has not played": {read(at(3), nobody), stats.Ratings{
			Players: [][]stats.Rating{nil}, Others: [][]stats.Rating{{rated(4, 3, 1548), rated(4, 4, 1564)}, carols}}},
		"nothing": {read(at(4), alice), stats.Ratings{Players: [][]stats.Rating{nil}}},
	} {
		tc.want.Title = "Club"
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	dbtest.Exec(t, w.Pool, `UPDATE players SET merged_into = $1, telegram_user_id = NULL, username = NULL WHERE id = $2`, bob, nobody)
	if got := read(time.Time{}, nobody); cmp.Diff(bobs, got.Players[0]) != "" {
		t.Errorf("of a merged player: %+v", got)
	}
	got, err := store.HavePlayed(t.Context(), dbtest.Club.ID, []ranking.PlayerID{nobody, carol, 999, bob})
	if diff := cmp.Diff([]bool{true, true, false, true}, got); diff != "" || err != nil {
		t.Errorf("who has played: %v (-want +got):\n%s", err, diff)
	}
}

// A chart of very many matches shows the last ones, some of the earlier ones from the first one on, and the best ratings.
func TestRatingsAreLimited(t *testing.T) {
	t.Parallel()
	w, store, alice, _, _ := crowd(t)
	const matches, best = stats.ChartedMatches + 1, 1234
	dbtest.FillFast(t, w.Pool, fmt.Sprintf(`
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT g.id, l.id, 1000 + n, 1, 0, 32, timestamptz '2030-01-01 00:00Z' + n * interval '1 minute', 'x:' || n
		    FROM groups g JOIN ladders l ON l.group_id = g.id, generate_series(1, %d) n;
		INSERT INTO match_players (match_id, player_id, ladder_id, played_at, side)
		    SELECT m.id, p.id, m.ladder_id, m.played_at, p.side FROM matches m,
		        (SELECT min(id) AS id, 1 AS side FROM players UNION ALL SELECT max(id), 2 FROM players) p WHERE m.number > 1000;
		INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, reason)
		    SELECT match_id, player_id, m.number - 1, m.number, 32, 9999, 0, 'match' FROM match_players JOIN matches m ON m.id = match_id WHERE m.number > 1000;
		INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match)
		    SELECT m.ladder_id, p.id, '2030-01-01', 1, 1, 0, 0, 1500, m.id FROM matches m, (SELECT min(id) AS id FROM players) p WHERE number = %d`,
		matches, best))
	numbers := func(since time.Time) (all []int) {
		t.Helper()
		r, err := store.Ratings(t.Context(), dbtest.Club.ID, []ranking.PlayerID{alice}, since)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Players[0][1:] {
			if p.Elo != p.Match {
				t.Fatalf("the rating after match %d is %d", p.Match, p.Elo)
			}
			all = append(all, p.Match)
		}
		return all
	}
	begin := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	some := numbers(begin)
	if most := stats.RecentlyCharted + 2*stats.ChartedMoments + 3; len(some) < stats.RecentlyCharted+stats.ChartedMoments || len(some) > most {
		t.Errorf("%d of %d matches", len(some), matches)
	}
	if some[0] != 1001 || !slices.Contains(some, best) || !slices.IsSorted(some) {
		t.Errorf("matches %d, of the best rating: %t", some, slices.Contains(some, best))
	}
	if last := some[len(some)-stats.RecentlyCharted]; last != 1000+matches-stats.RecentlyCharted+1 {
		t.Errorf("the last matches begin with %d", last)
	}
	if all := numbers(begin.Add(time.Minute)); len(all) != stats.ChartedMatches || all[0] != 1002 {
		t.Errorf("%d matches of as many as a chart shows completely", len(all))
	}
}
