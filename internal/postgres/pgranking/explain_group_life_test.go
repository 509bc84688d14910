package pgranking_test

import (
	"context"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestNoGroupLifeScansATable checks that no table is scanned to record that a person left the group
// or its rankings, or that the bot was added or removed.
func TestNoGroupLifeScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	club := ranking.Chat{ID: -150, Kind: ranking.Group, Title: "Club 150"}
	player := dbtest.Value[int64](t, plain, `
		SELECT s.player_id FROM group_players s JOIN players p ON p.id = s.player_id
		WHERE season_id = 150 AND telegram_user_id IS NOT NULL ORDER BY s.id OFFSET 5 LIMIT 1`)
	people := []command.Person{{ID: ladder.UserID(player), Name: "Somebody"}}
	var snap *ranking.Snapshot
	apply := func(c ranking.Changes) func(context.Context) error {
		return func(ctx context.Context) error { return store.Apply(ctx, c) }
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "read", Run: func(ctx context.Context) (err error) {
			snap, err = store.Read(ctx, ranking.Query{Key: "k", Chat: club, Needs: ranking.Needs{People: people}})
			return err
		}, Want: 2},
		{Name: "left", Run: func(ctx context.Context) error {
			left := &ranking.Left{Group: snap.Group, Player: snap.People[0].Player.ID, At: time.Now()}
			return store.Apply(ctx, ranking.Changes{Key: "left", Chat: snap.ChatID, Decision: ranking.Decision{Effect: left}})
		}, Want: 4},
		{Name: "taken out", Run: func(ctx context.Context) error {
			left := ranking.Left{Group: snap.Group, Player: snap.People[0].Player.ID, At: time.Now()}
			out := &ranking.TakenOut{Left: left, Over: ranking.LeftRanking{}}
			return store.Apply(ctx, ranking.Changes{Key: "out", Chat: snap.ChatID, Decision: ranking.Decision{Effect: out}})
		}, Want: 9},
		{Name: "added", Run: apply(ranking.Changes{
			Key: "added", Chat: 150, Decision: ranking.Decision{
				Notice: stats.RankingPage{}, Presence: ranking.BotActive,
				Effect: &ranking.Greeted{At: time.Now(), Added: time.Now(), Language: "de"},
			},
		}), Want: 5},
		{Name: "removed", Run: apply(ranking.Changes{Key: "removed", Chat: 150, Decision: ranking.Decision{Presence: ranking.BotInactive}}), Want: 2},
		{Name: "of nobody", Run: apply(ranking.Changes{Key: "nobody"}), Want: 2},
	})
}
