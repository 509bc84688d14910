package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestClub checks that the history of a club is as correct as one that was played.
func TestClub(t *testing.T) {
	t.Parallel()
	db := database{url: pgtest.New(t)}
	var err error
	if db.Pool, err = pgxpool.New(t.Context(), db.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	c := club{players: 30, matches: 500, until: time.Now()}
	if err := c.write(t.Context(), db, newProgress(new(bytes.Buffer))); err != nil {
		t.Fatal(err)
	}
	store := pgranking.NewStore(db.Pool, func(outbox.Lane) {})
	for problem := range problems(t, store) {
		t.Errorf("wrong: %+v", problem)
	}
	for _, sql := range []string{
		`SELECT count(*) = 500 FROM matches`,
		`SELECT count(*) BETWEEN 60 AND 140 FROM match_players WHERE player_id = 1`,
		`SELECT played = 0 FROM group_players WHERE player_id = 30`,
		`SELECT played = 0 FROM group_players WHERE player_id = 1 AND ladder_id = 2`,
		`SELECT count(*) > 0 FROM matches WHERE undone_at IS NOT NULL`,
		`SELECT count(*) > 0 FROM match_players WHERE place = 2`,
		`SELECT count(*) > 0 FROM matches WHERE score_a = score_b`,
		`SELECT max(played_at) - min(played_at) > interval '700 days' FROM matches`,
		`SELECT count(DISTINCT elo) > 10 FROM group_players WHERE ladder_id = 1`,
		`SELECT count(*) = 0 FROM matches m WHERE NOT EXISTS (SELECT FROM match_players WHERE match_id = m.id)`,
	} {
		var holds bool
		if err := db.QueryRow(t.Context(), sql).Scan(&holds); err != nil || !holds {
			t.Errorf("%s: %t, %v", sql, holds, err)
		}
	}
	checkReferences(t.Context(), t, db)
}

// problems returns what verify finds, apart from keys that a generated history does not store.
func problems(t *testing.T, store *pgranking.Store) map[ranking.Problem]ranking.Finding {
	t.Helper()
	found := make(map[ranking.Problem]ranking.Finding)
	err := ranking.Verify(t.Context(), store, 0, func(f ranking.Finding) {
		if f.Problem != ranking.MissingKey {
			found[f.Problem] = f
		}
	}, func(ranking.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
