package postgres_test

import (
	"context"
	"testing"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// TestNoMoveScansATable finds chats by earlier ids, and moves some. Joining two chats is excluded: it changes all
// notices of one of them.
func TestNoMoveScansATable(t *testing.T) {
	t.Parallel()
	var rec recorder
	pool, plain := newYears(t, &rec)
	store := postgres.NewStore(pool, ignore)
	late := ranking.Chat{ID: -1_000_150, Kind: ranking.Group, Title: "As it was"}
	move := func(from, to ranking.ExternalChatID) func(context.Context) error {
		return func(ctx context.Context) error { return store.Move(ctx, from, to, nothingAppended(t)) }
	}
	mustNotScan(t, plain, &rec, []explained{
		{"read", func(ctx context.Context) error {
			got, err := store.Read(ctx, ranking.Query{Key: "k", Chat: late, People: []ranking.Person{alice}})
			if got.Chat.ID != -150 {
				t.Errorf("read %+v", got)
			}
			return err
		}, 2},
		{"match", func(ctx context.Context) error {
			got, err := store.FindMatch(ctx, late.ID, ranking.MatchRef{Number: 45, NumberMessage: 40}, &alice)
			if got == nil || got.Number != 45 {
				t.Errorf("found %+v", got)
			}
			return err
		}, 1},
		{"ranking", func(ctx context.Context) error {
			got, err := postgres.NewStats(pool, pool).Ranking(ctx, late.ID, &alice, 20)
			if len(got.Rows) != 20 || got.Title != "Club 150" {
				t.Errorf("read %+v", got)
			}
			return err
		}, 4},
		{"introduce", func(ctx context.Context) error { return store.UpsertChatAndPlayers(ctx, late, nil) }, 3},
		{"exclusively", func(ctx context.Context) error {
			return store.WithGroupLock(ctx, late.ID, func(context.Context, ranking.Store) error { return nil })
		}, 3},
		{"move of a chat in which much waits", move(-3, -2_000_003), 1 + 2 + 4 + 2 + 4 + 1},
		{"move that is done", move(-3, -2_000_003), 1 + 2 + 1},
		{"move of an unknown chat", move(-2_000_004, -4), 1 + 2 + 4 + 2 + 3 + 1},
		{"move of nobody", move(-3_000_000, -4_000_000), 1 + 2 + 1},
	})
	if got := value[int](t, plain, `SELECT count(*) FROM chat_aliases WHERE telegram_chat_id IN (-3, -2000004)`); got != 2 {
		t.Errorf("%d of 2 chats have moved", got)
	}
}

// nothingAppended is for moves that join no groups.
func nothingAppended(t *testing.T) func(ranking.Appended) (ranking.Appendix, error) {
	t.Helper()
	return func(a ranking.Appended) (ranking.Appendix, error) {
		t.Errorf("appended: %+v", a)
		return ranking.Appendix{}, nil
	}
}
