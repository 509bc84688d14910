package pgstats_test

import (
	"context"
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestNoMatchPageScansATable: pages are read by index, and so are those of a player with none.
func TestNoMatchPageScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	store := pgstats.NewStore(pool, pool)
	player := dbtest.Value[ranking.PlayerID](t, plain, `
		SELECT player_id FROM match_players WHERE ladder_id = 150 ORDER BY match_id LIMIT 1`)
	idle := dbtest.Value[ranking.PlayerID](t, plain, `SELECT id FROM players WHERE id NOT IN (SELECT player_id FROM match_players) LIMIT 1`)
	match := dbtest.Value[int64](t, plain, `SELECT max(match_id) FROM match_players WHERE player_id = $1 AND ladder_id = 150`, player)
	rec.Take()
	var commands []dbtest.Explained
	for name, at := range map[string]stats.Paging{"first": {}, "older": {Key: 40}, "newer": {Key: 10, Newer: true}} {
		want := 2
		if at.Key != 0 {
			want = 3
		}
		commands = append(commands, dbtest.Explained{Name: name + " page of matches", Want: want, Run: func(ctx context.Context) error {
			n, err := store.Matches(ctx, -150, at)
			if len(n.Rows) != stats.PageRows {
				t.Errorf("%s: %d rows", name, len(n.Rows))
			}
			return err
		}})
		if at.Key != 0 {
			at.Key = match
		}
		for what, player := range map[string]ranking.PlayerID{"a player": player, "nobody": idle} {
			commands = append(commands, dbtest.Explained{Name: name + " page of " + what, Want: want, Run: func(ctx context.Context) error {
				_, err := store.History(ctx, -150, player, at)
				return err
			}})
		}
	}
	dbtest.MustNotScan(t, plain, &rec, commands)
}
