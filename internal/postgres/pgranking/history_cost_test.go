package pgranking_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
)

// TestHistoryCostsItsLength checks that reading the last 300 of 6,000 matches takes few blocks for
// each match, and so does not scan the earlier matches.
func TestHistoryCostsItsLength(t *testing.T) {
	t.Parallel()
	const stretch = 300
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	dbtest.FillFast(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 6000);
		`+dbtest.DefaultLadders+`
		INSERT INTO players (group_id, username, display_name) SELECT 1, 'user' || n, 'User' FROM generate_series(1, 50) n;
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
		    SELECT 1, id, 'User ' || id, 1500, 1500, 1600 FROM players;
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT 1, 1, 1, n, 3, 1, 32, now(), 'm' || n FROM generate_series(1, 6000) n;
		INSERT INTO match_players SELECT id, 1 + (number + side) % 50, side, 1 FROM matches, (VALUES (1), (2)) AS s (side);
		INSERT INTO elo_history
		    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		    SELECT match_id, player_id, 1500, 1500, 32, 1500, 0, 0, 'match' FROM match_players`)
	dbtest.Exec(t, pool, `VACUUM ANALYZE matches, match_players, elo_history, group_players, players`)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	rec.Take()
	c, err := store.MatchHistory(t.Context(), 1, ladder.PositionOf(6_000-stretch+1))
	dbtest.Must(t, err)
	if len(c.Matches) != stretch || len(c.Standings) != 50 {
		t.Fatalf("the history has %d matches of %d players", len(c.Matches), len(c.Standings))
	}
	blocks := 0
	for _, s := range rec.Take() {
		blocks += touched(t, pool, s)
	}
	// Reading the history entry by entry would take about four blocks for each entry. Scanning all
	// matches of all players would take a hundred times as many.
	if limit := 2 * stretch * 4; blocks > limit {
		t.Errorf("%d matches took %d blocks, want at most %d", stretch, blocks, limit)
	}
}

// touched returns how many blocks a statement reads.
func touched(t *testing.T, pool *pgxpool.Pool, s dbtest.Statement) int {
	t.Helper()
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	raw := dbtest.Value[string](t, pool, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+s.SQL, s.Args...)
	if err := json.Unmarshal([]byte(raw), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("read plan: %v", err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

// TestLargestUpsetCostsItsMonth checks that reading the largest upset of a month in a long ladder
// does not scan larger upsets of other months.
func TestLargestUpsetCostsItsMonth(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands, func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	dbtest.FillFast(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 12000);
		`+dbtest.DefaultLadders+`
		INSERT INTO players (telegram_user_id, display_name) VALUES (1, 'Alice');
		INSERT INTO matches
		    (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key, upset)
		    SELECT 1, 1, 1, n, 3, 1, 32, '2023-12-31'::timestamptz - (12000 - n) * interval '4 hours', 'm' || n,
		           CASE WHEN n % 4 = 0
		               THEN CASE WHEN n > 11500 THEN 100 + (12000 - n) / 100 ELSE 200 + n * 7919 % 1000 END END
		    FROM generate_series(1, 12000) n`)
	dbtest.Exec(t, pool, `VACUUM ANALYZE`)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	for month, want := range map[time.Month]int{time.December: 101, time.November: 103} {
		rec.Take()
		upset, err := store.LargestUpset(t.Context(), 1, time.Date(2023, month, 1, 0, 0, 0, 0, time.UTC))
		dbtest.Must(t, err)
		if upset != want {
			t.Errorf("the largest upset of %s is %d, want %d", month, upset, want)
		}
		blocks := touched(t, pool, rec.Take()[0])
		// There are 45 upsets in a month. Reading all larger upsets of other months would take some
		// 3,000 blocks.
		if limit := 45 + 60; blocks > limit {
			t.Errorf("the upset of %s took %d blocks, want at most %d", month, blocks, limit)
		}
	}
}
