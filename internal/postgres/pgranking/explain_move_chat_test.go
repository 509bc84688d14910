package pgranking_test

import (
	"context"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestNoMoveScansATable checks that finding chats by earlier ids and moving them scans no table.
// Merging two chats is excluded, because a merge changes all notices of one chat.
func TestNoMoveScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	late := ranking.Chat{ID: -1_000_150, Kind: ranking.Group, Title: "As it was"}
	move := func(from, to ranking.ExternalChatID) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := store.Move(ctx, from, to)
			return err
		}
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "read", Run: func(ctx context.Context) error {
			got, err := store.Read(ctx, ranking.Query{
				Key: "k", Chat: late, Needs: ranking.Needs{People: []command.Person{alice}},
			})
			if got.Chat.ID != -150 {
				t.Errorf("read %+v", got)
			}
			return err
		}, Want: 2},
		{Name: "match", Run: func(ctx context.Context) error {
			got, err := store.Read(ctx, ranking.Query{
				Chat: late, Sender: &alice, Needs: ranking.Needs{Match: &ranking.MatchRef{Number: 45}},
			})
			if len(got.Matches) != 1 || got.Matches[0].Number != 45 {
				t.Errorf("found %+v", got.Matches)
			}
			return err
		}, Want: 2},
		{Name: "ranking", Run: func(ctx context.Context) error {
			got, err := pgstats.NewStore(pool, pool).Ranking(ctx, dbtest.Ladder(t, plain, late.ID), &alice,
				stats.RankingQuestion{Page: 2}, time.Now())
			if len(got.Rows) != stats.PageRows {
				t.Errorf("read %+v", got)
			}
			return err
		}, Want: 4},
		{Name: "introduce", Run: func(ctx context.Context) error { return dbtest.Upsert(ctx, store, late, nil) }, Want: 1 + 1},
		{Name: "exclusively", Run: func(ctx context.Context) error {
			locked, _, err := store.Lock(ctx, ranking.Query{Chat: late})
			if err == nil {
				locked.Release(ctx)
			}
			return err
		}, Want: 1 + 1 + 1 + 1},
		{Name: "move of a chat in which much waits", Run: move(-3, -2_000_003), Want: 1 + 2 + 5 + 2 + 9 + 1},
		{Name: "move that is done", Run: move(-3, -2_000_003), Want: 1 + 2 + 1 + 1},
		{Name: "move of an unknown chat", Run: move(-2_000_004, -4), Want: 1 + 2 + 5 + 2 + 3 + 1},
		{Name: "move of nobody", Run: move(-3_000_000, -4_000_000), Want: 1 + 2 + 1 + 1},
	})
	if got := dbtest.Value[int](t, plain, `
		SELECT count(*) FROM chat_aliases WHERE telegram_chat_id IN (-3, -2000004)`); got != 2 {
		t.Errorf("%d of 2 chats have moved", got)
	}
}
