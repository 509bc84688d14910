package pgstats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// played is the time of the matches of crowd.
var played = time.Unix(1_700_000_000, 0).UTC()

// crowd returns a world in which Alice has beaten Bob in matches 1 to 3 and Carol in match 4. Match
// 2 is undone.
func crowd(t *testing.T) (w *dbtest.World, store *pgstats.Store, alice, bob, carol ladder.PlayerID) {
	t.Helper()
	w = dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob, dbtest.Carol, dbtest.Zoe)
	for i, loser := range []command.Person{dbtest.Bob, dbtest.Bob, dbtest.Bob, dbtest.Carol} {
		w.Play(t, fmt.Sprint(i+1), dbtest.Alice, loser)
	}
	dbtest.Exec(t, w.Pool, `UPDATE matches SET undone_at = now() WHERE number = 2`)
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET last_played_at = $1`, played)
	return w, pgstats.NewStore(w.Pool, w.Pool), w.ID(t, "Alice"), w.ID(t, "Bob"), w.ID(t, "Carol")
}

func TestPlayer(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	zoe := w.ID(t, "Zoe")
	read := func(p ladder.PlayerID) stats.PlayerStanding {
		t.Helper()
		h, err := store.Player(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
			p, played.AddDate(0, 0, 60).Add(-time.Hour))
		dbtest.Must(t, err)
		return h.View()
	}
	name := func(p ladder.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	last := func(number int, against ladder.PlayerID) stats.PlayedMatch {
		return stats.PlayedMatch{
			MatchRef: stats.MatchRef{Number: number, At: played},
			Against:  []ranking.Name{name(against)}, Score: [2]int{3, 1}, Change: 16,
		}
	}
	want := stats.PlayerStanding{
		Name: name(alice), PlaceMatches: 3, Elo: 1564, Best: 1564, Won: 4, Streak: 4, Form: "www",
		Last: []stats.PlayedMatch{last(4, carol), last(3, bob), last(1, bob)}, BestIn: &stats.MatchRef{Number: 4, At: played},
		Most: &stats.Pairing{With: name(bob), Played: 2, Won: 2},
	}
	dbtest.Equal(t, "a player", want, read(alice))
	dbtest.Equal(t, "somebody who does not play", stats.PlayerStanding{}, read(zoe))
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET start_elo = 1564 WHERE player_id = $1`, alice)
	want.BestIn = nil // the best rating predates every match
	dbtest.Exec(t, w.Pool, `
		UPDATE players SET telegram_user_id = NULL, username = NULL, merged_into = $1 WHERE id = $2`, alice, zoe)
	dbtest.Equal(t, "of an old button", want, read(zoe))
}

// TestPlaces checks that newcomers, players who have left, and inactive players have no place.
// Equal ratings share a place. Places exist only if at least three players qualify for one.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w, store, alice, _, _ := crowd(t)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, played, won, left_at, last_played_at)
		SELECT (SELECT min(id) FROM ladders), $2, 'X', 1700, 1500, 1700, 9, 9, NULL, $1`, played, w.ID(t, "Zoe"))
	for _, tc := range []struct {
		sql             string
		position, total int
		inactive        bool
	}{
		{`UPDATE ladders SET place_matches = 4 WHERE $1 > 0`, 0, 0, false}, // Bob has played 3
		{`UPDATE ladders SET place_matches = 3 WHERE $1 > 0`, 2, 3, false},
		{`UPDATE group_players SET elo = 1700, best_elo = 1700 WHERE player_id = $1`, 1, 3, false},
		{`UPDATE group_players SET played = 2, won = 2, streak = 2, longest_streak = 2 WHERE player_id = $1`, 0, 0, false},
		{`UPDATE group_players SET played = 4, won = 4 WHERE player_id = $1`, 1, 3, false},
		{`UPDATE group_players SET left_at = now() WHERE name = 'X' AND $1 > 0`, 0, 0, false},
		{`UPDATE group_players SET played = 3, won = 3 - lost WHERE name = 'Carol' AND $1 > 0`, 1, 3, false},
		{`UPDATE group_players SET left_at = NULL, last_played_at = last_played_at - interval '1 day' WHERE name = 'X' AND $1 > 0`, 1, 3, false},
		{`UPDATE group_players SET last_played_at = last_played_at - interval '1 day' WHERE player_id = $1`, 0, 0, true},
	} {
		dbtest.Exec(t, w.Pool, tc.sql, alice)
		h, err := store.Player(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
			alice, played.AddDate(0, 0, 60).Add(-time.Hour))
		n := h.Standing
		if err != nil || n.Position != tc.position || n.Total != tc.total || n.Inactive != tc.inactive {
			t.Errorf("%s: %+v, %v", tc.sql, n, err)
		}
		all, err := store.Standings(t.Context(), dbtest.Alice, 20, played.AddDate(0, 0, 60).Add(-time.Hour))
		if err != nil || len(all.Groups) != 1 || all.Groups[0].Position != tc.position || all.Groups[0].Total != tc.total {
			t.Errorf("%s: %+v, %v", tc.sql, all, err)
		}
	}
}

func TestHeadToHead(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	read := func(a, b ladder.PlayerID) stats.HeadToHead {
		t.Helper()
		n, meetings, err := store.HeadToHead(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), a, b)
		dbtest.Must(t, err)
		n.Meet(meetings)
		return n
	}
	name := func(p ladder.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	last := func(number, own, other, change int) stats.PlayedMatch {
		return stats.PlayedMatch{
			MatchRef: stats.MatchRef{Number: number, At: played}, Score: [2]int{own, other}, Change: change,
		}
	}
	want := stats.HeadToHead{
		A: name(alice), B: name(bob), Won: 2, For: 6, Against: 2, Gained: 32, Ratings: [2]int{1564, 1452},
		Last: []stats.PlayedMatch{last(3, 3, 1, 16), last(1, 3, 1, 16)},
	}
	dbtest.Equal(t, "Alice against Bob", want, read(alice, bob))
	want = stats.HeadToHead{
		A: name(bob), B: name(alice), Lost: 2, For: 2, Against: 6, Gained: -32, Ratings: [2]int{1452, 1564},
		Last: []stats.PlayedMatch{last(3, 1, 3, -16), last(1, 1, 3, -16)},
	}
	dbtest.Equal(t, "Bob against Alice", want, read(bob, alice))
	want = stats.HeadToHead{A: name(bob), B: name(carol), Ratings: [2]int{1452, 1484}}
	dbtest.Equal(t, "those who have never met", want, read(bob, carol), cmpopts.EquateEmpty())
	if n := read(alice, w.ID(t, "Zoe")); n.Stranger.Player != w.ID(t, "Zoe") {
		t.Errorf("somebody who does not play: %+v", n)
	}
	// In match 3, Carol joins Bob; in match 4, Bob joins Alice.
	dbtest.Exec(t, w.Pool, `
		INSERT INTO match_players (match_id, player_id, side, place)
		SELECT id, CASE number WHEN 3 THEN $1::bigint ELSE $2::bigint END, CASE number WHEN 3 THEN 2 ELSE 1 END, 2
		FROM matches WHERE number IN (3, 4)`,
		carol, bob)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO elo_history
		    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		SELECT match_id, player_id, 1500, 1500, 32, 1500, 0, 0, 'match' FROM match_players ON CONFLICT DO NOTHING`)
	if n := read(alice, bob); len(n.Last) != 2 || n.Last[0].Number != 3 || n.Last[1].Number != 1 ||
		!n.Last[0].Teams || n.Last[1].Teams || n.Won != 1 || n.InTeams != [3]int{1, 0, 0} || n.Met() != 2 {
		t.Errorf("in teams: %+v", n)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
	read := func() stats.Records {
		t.Helper()
		n, err := store.Records(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), month)
		dbtest.Must(t, err)
		return n
	}
	name := func(p ladder.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	record := func(p ladder.PlayerID, value, number int) *stats.Record {
		return &stats.Record{Name: name(p), Value: value, In: &stats.MatchRef{Number: number, At: played}}
	}
	want := stats.Records{
		Streak: record(alice, 4, 4), Rating: record(alice, 1564, 4), Played: &stats.Record{Name: name(alice), Value: 4},
	}
	dbtest.Equal(t, "of all time", want, read())
	// Of equal upsets, the first match has the record. Carol has won match 3 together with Bob.
	dbtest.Exec(t, w.Pool, `
		UPDATE matches SET upset = CASE number WHEN 1 THEN 100 ELSE 120 END, score_a = 0 WHERE number <> 2`)
	dbtest.Exec(t, w.Pool, `INSERT INTO match_players (match_id, player_id, side, place)
		SELECT id, $1, 2, 2 FROM matches WHERE number = 3`, carol)
	want.Streak, want.Upset = nil, &stats.UpsetBy{Name: name(min(bob, carol)), Upset: stats.Upset{
		MatchRef: stats.MatchRef{Number: 3, At: played}, By: 120, Beaten: []ranking.Name{name(alice)},
	}}
	dbtest.Equal(t, "with upsets", want, read())
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET start_elo = best_elo`)
	if n := read(); n.Rating != nil {
		t.Errorf("the rating with which somebody began is a record: %+v", n.Rating)
	}
	if matches, err := store.MatchesOf(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
		played, played.Add(time.Second)); err != nil || len(matches) != 2 {
		t.Errorf("with an entry missing in the history, the matches are %+v, %v", matches, err)
	}
	dbtest.Exec(t, w.Pool, `
		INSERT INTO elo_history
		    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		SELECT id, $1, 1500, 1516, 32, 1500, 0, 0, 'match' FROM matches WHERE number = 3`, carol)
	matches, err := store.MatchesOf(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), played, played.Add(time.Second))
	if err != nil || len(matches) != 3 || matches[2].Number != 4 {
		t.Errorf("the matches of a second are %+v, %v", matches, err)
	}
	for _, begin := range []time.Time{played.Add(-time.Second), played.Add(time.Second)} {
		if matches, err = store.MatchesOf(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
			begin, begin.Add(time.Second)); err != nil || len(matches) > 0 {
			t.Errorf("the matches of another second are %+v, %v", matches, err)
		}
	}
}
