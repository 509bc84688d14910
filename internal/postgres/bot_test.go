package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// TestAdoptBotKeepsBotsApart checks that data with ids of the previous bot has no effect for the
// next bot. The previous bot's keys are valid again when that bot returns. Keys, match messages and
// replies with message ids of supergroups stay as they are, because those ids are the same for all
// bots.
func TestAdoptBotKeepsBotsApart(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-5, 'group'), (-1007, 'supergroup'), (9, 'private');
		INSERT INTO chat_aliases (telegram_chat_id, chat_id) VALUES (-4, 2);
		INSERT INTO groups (chat_id) VALUES (1), (2);
		`+dbtest.DefaultLadders+`
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		VALUES (1, 1, 1, 1, 1, 0, 32, now(), 'm:-5:1'),
		    (2, 2, 2, 1, 1, 0, 32, now(), 'm:-4:1'), (2, 2, 2, 2, 1, 0, 32, now(), 'm:-1007:1');
		INSERT INTO handled_commands (key, outcome) SELECT idempotency_key, 'recorded' FROM matches;
		INSERT INTO handled_commands (key)
		VALUES ('e:-5:1:17'), ('e:-1007:1:17'), ('m:9:2'), ('c:3'), ('s:ab'), ('h:cd'), ('u:7'), ('u:-1007:9:1');
		INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id)
		VALUES (-5, 2, 1), (-4, 2, 2), (-1007, 2, 3);
		INSERT INTO ensured_messages (chat_id, object, telegram_message_id, fingerprint) VALUES (2, 'board', 8, 'f');
		INSERT INTO prompts (id, chat_id, kind, match_id, delivered_at, telegram_message_id)
		VALUES (1, 2, 'undo', 3, now(), 8);
		INSERT INTO update_attempts (update_id, attempts) VALUES (70, 2);
		INSERT INTO outbox (chat_id, key, kind, payload, action, reply_to, match_id, callback_query_id, state, finished_at)
		VALUES
		    (1, 'm:-5:1', 'waits', '{}', 'send', 1, NULL, NULL, 'planned', NULL),
		    (1, 'm:-5:1', 'died', '{}', 'send', 1, NULL, NULL, 'dead', now()),
		    (2, 'm:-1007:1', 'waits', '{}', 'send', 1, NULL, NULL, 'planned', NULL),
		    (2, 'm:-1007:1', 'card', '{}', 'edit', NULL, 3, NULL, 'planned', NULL),
		    (3, 'c:3', 'callback_answer', '{}', 'callback_answer', NULL, NULL, '3', 'planned', NULL)`)
	contents := func() []string {
		t.Helper()
		return dbtest.Values[string](t, pool, `
			(SELECT 'match ' || idempotency_key FROM matches ORDER BY id) UNION ALL
			(SELECT 'handled ' || key FROM handled_commands ORDER BY split_part(key, 'bot1:', 2), key) UNION ALL
			(SELECT 'message ' || telegram_chat_id FROM match_messages ORDER BY 1) UNION ALL
			SELECT 'ensured' FROM ensured_messages UNION ALL
			SELECT 'prompt ' || telegram_message_id FROM prompts WHERE telegram_message_id IS NOT NULL UNION ALL
			SELECT 'attempt' FROM update_attempts UNION ALL
			(SELECT concat_ws(' ', 'outbox', key, action, state, reply_to) FROM outbox ORDER BY id)`)
	}
	adopt := func(bot, before ladder.UserID) {
		t.Helper()
		if got, err := postgres.AdoptBot(t.Context(), pool, bot); err != nil || got != before {
			t.Fatalf("the bot %d got the database of %d, %v; want that of %d", bot, got, err, before)
		}
	}
	untouched := contents()
	adopt(1, 0)
	adopt(1, 1)
	dbtest.Equal(t, "the bot itself changes", untouched, contents())

	adopt(2, 1)
	others := []string{
		"match bot1:m:-5:1", "match bot1:m:-4:1", "match m:-1007:1",
		"handled c:3", "handled e:-1007:1:17", "handled h:cd", "handled m:-1007:1", "handled s:ab",
		"handled bot1:e:-5:1:17", "handled bot1:m:-4:1", "handled bot1:m:-5:1", "handled bot1:m:9:2",
		"handled bot1:u:-1007:9:1", "handled bot1:u:7",
		"message -1007",
		"outbox bot1:m:-5:1 send planned", "outbox bot1:m:-5:1 send dead", "outbox m:-1007:1 send planned 1",
		"outbox m:-1007:1 edit expired", "outbox c:3 callback_answer expired",
	}
	dbtest.Equal(t, "another bot finds", others, contents())

	dbtest.Exec(t, pool, `INSERT INTO handled_commands (key) VALUES ('m:-5:1')`)
	adopt(1, 2)
	if got := dbtest.Values[string](t, pool, `
		SELECT idempotency_key FROM matches ORDER BY id`); !cmp.Equal(got, []string{"m:-5:1", "m:-4:1", "m:-1007:1"}) {
		t.Errorf("the first bot finds its matches as %q", got)
	}
	if got := dbtest.Values[string](t, pool, `
		SELECT key FROM handled_commands WHERE key LIKE '%:-5:1' ORDER BY 1`); !cmp.Equal(got,
		[]string{"bot2:m:-5:1", "m:-5:1"}) {
		t.Errorf("the first bot finds the keys %q", got)
	}
}
