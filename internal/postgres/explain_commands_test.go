package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

func TestNoCommandScansATable(t *testing.T) {
	t.Parallel()
	var rec recorder
	pool, plain := newYears(t, &rec)
	store := postgres.NewStore(pool, ignore)
	club := ranking.Chat{ID: -150, Kind: ranking.Group, Title: "Club 150"}
	players := values[int64](t, plain, `SELECT player_id FROM group_players WHERE ladder_id = 150 ORDER BY id LIMIT 2`)
	var elsewhere [2]ranking.Snapshot
	for i := range elsewhere {
		var two []ranking.Person
		for _, id := range values[int64](t, plain, `
			SELECT player_id FROM group_players WHERE ladder_id = $1 AND player_id % 7 <> 3 ORDER BY id LIMIT 2`, 151+i) {
			two = append(two, ranking.Person{ID: ranking.UserID(id)})
		}
		chat := ranking.Chat{ID: ranking.ExternalChatID(-151 - i), Kind: ranking.Group}
		var err error
		if elsewhere[i], err = store.Read(t.Context(), ranking.Query{Key: "k", Chat: chat, People: two}); err != nil {
			t.Fatal(err)
		}
	}
	rec.take()
	people := []ranking.Person{
		{Username: fmt.Sprintf("USER_%d", players[0])}, {ID: ranking.UserID(players[1]), Username: "new_name", Name: "New"},
		{ID: 99_999, Username: "user_7", Name: "Seven"},
	}
	var snap ranking.Snapshot
	mustNotScan(t, plain, &rec, []explained{
		{"read people", func(ctx context.Context) (err error) {
			snap, err = store.Read(ctx, ranking.Query{Key: "k", Chat: club, People: people})
			return err
		}, 2},
		{"read ranking", func(ctx context.Context) error {
			got, err := postgres.NewStats(pool, pool).Ranking(ctx, club.ID, &people[1], 20)
			if len(got.Rows) != 20 || got.Total != 60 {
				t.Errorf("the ranking is %+v", got)
			}
			return err
		}, 4},
		{"introduce", func(ctx context.Context) error {
			k := snap.People[1]
			change := ranking.PlayerChange{Player: *k.Player, Standing: k.Standing.ID}
			return store.UpsertChatAndPlayers(ctx, club, []ranking.PlayerChange{change, asNew(ranking.Person{ID: 88_888, Name: "N"})})
		}, 6},
		{"match", func(ctx context.Context) error {
			c := match(snap, "k")
			return store.Apply(ctx, c)
		}, 5},
		{"matches together", func(ctx context.Context) error {
			return store.ApplyTogether(ctx, match(elsewhere[0], "one"), match(elsewhere[1], "two"))
		}, 7},
		{"answer", func(ctx context.Context) error {
			return store.Apply(ctx, ranking.Changes{Key: "l", Chat: snap.ChatID, Notice: ranking.Refusal{}})
		}, 3},
		{"exclusively", func(ctx context.Context) error {
			return store.WithGroupLock(ctx, club.ID, func(context.Context, ranking.Store) error { return nil })
		}, 3},
	})
}
