package pgranking_test

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// presence selects the state of the only chat: its language, whether it is active and parked, after
// how many refusals, for how many seconds it is frozen, and when it was greeted and the bot was
// added.
const presence = `
	SELECT concat_ws(' ', language, CASE WHEN is_active THEN 'active' END,
	       CASE WHEN parked_at IS NOT NULL THEN 'parked' END, 'after ' || nullif(parkings, 0),
	       'frozen ' || round(extract(epoch FROM frozen_until - now()), -1),
	       'greeted ' || extract(epoch FROM greeted_at)::bigint, 'added ' || extract(epoch FROM added_at)::bigint)
	FROM chats`

// TestPrivateChat checks that a private chat is found unless the person has blocked the bot, or
// Telegram has refused a message to them.
func TestPrivateChat(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	dbtest.Exec(t, w.Pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (7, 'private')`)
	for state, want := range map[string]bool{
		"is_active = true, parked_at = NULL":   true,
		"is_active = false, parked_at = now()": false,
		"is_active = true, parked_at = now()":  false,
	} {
		dbtest.Exec(t, w.Pool, `UPDATE chats SET `+state+` WHERE telegram_chat_id = 7`)
		if chat, err := w.Store.PrivateChat(t.Context(), 7); err != nil || chat != 0 != want {
			t.Errorf("%s: chat %d, %v", state, chat, err)
		}
	}
	if chat, err := w.Store.PrivateChat(t.Context(), 8); err != nil || chat != 0 {
		t.Errorf("an unknown person: chat %d, %v", chat, err)
	}
}

func TestPresence(t *testing.T) {
	t.Parallel()
	present := ranking.Changes{Decision: ranking.Decision{Presence: ranking.BotActive}}
	first, again := ranking.Greeted{At: time.Unix(100, 0)},
		ranking.Greeted{Before: time.Unix(50, 0), At: time.Unix(100, 0)}
	added, french := again, first
	french.Language = "fr"
	added.Added = time.Unix(99, 0)
	for name, tc := range map[string]struct {
		before string // initial state of the chat
		change ranking.Changes
		want   string
	}{
		"seen":           {"is_active = true", ranking.Changes{}, "en active"},
		"seen, inactive": {"is_active = false", ranking.Changes{}, "en active"},
		"seen, inactive, frozen": {
			"is_active = false, frozen_until = now() + interval '100 s'", ranking.Changes{}, "en active frozen 100",
		},
		"seen, left": {"is_active = false, parked_at = now() - interval '20 s'", ranking.Changes{}, "en active"},
		// Telegram confirms that the bot may write, so the chat is no longer parked.
		"present":              {"is_active = false, parked_at = now() - interval '20 s'", present, "en active"},
		"present, refused":     {"parked_at = now(), parked_until = now() + interval '1 day', parkings = 4", present, "en active"},
		"present, no language": {"language = 'de'", present, "de active"},
		"present, frozen":      {"frozen_until = now() + interval '100 s'", present, "en active frozen 100"},
		"absent":               {"greeted_at = now(), added_at = now()", ranking.Changes{Decision: ranking.Decision{Presence: ranking.BotInactive}}, "en parked"},
		"absent, refused": {
			"parked_at = now(), parked_until = now(), parkings = 1", ranking.Changes{Decision: ranking.Decision{Presence: ranking.BotInactive}}, "en parked after 1",
		},
		"unheard": {"is_active = false, parked_at = now()", ranking.Changes{Decision: ranking.Decision{Presence: ranking.NoChange}}, "en parked"},
		"greeted": {"is_active = true", ranking.Changes{Decision: ranking.Decision{Effect: &first}}, "en active greeted 100"},
		"greeted again": {
			"greeted_at = to_timestamp(50), added_at = to_timestamp(49)", ranking.Changes{Decision: ranking.Decision{Effect: &again}},
			"en active greeted 100 added 49",
		},
		"greeted in another language": {"language = 'de'", ranking.Changes{Decision: ranking.Decision{Effect: &french}}, "fr active greeted 100"},
		"added":                       {"greeted_at = to_timestamp(50)", ranking.Changes{Decision: ranking.Decision{Effect: &added}}, "en active greeted 100 added 99"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dbtest.Exec(t, w.Pool, "UPDATE chats SET "+tc.before)
			tc.change.Key, tc.change.Chat = "k", 1
			dbtest.Must(t, w.Store.Apply(t.Context(), tc.change))
			if got := dbtest.Value[string](t, w.Pool, presence); got != tc.want {
				t.Errorf("the chat is %s, want %s", got, tc.want)
			}
			if woken := w.Messages.Load() > 0; woken != (tc.change.Presence == ranking.BotActive) {
				t.Errorf("the lane is woken: %t", woken)
			}
		})
	}
}

// TestGreetedConcurrently checks that if the stored greeting has changed since the read, a new
// greeting conflicts and changes nothing.
func TestGreetedConcurrently(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stored string
		before time.Time
	}{
		"for the first time": {"to_timestamp(50)", time.Time{}},
		"once more":          {"to_timestamp(51)", time.Unix(50, 0)},
		"and removed":        {"NULL", time.Unix(50, 0)},
	} {
		w := newWorld(t)
		dbtest.Exec(t, w.Pool, "UPDATE chats SET greeted_at = "+tc.stored)
		before := w.Contents(t)
		err := w.Store.Apply(t.Context(), ranking.Changes{
			Key: "k", Chat: 1, Decision: ranking.Decision{
				Notice: stats.RankingPage{}, Presence: ranking.BotActive,
				Effect: &ranking.Greeted{Before: tc.before, At: time.Unix(100, 0), Language: "de"},
			},
		})
		if !errors.Is(err, ranking.ErrConflict) {
			t.Errorf("%s: error is %v, want a conflict", name, err)
		}
		dbtest.Equal(t, name, before, w.Contents(t))
	}
}

// TestMoveAndGroupLife checks that after two chats are merged, the bot is in the combined chat if
// it was in either, and members of either group are members of the remaining group.
func TestMoveAndGroupLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, carol)
	for key, pair := range map[string][2]command.Person{"1": {alice, bob}, "2": {carol, bob}} {
		w.Record(t, key, pair[0], pair[1], 3, 1)
		w.recordIn(t, dbtest.Upgraded, "in "+key, pair[0], pair[1], 3, 1)
	}
	dbtest.Exec(t, w.Pool, `
		UPDATE chats SET is_active = false, greeted_at = to_timestamp(100) WHERE id = 1;
		UPDATE chats SET greeted_at = to_timestamp(50), added_at = to_timestamp(50) WHERE id = 2;
		UPDATE group_players SET left_at = to_timestamp(100 * season_id) WHERE name = 'Alice';
		UPDATE group_players SET left_at = to_timestamp(7) WHERE name = 'Carol' AND season_id = 1;
		UPDATE group_players SET left_at = to_timestamp(7) WHERE name = 'Bob' AND season_id = 2`)
	w.move(t)
	w.mustYield(t, presence, "en active greeted 100")
	w.mustYield(t, `
		SELECT concat_ws(' ', name, extract(epoch FROM left_at)::bigint)
		FROM group_players WHERE season_id = 1 ORDER BY name`,
		"Alice 100", "Bob", "Carol")
	w.mustVerify(t)
}

// TestMoveWhenTheNewerIsGreeted checks that if the older chat was greeted too, waiting notices of
// events in the newer chat are dropped. Notices that are being sent stay, and every command keeps
// its answer.
func TestMoveWhenTheNewerIsGreeted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		older  string // when the older chat was greeted
		rows   []string
		wanted string
	}{
		"both": {
			"to_timestamp(100)", []string{"1 1 a planned", "2 1 a planned", "4 1 a sending", "5 1 a sent"},
			"de active greeted 200",
		},
		"the newer alone": {
			"NULL", []string{"1 1 a planned", "2 1 a planned", "3 1 a planned", "4 1 a sending", "5 1 a sent"},
			"de active greeted 200 added 150",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, dbtest.Upgraded, nil))
			dbtest.Exec(t, w.Pool, `
				UPDATE chats SET language = 'de', greeted_at = `+tc.older+` WHERE id = 1;
				UPDATE chats SET language = 'fr', greeted_at = to_timestamp(200), added_at = to_timestamp(150) WHERE id = 2;
				INSERT INTO outbox (chat_id, key, kind, payload, state, finished_at) VALUES
				    (1, 's:1', 'a', '{}', 'planned', NULL), (2, 'm:1', 'a', '{}', 'planned', NULL),
				    (2, 's:2', 'a', '{}', 'planned', NULL), (2, 's:3', 'a', '{}', 'sending', NULL),
				    (2, 's:4', 'a', '{}', 'sent', now())`)
			w.move(t)
			w.mustHaveOutbox(t, tc.rows...)
			w.mustYield(t, presence, tc.wanted)
		})
	}
}

// TestMoveOfAGroupThatTheBotIsNotIn checks that after a move, the bot counts as being in the chat,
// even if it was marked as not being there. The chat is no longer parked.
func TestMoveOfAGroupThatTheBotIsNotIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Exec(t, w.Pool, `UPDATE chats SET is_active = false, parked_at = now(), greeted_at = to_timestamp(100)`)
	w.move(t)
	w.mustYield(t, presence, "en active greeted 100")
}
