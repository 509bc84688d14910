package main

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgtally"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestBulk checks that a bulk history is as correct as one that was played. TestScenarios checks that the bot can continue
// from it.
func TestBulk(t *testing.T) {
	t.Parallel()
	db := database{url: pgtest.New(t)}
	var err error
	if db.Pool, err = pgxpool.New(t.Context(), db.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	sim := botsim.Start(t)
	history := bulk{matches: 301, chunk: 100, load: newWorkload(sim, sizes{groups: 3, people: 4})}
	history.until = time.Now().Add(-bulkEnded)
	if err := history.write(t.Context(), db, newProgress(new(bytes.Buffer))); err != nil {
		t.Fatal(err)
	}

	var verified ranking.Progress
	store := pgranking.NewStore(db.Pool, func(outbox.Lane) {})
	err = ranking.Verify(t.Context(), store, 0, func(f ranking.Finding) { t.Errorf("wrong: %+v", f) },
		func(p ranking.Progress) { verified = p })
	if want := (ranking.Progress{Groups: 3, OfGroups: 3, Matches: 301}); err != nil || verified != want {
		t.Errorf("verified %+v, %v, want %+v", verified, err, want)
	}
	left, err := stats.VerifyTallies(t.Context(), pgtally.NewStore(db.Pool), 0, func(ranking.LadderID) bool { return false },
		func(f ranking.Finding) { t.Errorf("wrong: %+v", f) })
	if err != nil || left != (stats.Unverified{}) {
		t.Errorf("the tallies are not up to date: %+v, %v", left, err)
	}
	for sql, want := range map[string]int{
		`SELECT count(*) FROM match_players`: 602,
		`SELECT count(*) FROM elo_history`:   602,
		`SELECT count(*)
		 FROM handled_commands h JOIN matches ON idempotency_key = key JOIN players p ON p.id = reported_by
		 WHERE h.sender = p.telegram_user_id AND h.rate_class = 'result'`: 301,
		`SELECT count(*) FROM outbox o JOIN matches m ON m.id = o.match_id JOIN groups g ON g.id = m.group_id
		 WHERE o.key = m.idempotency_key AND o.chat_id = g.chat_id AND (o.payload ->> 'number')::int = m.number`: 301,
		`SELECT count(*) FROM match_messages mm JOIN outbox o ON o.id = mm.outbox_id JOIN chats c ON c.id = o.chat_id
		 WHERE mm.match_id = o.match_id AND mm.telegram_message_id = o.telegram_message_id
		   AND mm.telegram_chat_id = c.telegram_chat_id`: 301,
		`SELECT count(*) FROM outbox WHERE finished_at IS NULL`: 0,
		`SELECT count(*) FROM sightings JOIN players ON id = player_id
		 WHERE sightings.username = players.username`: 12,
		`SELECT count(DISTINCT (a.player_id, b.player_id)) FROM match_players a JOIN match_players b USING (match_id)
		 WHERE a.player_id < b.player_id`: 3 * 6, // everybody has played against everybody
	} {
		var got int
		if err := db.QueryRow(t.Context(), sql).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", sql, got, err, want)
		}
	}
	var known ranking.Player
	user := sim.User("player_2_1")
	err = db.QueryRow(t.Context(), `
		SELECT p.id, p.telegram_user_id, p.username, s.name
		FROM players p JOIN group_players s ON s.player_id = p.id JOIN ladders l ON l.id = s.ladder_id
		WHERE p.telegram_user_id = $1 AND l.group_id = 2`, user.ID).
		Scan(&known.ID, &known.UserID, &known.Username, &known.Name)
	want := ranking.Player{ID: 5, UserID: ranking.UserID(user.ID), Username: user.Username, Name: user.FirstName}
	if err != nil || known != want {
		t.Errorf("the first player of the second group is %+v, %v, want %+v", known, err, want)
	}
	purger := postgres.NewPurger(db.Pool, slog.New(slog.DiscardHandler))
	if old, err := purger.Purge(t.Context()); old != 0 || err != nil {
		t.Errorf("the cleanup would remove %d rows, %v", old, err)
	}
	checkReferences(t.Context(), t, db)
}

// checkReferences makes the database check all foreign keys.
func checkReferences(ctx context.Context, t *testing.T, db database) {
	t.Helper()
	rows, err := db.Query(ctx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s',
		              conrelid::regclass, conname, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'f'`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(again) == 0 {
		t.Fatalf("%d references, %v", len(again), err)
	}
	for _, sql := range again {
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
