package pgtally_test

import (
	"context"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgtally"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func TestNoStepScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	s := pgtally.NewStore(pool)
	// a month again, and new matches
	dbtest.Exec(t, plain, `
		DELETE FROM tally_marks WHERE id > 500;
		INSERT INTO tally_marks (ladder_id, player_id, month)
		    SELECT ladder_id, player_id, month FROM player_months WHERE ladder_id = 150 ORDER BY player_id LIMIT 20`)
	recount := func(parts int) func(context.Context) error {
		return func(ctx context.Context) error {
			step, err := s.WithStep(10, parts).Recount(ctx)
			if step.Ladder != 150 {
				t.Errorf("recounts %+v", step)
			}
			return err
		}
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "survey", Run: func(ctx context.Context) error {
			_, err := s.Survey(ctx)
			return err
		}, Want: 1},
		{Name: "count a ladder", Run: func(ctx context.Context) error {
			ladder, err := s.CountNext(ctx, 1, 2)
			if ladder != 3 {
				t.Errorf("counts ladder %d", ladder)
			}
			return err
		}, Want: -1},
		{Name: "count", Run: func(ctx context.Context) error {
			_, err := s.Count(ctx)
			return err
		}, Want: 1 + 1 + 5 + 2 + 3 + 2 + 1 + 1},
		{Name: "place", Run: func(ctx context.Context) error {
			step, err := s.Place(ctx, time.Now())
			if step.Ladder == 0 {
				t.Error("no places are due")
			}
			return err
		}, Want: 1 + 1 + 3 + 1},
		{Name: "start a recount", Run: func(ctx context.Context) error { return s.StartRecount(ctx, 150) }, Want: 1},
		{Name: "recount nobody", Run: recount(1), Want: -1},
		{Name: "recount players", Run: recount(10), Want: -1},
		{Name: "recount up to a player", Run: recount(0), Want: -1},
		{Name: "recount months", Run: recount(0), Want: -1},
		{Name: "recount the rest", Run: recount(1_000), Want: -1},
		{Name: "nothing to count", Run: func(ctx context.Context) error {
			more, err := s.Count(ctx)
			if more {
				t.Error("marks are left")
			}
			return err
		}, Want: -1},
	})
}

// verifier returns a function that counts the differences in tallies.
func verifier(t *testing.T, s *pgtally.Store) func() int {
	t.Helper()
	return func() (n int) {
		t.Helper()
		none := func(ranking.LadderID) bool { return false }
		if _, err := stats.VerifyTallies(t.Context(), s, 0, none, func(f ranking.Finding) {
			t.Log(f.Player, f.Stored, f.Want)
			n++
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestVerifyTallies: verify finds each kind of difference, of players without a standing as well.
func TestVerifyTallies(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	s := pgtally.NewStore(w.Pool).WithStep(2, 1)
	settle(t, s)
	verify := verifier(t, s)
	if n := verify(); n != 0 {
		t.Errorf("%d differences in what was counted", n)
	}
	for sql, want := range map[string]int{
		`UPDATE player_months SET best_match = best_match + 1 WHERE player_id = 1 AND month = '2023-11-01'`: 1,
		`UPDATE player_months SET player_id = 999 WHERE player_id = 1 AND month = '2023-11-01'`:             2,
		`UPDATE pair_months SET surplus = surplus + 1 WHERE player_id = 1 AND month = '2023-11-01'`:         2, // the total differs as well
		`UPDATE pair_totals SET gained = gained + 1 WHERE player_id = 1 AND other_id = 3`:                   1,
		`DELETE FROM pair_totals WHERE player_id = 1 AND other_id = 3`:                                      1,
		`INSERT INTO pair_totals VALUES (1, 999, 1, true, 1, 1, 0, 0, 1, 1, 1, 1)`:                          1,
		`DELETE FROM player_months WHERE player_id = 1 AND month > '2024-01-01'`:                            1,
	} {
		dbtest.Exec(t, w.Pool, sql)
		if n := verify(); n != want {
			t.Errorf("%d differences after %s, want %d", n, sql, want)
		}
		dbtest.Must(t, s.StartRecount(t.Context(), 1))
		settle(t, s)
		if n := verify(); n != 0 {
			t.Errorf("%d differences after a recount because of %s", n, sql)
		}
	}
}

// TestVerifyPlaces: places must be in the order of the ratings then, whoever has left meanwhile, unless they are about to be calculated.
func TestVerifyPlaces(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	s := pgtally.NewStore(w.Pool)
	settle(t, s)
	verify := verifier(t, s)
	// after match 1, Alice is before Carol, and Carol before Bob
	dbtest.Exec(t, w.Pool, `UPDATE ladder_tallies SET week_since = '2023-11-01', week_number = 1, week_due_at = now()`)
	for _, tc := range []struct {
		alice, bob, carol int
		sql               string
		want              int
	}{
		{1, 3, 2, ``, 0},
		{2, 9, 4, `UPDATE group_players SET left_at = now()`, 0},
		{1, 2, 3, ``, 2},
		{1, 1, 2, ``, 2},
		{1, 2, 2, ``, 1},
		{1, 2, 3, `INSERT INTO tally_marks (ladder_id, player_id, month) VALUES (1, 999, '2023-11-01')`, 0},
		{1, 2, 3, `DELETE FROM tally_marks; UPDATE ladder_tallies SET week_due_at = '-infinity'`, 0},
	} {
		dbtest.Exec(t, w.Pool, `DELETE FROM week_places`)
		dbtest.Exec(t, w.Pool, `INSERT INTO week_places VALUES (1, $1, $2), (1, $3, $4), (1, $5, $6)`,
			w.ID(t, "Alice"), tc.alice, w.ID(t, "Bob"), tc.bob, w.ID(t, "Carol"), tc.carol)
		if tc.sql != "" {
			dbtest.Exec(t, w.Pool, tc.sql)
		}
		if n := verify(); n != tc.want {
			t.Errorf("%+v: %d differences", tc, n)
		}
	}
}
