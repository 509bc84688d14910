package pgranking_test

import (
	"errors"
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestApplySetting checks that a setting gets its new value in one group only, and nothing is
// written if the setting has changed since the read.
func TestApplySetting(t *testing.T) {
	t.Parallel()
	for _, s := range ranking.AllSettings() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice)
			// This group must never change.
			dbtest.Exec(t, w.Pool, `
				WITH chat AS (INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group') RETURNING id)
				INSERT INTO groups (chat_id) SELECT id FROM chat;`+dbtest.DefaultLadders)
			untouched := func() string {
				return dbtest.Value[string](t, w.Pool, `
					SELECT concat(to_jsonb(c), to_jsonb(l))
					FROM chats c JOIN groups g ON g.chat_id = c.id JOIN ladders l ON l.group_id = g.id
					WHERE c.telegram_chat_id = -7`)
			}
			others, snap := untouched(), w.Read(t, alice)
			before := ranking.GroupSettings{Rules: snap.Ladder.Rules, Display: snap.Display, Web: snap.Web}
			if before != (ranking.GroupSettings{Rules: ranking.DefaultRules(), Display: ranking.DefaultDisplay()}) {
				t.Errorf("a new group has %+v", before)
			}
			after := before
			for _, value := range append(s.Choices, "de", "Asia/Tokyo") {
				if other := s.With(before, value); other != before {
					after = other
				}
			}
			change := ranking.Changes{Key: "k", Chat: snap.ChatID, Decision: ranking.Decision{
				Notice: ranking.SettingChanged{Name: s.Name},
				Effect: &ranking.ChangedSetting{
					Chat: snap.ChatID, Group: snap.Group, Ladder: snap.Ladder.ID, Setting: s, Before: before, After: after,
				},
			}}
			dbtest.Must(t, w.Store.Apply(t.Context(), change))
			snap = w.Read(t, alice)
			if got := (ranking.GroupSettings{
				Rules: snap.Ladder.Rules, Display: snap.Display, Web: snap.Web,
			}); got != after || got == before {
				t.Errorf("the settings are %+v, want %+v", got, after)
			}
			if untouched() != others {
				t.Error("the settings of another group have changed")
			}
			change.Key = "later"
			contents := w.Contents(t)
			if err := w.Store.Apply(t.Context(), change); !errors.Is(err, ranking.ErrConflict) {
				t.Errorf("error is %v", err)
			}
			dbtest.Equal(t, "something was written", contents, w.Contents(t))
		})
	}
}
