package pgstats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// played is when the matches of the world were played.
var played = time.Unix(1_700_000_000, 0).UTC()

// crowd is a world in which Alice has beaten Bob in the matches 1 to 3, and Carol in match 4. Match 2 is undone.
func crowd(t *testing.T) (w *dbtest.World, store *pgstats.Store, alice, bob, carol ranking.PlayerID) {
	t.Helper()
	w = dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob, dbtest.Carol, dbtest.Zoe)
	for i, loser := range []ranking.Person{dbtest.Bob, dbtest.Bob, dbtest.Bob, dbtest.Carol} {
		w.Play(t, fmt.Sprint(i+1), dbtest.Alice, loser)
	}
	dbtest.Exec(t, w.Pool, `UPDATE matches SET undone_at = now() WHERE number = 2`)
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET last_played_at = $1`, played)
	dbtest.Exec(t, w.Pool, `DELETE FROM tally_marks`)
	return w, pgstats.NewStore(w.Pool, w.Pool), w.ID(t, "Alice"), w.ID(t, "Bob"), w.ID(t, "Carol")
}

// count stores tallies, as the leader does, from rows of SQL values; $1 to $3 are Alice, Bob and Carol, and match(n) is the id of match n.
func count(t *testing.T, w *dbtest.World, table, columns, values string) {
	t.Helper()
	var old []string
	for i, name := range []string{"Alice", "Bob", "Carol"} {
		old = append(old, fmt.Sprintf("$%d", i+1), fmt.Sprint(w.ID(t, name)))
	}
	for number := 1; number <= 4; number++ {
		id := dbtest.Value[int64](t, w.Pool, `SELECT id FROM matches WHERE number = $1`, number)
		old = append(old, fmt.Sprintf("match(%d)", number), fmt.Sprint(id))
	}
	values = strings.NewReplacer(old...).Replace(values)
	dbtest.Exec(t, w.Pool, fmt.Sprintf(`INSERT INTO %s (ladder_id, %s) SELECT (SELECT min(id) FROM ladders), v.* FROM (VALUES %s) AS v`, table, columns, values))
}

func TestPlayer(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	zoe := w.ID(t, "Zoe")
	read := func(p ranking.PlayerID) stats.MyStanding {
		t.Helper()
		n, err := store.Player(t.Context(), dbtest.Club.ID, p, played.Add(-time.Hour))
		dbtest.Must(t, err)
		return n
	}
	name := func(p ranking.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	last := func(number int, against ranking.PlayerID) stats.PlayedMatch {
		return stats.PlayedMatch{
			MatchRef: stats.MatchRef{Number: number, At: played}, Against: []ranking.Name{name(against)}, Score: [2]int{3, 1}, Change: 16,
		}
	}
	want := stats.MyStanding{
		Name: name(alice), Elo: 1564, Best: 1564, Won: 4, Streak: 4, Form: "www",
		Last: []stats.PlayedMatch{last(4, carol), last(3, bob), last(1, bob)},
	}
	if diff := cmp.Diff(want, read(alice)); diff != "" {
		t.Errorf("without tallies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stats.MyStanding{}, read(zoe)); diff != "" {
		t.Errorf("somebody who does not play (-want +got):\n%s", diff)
	}
	count(t, w, "player_months", "player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match, upset, upset_match", `
		($1, date '2023-10-01', 1, 1, 0, 0, 1500, match(1), 1, match(1), 40, match(1)),
		($1, '2023-11-01', 2, 2, 0, 0, 1564, match(4), 3, match(4), 40, match(4)),
		($1, '2023-12-01', 1, 1, 0, 0, 1564, match(3), 4, match(3), NULL, NULL)`)
	count(t, w, "pair_totals", "player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus", `
		($1, $2, false, 6, 4, 0, 2, 20, 15, 30, 6000), ($1, $3, false, 5, 1, 0, 4, 9, 15, -20, -5100), ($1, 901, false, 4, 4, 0, 0, 12, 0, 30, 20000),
		($1, 902, false, 8, 4, 0, 4, 9, 9, 0, 0), ($1, 903, false, 5, 5, 0, 0, 9, 9, 0, 5001), ($1, 904, false, 8, 0, 0, 8, 9, 9, 0, -8000),
		($1, $2, true, 5, 3, 0, 2, 9, 9, 0, 100), ($1, $3, true, 50, 20, 0, 30, 9, 9, 0, -100), ($2, $1, false, 6, 2, 0, 4, 15, 20, -30, -6000)`)
	want.BestIn = &stats.MatchRef{Number: 4, At: played}
	want.Upset = &stats.Upset{MatchRef: stats.MatchRef{Number: 1, At: played}, By: 40, Beaten: []ranking.Name{name(bob)}}
	want.Most = &stats.Pairing{With: name(902), Played: 8, Won: 4, Lost: 4}
	want.Favourite = &stats.Pairing{With: name(903), Played: 5, Won: 5}
	want.Hardest = &stats.Pairing{With: name(carol), Played: 5, Won: 1, Lost: 4}
	want.Partner = &stats.Pairing{With: name(bob), Played: 5, Won: 3, Lost: 2}
	if diff := cmp.Diff(want, read(alice)); diff != "" {
		t.Errorf("with tallies (-want +got):\n%s", diff)
	}
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET start_elo = 1564 WHERE player_id = $1`, alice)
	want.BestIn = nil // the best rating was there before any match
	dbtest.Exec(t, w.Pool, `UPDATE players SET telegram_user_id = NULL, username = NULL, merged_into = $1 WHERE id = $2`, alice, zoe)
	if diff := cmp.Diff(want, read(zoe)); diff != "" {
		t.Errorf("of an old button (-want +got):\n%s", diff)
	}
}

// TestPlaces: newcomers, those who left and those who do not play have no place; equal ratings share one.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w, store, alice, _, _ := crowd(t)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, left_at, last_played_at)
		SELECT (SELECT min(id) FROM ladders), $2, 'X', 1700, 1500, 1700, 9, 9, NULL, $1`, played, w.ID(t, "Zoe"))
	for _, tc := range []struct {
		sql             string
		position, total int
		inactive        bool
	}{
		{`UPDATE group_players SET played = 4 WHERE player_id = $1`, 0, 0, false},
		{`UPDATE group_players SET played = 5, won = 5 WHERE player_id = $1`, 2, 2, false},
		{`UPDATE group_players SET elo = 1700, best_elo = 1700 WHERE player_id = $1`, 1, 2, false},
		{`UPDATE group_players SET left_at = now() WHERE name = 'X' AND $1 > 0`, 1, 1, false},
		{`UPDATE group_players SET left_at = NULL, last_played_at = last_played_at - interval '1 day' WHERE name = 'X' AND $1 > 0`, 1, 1, false},
		{`UPDATE group_players SET last_played_at = last_played_at - interval '1 day' WHERE player_id = $1`, 0, 0, true},
	} {
		dbtest.Exec(t, w.Pool, tc.sql, alice)
		n, err := store.Player(t.Context(), dbtest.Club.ID, alice, played.Add(-time.Hour))
		if err != nil || n.Position != tc.position || n.Total != tc.total || n.Inactive != tc.inactive {
			t.Errorf("%s: %+v, %v", tc.sql, n, err)
		}
		all, err := store.Standings(t.Context(), dbtest.Alice, 20, played.Add(-time.Hour))
		if err != nil || len(all.Groups) != 1 || all.Groups[0].Position != tc.position || all.Groups[0].Total != tc.total {
			t.Errorf("%s: %+v, %v", tc.sql, all, err)
		}
	}
}

func TestHeadToHead(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	read := func(a, b ranking.PlayerID) stats.HeadToHead {
		t.Helper()
		n, err := store.HeadToHead(t.Context(), dbtest.Club.ID, a, b)
		dbtest.Must(t, err)
		return n
	}
	count(t, w, "player_months", "player_id, month, played, won, drawn, lost, best_elo, best_match", `
		($1, date '2023-11-01', 4, 4, 0, 0, 1564, 1), ($2, '2023-11-01', 3, 0, 0, 3, 1500, 1), ($3, '2023-11-01', 1, 0, 0, 1, 1500, 1)`)
	pair := "player_id, other_id, together, %splayed, won, drawn, lost, points_for, points_against, gained, surplus"
	count(t, w, "pair_months", fmt.Sprintf(pair, "month, "), `
		($1, $2, false, date '2023-11-01', 2, 2, 0, 0, 6, 2, 32, 9000), ($2, $1, false, '2023-11-01', 2, 0, 0, 2, 2, 6, -32, -9000)`)
	count(t, w, "pair_totals", fmt.Sprintf(pair, ""), `
		($1, $2, false, 2, 2, 0, 0, 6, 2, 32, 9000), ($2, $1, false, 2, 0, 0, 2, 2, 6, -32, -9000), ($1, $2, true, 9, 9, 0, 0, 6, 2, 32, 9000)`)
	name := func(p ranking.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	last := func(number, own, other, change int) stats.PlayedMatch {
		return stats.PlayedMatch{MatchRef: stats.MatchRef{Number: number, At: played}, Against: []ranking.Name{}, Score: [2]int{own, other}, Change: change}
	}
	want := stats.HeadToHead{
		A: name(alice), B: name(bob), Won: 2, For: 6, Against: 2, Gained: 32, Ratings: [2]int{1564, 1452},
		Last: []stats.PlayedMatch{last(3, 3, 1, 16), last(1, 3, 1, 16)},
	}
	if diff := cmp.Diff(want, read(alice, bob)); diff != "" {
		t.Errorf("Alice against Bob (-want +got):\n%s", diff)
	}
	want = stats.HeadToHead{
		A: name(bob), B: name(alice), Lost: 2, For: 2, Against: 6, Gained: -32, Ratings: [2]int{1452, 1564},
		Last: []stats.PlayedMatch{last(3, 1, 3, -16), last(1, 1, 3, -16)},
	}
	if diff := cmp.Diff(want, read(bob, alice)); diff != "" {
		t.Errorf("Bob against Alice (-want +got):\n%s", diff)
	}
	want = stats.HeadToHead{A: name(bob), B: name(carol), Ratings: [2]int{1452, 1484}}
	if diff := cmp.Diff(want, read(bob, carol), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("those who have never met (-want +got):\n%s", diff)
	}
	if n := read(alice, w.ID(t, "Zoe")); n.Stranger.Player != w.ID(t, "Zoe") {
		t.Errorf("somebody who does not play: %+v", n)
	}
	// In match 3, Carol joins Bob; in match 4, Bob joins Alice.
	dbtest.Exec(t, w.Pool, `
		INSERT INTO match_players (match_id, ladder_id, played_at, player_id, side, place)
		SELECT id, ladder_id, played_at, CASE number WHEN 3 THEN $1::bigint ELSE $2::bigint END, CASE number WHEN 3 THEN 2 ELSE 1 END, 2 FROM matches WHERE number IN (3, 4)`,
		carol, bob)
	if n := read(alice, bob); len(n.Last) != 2 || n.Last[0].Number != 3 || n.Last[1].Number != 1 {
		t.Errorf("in teams: %+v", n.Last)
	}
}

// TestLastMeetings: the five newest, from as many months as that takes.
func TestLastMeetings(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, _ := crowd(t)
	for i := range 5 {
		w.Play(t, fmt.Sprint(10+i), dbtest.Bob, dbtest.Alice)
	}
	dbtest.Exec(t, w.Pool, `UPDATE matches SET played_at = played_at + number * interval '20 days'`)
	for _, p := range []ranking.PlayerID{alice, bob} {
		dbtest.Exec(t, w.Pool, `
			INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match)
			SELECT ladder_id, player_id, date_trunc('month', played_at AT TIME ZONE 'UTC'), count(*), count(*), 0, 0, 1500, 1
			FROM match_players WHERE player_id = $1 GROUP BY 1, 2, 3`, p)
		dbtest.Exec(t, w.Pool, `
			INSERT INTO pair_months (ladder_id, player_id, other_id, together, month, played, won, drawn, lost, points_for, points_against, gained, surplus)
			SELECT ladder_id, $1, $2, false, date_trunc('month', played_at AT TIME ZONE 'UTC'), count(*), count(*), 0, 0, 0, 0, 0, 0
			FROM matches WHERE number <> 4 AND undone_at IS NULL GROUP BY 1, 5`, p, alice+bob-p)
	}
	for _, both := range [][2]ranking.PlayerID{{alice, bob}, {bob, alice}} {
		n, err := store.HeadToHead(t.Context(), dbtest.Club.ID, both[0], both[1])
		dbtest.Must(t, err)
		var numbers []int
		for _, m := range n.Last {
			numbers = append(numbers, m.Number)
		}
		if diff := cmp.Diff([]int{9, 8, 7, 6, 5}, numbers); diff != "" {
			t.Errorf("last meetings (-want +got):\n%s", diff)
		}
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	month := time.Date(2023, time.November, 1, 0, 0, 0, 0, time.UTC)
	read := func(month time.Time) stats.Records {
		t.Helper()
		n, err := store.Records(t.Context(), dbtest.Club.ID, month)
		dbtest.Must(t, err)
		return n
	}
	name := func(p ranking.PlayerID) ranking.Name { return ranking.Name{Player: p} }
	record := func(p ranking.PlayerID, value, number int) *stats.Record {
		return &stats.Record{Name: name(p), Value: value, In: &stats.MatchRef{Number: number, At: played}}
	}
	if diff := cmp.Diff(stats.Records{Title: "Club", Played: &stats.Record{Name: name(alice), Value: 4}}, read(time.Time{})); diff != "" {
		t.Errorf("before anything is counted (-want +got):\n%s", diff)
	}
	count(t, w, "player_months", "player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match, upset, upset_match", `
		($1, date '2023-08-01', 9, 9, 0, 0, 1510, match(1), 4, match(1), NULL, NULL),
		($2, '2023-11-01', 3, 3, 0, 0, 1620, match(3), 4, match(3), 7, match(3)),
		($1, '2023-11-01', 3, 3, 0, 0, 1620, match(1), 4, match(4), 90, match(4)),
		($3, '2023-12-01', 8, 8, 0, 0, 1610, match(4), 3, match(4), 90, match(1))`)
	pair := "player_id, other_id, together, %splayed, won, drawn, lost, points_for, points_against, gained, surplus"
	count(t, w, "pair_totals", fmt.Sprintf(pair, ""), `
		($1, $2, false, 50, 31, 0, 19, 0, 0, 0, 0), ($2, $1, false, 50, 19, 0, 31, 0, 0, 0, 0), ($1, $3, false, 10, 4, 2, 4, 0, 0, 0, 0),
		($1, $2, true, 60, 30, 0, 30, 0, 0, 0, 0), ($2, $3, false, 10, 5, 0, 5, 0, 0, 0, 0)`)
	count(t, w, "pair_months", fmt.Sprintf(pair, "month, "), `
		($1, $2, false, date '2023-11-01', 4, 2, 0, 2, 0, 0, 0, 0), ($1, $3, false, '2023-12-01', 5, 2, 0, 3, 0, 0, 0, 0)`)
	want := stats.Records{
		Title: "Club", Streak: record(alice, 4, 1), Rating: record(alice, 1620, 1), Played: &stats.Record{Name: name(alice), Value: 4},
		Upset: &stats.UpsetBy{Name: name(alice), Upset: stats.Upset{
			MatchRef: stats.MatchRef{Number: 4, At: played}, By: 90, Beaten: []ranking.Name{name(carol)},
		}},
		Rivalry: &stats.RivalryOf{Name: name(alice), Pairing: stats.Pairing{With: name(carol), Played: 10, Won: 4, Drawn: 2, Lost: 4}},
	}
	if diff := cmp.Diff(want, read(time.Time{})); diff != "" {
		t.Errorf("of all time (-want +got):\n%s", diff)
	}
	want.Month, want.Streak, want.Played, want.Rivalry = month, record(bob, 4, 3), &stats.Record{Name: name(min(alice, bob)), Value: 3}, nil
	if diff := cmp.Diff(want, read(month)); diff != "" {
		t.Errorf("of November (-want +got):\n%s", diff)
	}
	if n := read(month.AddDate(0, 1, 0)); n.Rivalry == nil || n.Rivalry.Played != 5 || n.Rating.Value != 1610 {
		t.Errorf("of December: %+v", n)
	}
	if diff := cmp.Diff(stats.Records{Title: "Club", Month: month.AddDate(0, -1, 0)}, read(month.AddDate(0, -1, 0))); diff != "" {
		t.Errorf("of a month without matches (-want +got):\n%s", diff)
	}
}

// TestFreshness: every view with tallies says that they are behind, since the oldest mark, or incomplete.
func TestFreshness(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, _ := crowd(t)
	check := func(what string, want stats.Freshness) {
		t.Helper()
		p, err1 := store.Player(t.Context(), dbtest.Club.ID, alice, played)
		h, err2 := store.HeadToHead(t.Context(), dbtest.Club.ID, alice, bob)
		r, err3 := store.Records(t.Context(), dbtest.Club.ID, time.Time{})
		for i, got := range []stats.Freshness{p.Freshness, h.Freshness, r.Freshness} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, view %d (-want +got):\n%s", what, i, diff)
			}
		}
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	dbtest.Exec(t, w.Pool, `DELETE FROM ladder_tallies`)
	check("without a row", stats.Freshness{})
	dbtest.Exec(t, w.Pool, `INSERT INTO ladder_tallies (ladder_id) SELECT id FROM ladders`)
	check("complete", stats.Freshness{})
	dbtest.Exec(t, w.Pool, `
		INSERT INTO tally_marks (ladder_id, player_id, month, created_at)
		SELECT (SELECT min(id) FROM ladders), 1, '2023-11-01', $1::timestamptz + n * interval '1 second' FROM generate_series(1, 3) n`, played)
	check("behind", stats.Freshness{AsOf: played.Add(time.Second)})
	dbtest.Exec(t, w.Pool, `UPDATE ladder_tallies SET recounting = true`)
	check("recounting", stats.Freshness{AsOf: played.Add(time.Second), Recounting: true})
	if n, err := store.Player(t.Context(), -77, alice, played); err != nil || n.Freshness != (stats.Freshness{}) {
		t.Errorf("an unknown group: %+v, %v", n, err)
	}
}

// TestCountedMeanwhile: figures that were read before the leader has counted a match are not called current because they were asked
// about afterwards.
func TestCountedMeanwhile(t *testing.T) {
	t.Parallel()
	w, _, alice, bob, _ := crowd(t)
	count(t, w, "player_months", "player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match",
		`($1, date '2023-11-01', 1, 1, 0, 0, 1516, match(1), 1, match(1))`)
	count(t, w, "pair_totals", "player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus",
		`($1, $2, false, 1, 1, 0, 0, 3, 1, 16, 5000)`)
	one := dbtest.Open(t, w.Pool.Config().ConnString(), func(c *pgxpool.Config) { c.MaxConns = 1 })
	store := pgstats.NewStore(one, one)
	for view, read := range map[string]func() (stats.Freshness, int, error){
		"player": func() (stats.Freshness, int, error) {
			n, err := store.Player(t.Context(), dbtest.Club.ID, alice, played)
			return n.Freshness, n.Most.Played, err
		},
		"head to head": func() (stats.Freshness, int, error) {
			n, err := store.HeadToHead(t.Context(), dbtest.Club.ID, alice, bob)
			return n.Freshness, n.Met(), err
		},
		"records": func() (stats.Freshness, int, error) {
			n, err := store.Records(t.Context(), dbtest.Club.ID, time.Time{})
			return n.Freshness, n.Streak.Value, err
		},
	} {
		dbtest.Exec(t, w.Pool, `INSERT INTO tally_marks (ladder_id, player_id, month) SELECT id, 1, '2023-11-01' FROM ladders`)
		f, before, err := read() // and the statements are prepared
		if err != nil || f.AsOf.IsZero() {
			t.Fatalf("%s, behind: %+v, %v", view, f, err)
		}
		counter := dbtest.Begin(t, w.Pool)
		count := func(sql string) {
			t.Helper()
			dbtest.Exec(t, counter, sql)
		}
		count(`LOCK TABLE tally_marks`)
		var after int
		done := dbtest.Start(func() (err error) {
			f, after, err = read()
			return err
		})
		dbtest.Await(t, w.Pool, dbtest.Blocked)
		count(`UPDATE player_months SET streak = streak + 1`)
		count(`UPDATE pair_totals SET played = played + 1, won = won + 1`)
		count(`DELETE FROM tally_marks`)
		dbtest.Must(t, counter.Commit(t.Context()))
		if err := dbtest.Receive(t, done); err != nil || f.AsOf.IsZero() && after == before {
			t.Errorf("%s: %d matches, as before, are called current: %v", view, after, err)
		}
	}
}
