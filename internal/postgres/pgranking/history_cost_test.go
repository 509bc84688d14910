package pgranking_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
)

// TestHistoryCostsItsLength reads the last matches of a long ladder. It must not scan the earlier ones, neither for
// the matches nor for their players.
func TestHistoryCostsItsLength(t *testing.T) {
	t.Parallel()
	const stretch = 300
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	dbtest.FillFast(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 6000);
		INSERT INTO ladders (group_id, is_default) VALUES (1, true);
		INSERT INTO players (group_id, username, display_name) SELECT 1, 'user' || n, 'User' FROM generate_series(1, 50) n;
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo)
		    SELECT 1, id, 'User ' || id, 1500, 1500, 1600 FROM players;
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT 1, 1, n, 3, 1, 32, now(), 'm' || n FROM generate_series(1, 6000) n;
		INSERT INTO match_players SELECT id, 1 + (number + side) % 50, side, 1 FROM matches, (VALUES (1), (2)) AS s (side);
		INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		    SELECT match_id, player_id, 1500, 1500, 32, 1500, 0, 0, 'match' FROM match_players`)
	dbtest.Exec(t, pool, `VACUUM ANALYZE matches, match_players, elo_history, group_players, players`)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	rec.Take()
	c, err := store.MatchHistory(t.Context(), 1, 6_000-stretch+1)
	dbtest.Must(t, err)
	if len(c.Matches) != stretch || len(c.Standings) != 50 {
		t.Fatalf("the history has %d matches of %d players", len(c.Matches), len(c.Standings))
	}
	blocks := 0
	for _, s := range rec.Take() {
		blocks += touched(t, pool, s)
	}
	// Reading the history entry by entry would take about four blocks each. Scanning all matches of all
	// players takes a hundred times as much.
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
