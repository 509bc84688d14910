package pgranking_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestApplyRules changes rules from what was read. If any of them has changed since, nothing is written.
func TestApplyRules(t *testing.T) {
	t.Parallel()
	usual := ranking.Rules{Start: 1500, DrawsAllowed: true, RatingRules: ranking.RatingRules{K: 32}}
	other := ranking.Rules{Start: 1000, UnevenTeamsAllowed: true, RatingRules: ranking.RatingRules{
		K: 24, Provisional: ranking.Provisional{K: 48, Matches: 10}, Margin: true,
	}}
	for name, meanwhile := range map[string]string{
		"nothing has changed": "",
		"start":               `UPDATE ladders SET start_elo = 1501`,
		"K":                   `UPDATE ladders SET k_factor = 33`,
		"draws":               `UPDATE ladders SET draws_allowed = false`,
		"uneven teams":        `UPDATE ladders SET uneven_teams_allowed = true`,
		"provisional":         `UPDATE ladders SET provisional_k_factor = 1, provisional_matches = 1`,
		"margin":              `UPDATE ladders SET margin_of_victory = true`,
		"no ladder":           `DELETE FROM ladders`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice)
			dbtest.Exec(t, w.Pool, `
				WITH chat AS (INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group') RETURNING id),
				     other AS (INSERT INTO groups (chat_id) SELECT id FROM chat RETURNING id)
				INSERT INTO ladders (group_id, is_default) SELECT id, true FROM other`) // never changes
			snap := w.Read(t, alice)
			if snap.Ladder.Rules != usual {
				t.Fatalf("the rules are %+v", snap.Ladder.Rules)
			}
			change := ranking.Changes{Key: "k", Chat: snap.ChatID, Decision: ranking.Decision{Notice: ranking.RulesChanged{Before: usual, After: other}, Effect: &ranking.ChangedRules{Ladder: snap.Ladder.ID, Before: usual, After: other}}}
			if meanwhile != "" {
				dbtest.Exec(t, w.Pool, meanwhile+` WHERE group_id = 1`)
				before := w.Contents(t)
				if err := w.Store.Apply(t.Context(), change); !errors.Is(err, ranking.ErrConflict) {
					t.Errorf("error is %v", err)
				}
				if diff := cmp.Diff(before, w.Contents(t)); diff != "" {
					t.Errorf("something was written:\n%s", diff)
				}
				return
			}
			dbtest.Must(t, w.Store.Apply(t.Context(), change))
			if got := w.Read(t, alice).Ladder.Rules; got != other {
				t.Errorf("the rules are %+v, want %+v", got, other)
			}
			if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM ladders WHERE k_factor = 32`); n != 1 {
				t.Error("the rules of another group have changed")
			}
		})
	}
}
