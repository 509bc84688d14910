package pgoutbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// people inserts a group in chat 1 with two ladders. Player 1 was seen there as @ann, and player 2
// without a username. Player 3 is unclaimed, player 4 was merged into player 1, and player 5 is
// only in the second ladder.
var people = `
	INSERT INTO groups (chat_id) VALUES (1);
	` + dbtest.DefaultLadders + dbtest.PadelLadders("id = 1") + `
	INSERT INTO players (telegram_user_id, username, display_name)
	    VALUES (11, 'elsewhere', 'Alex'), (12, 'elsewhere', 'Bob');
	INSERT INTO players (group_id, username, display_name) VALUES (1, 'carol', 'carol');
	INSERT INTO players (merged_into, display_name) VALUES (1, 'alexander');
	INSERT INTO players (telegram_user_id, display_name) VALUES (15, 'Eve');
	INSERT INTO sightings VALUES (1, 1, 'ann', now()), (1, 2, NULL, now());
	INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo) VALUES
	    (1, 1, 'Alex', 1, 1, 1), (1, 2, 'Bob', 1, 1, 1), (1, 3, 'carol', 1, 1, 1), (2, 5, 'Alex', 1, 1, 1);`

func TestNames(t *testing.T) {
	t.Parallel()
	const payload = `{"player": 1, "sides": [[{"name": {"player": 2}}, {"name": {"player": 3}}], ` +
		`{"by": {"player": 4}}], "n": [{"player": 5}, {"name": "?"}]}`
	name := func(name, mark string) outbox.Name { return outbox.Name{Name: name, Mark: mark} }
	for what, tc := range map[string]struct {
		sql  string
		want map[int64]outbox.Name
	}{
		"different, but for two in different ladders": {``, map[int64]outbox.Name{
			1: name("Alex", "ann"), 2: name("Bob", ""), 3: name("carol", ""), 4: name("Alex", "ann"), 5: name("Alex", "2"),
		}},
		"called otherwise in the group": {`UPDATE group_players SET name = 'Al' WHERE player_id = 1`, map[int64]outbox.Name{
			1: name("Al", ""), 2: name("Bob", ""), 3: name("carol", ""), 4: name("Al", ""), 5: name("Alex", ""),
		}},
		"all the same": {`UPDATE players SET display_name = 'alex'; UPDATE group_players SET name = 'alex'`, map[int64]outbox.Name{
			1: name("alex", "ann"), 2: name("alex", "2"), 3: name("alex", "carol"), 4: name("alex", "ann"), 5: name("alex", "4"),
		}},
		"the other counts as this one": {`UPDATE group_players SET named_id = 5 WHERE player_id = 5`, map[int64]outbox.Name{
			1: name("Alex", ""), 2: name("Bob", ""), 3: name("carol", ""), 4: name("Alex", ""), 5: name("Alex", "2"),
		}},
		"without a name, one counts as the other": {`
			UPDATE group_players SET name = '…' WHERE player_id IN (2, 5);
			UPDATE group_players SET named_id = 2 WHERE player_id = 2`, map[int64]outbox.Name{
			1: name("Alex", ""), 2: name("…", "1"), 3: name("carol", ""), 4: name("Alex", ""), 5: name("…", "2"),
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, people+tc.sql)
			dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '`+payload+`')`)
			dbtest.Equal(t, "names", tc.want, m.Take(t, 1).Items[0].Names)
		})
	}
}

// TestNamesWhereverTaken checks that messages, edits and callback answers have the names of the
// players in their payloads and of their addressees.
func TestNamesWhereverTaken(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, people+`
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		VALUES (1, 1, 1, 1, 3, 1, 32, now(), 'm');
		INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id, outbox_id) VALUES (-100, 7, 1, 1);
		INSERT INTO outbox (chat_id, kind, payload, match_id, action, callback_query_id,
		    addressee_id, addressee, state, finished_at, telegram_message_id) VALUES
		    (1, 'k', '{"player": 2}', 1, 'send', NULL, NULL, '', 'sent', now(), 7),
		    (1, 'k', '{"player": 1}', 1, 'edit', NULL, NULL, '', 'planned', NULL, NULL),
		    (1, 'k', '{"player": 3}', NULL, 'callback_answer', 'press', NULL, '', 'planned', NULL, NULL),
		    (1, 'k', '{}', NULL, 'send', NULL, 5, '', 'planned', NULL, NULL),
		    (2, 'k', '{"player": 1}', NULL, 'send', NULL, NULL, 'Zoe', 'planned', NULL, NULL)`)
	names := func(message *outbox.Message) map[int64]outbox.Name {
		t.Helper()
		if message == nil {
			t.Fatal("nothing was taken")
		}
		return message.Items[0].Names
	}
	edit := m.Take(t, 1)
	for what, tc := range map[string]struct {
		got  map[int64]outbox.Name
		want map[int64]outbox.Name
	}{
		"shown before": {names(edit), map[int64]outbox.Name{2: {Name: "Bob"}}},
		"edit":         {edit.Row.Names, map[int64]outbox.Name{1: {Name: "Alex", Mark: "ann"}}},
		"answer":       {names(m.Turn(t, dbtest.Answers(1)).Message), map[int64]outbox.Name{3: {Name: "carol"}}},
		"private chat": {names(m.Take(t, 2)), map[int64]outbox.Name{1: {Name: "Alex"}}},
	} {
		dbtest.Equal(t, what, tc.want, tc.got)
	}
	m.MustAdvance(t, dbtest.Bounds, []outbox.Result{{Message: *edit, Receipt: outbox.Receipt{MessageID: 7}}})
	addressed := m.Take(t, 1)
	if diff := cmp.Diff(map[int64]outbox.Name{5: {Name: "Alex", Mark: "2"}}, names(addressed)); diff != "" ||
		addressed.Items[0].AddresseeID != 5 {
		t.Errorf("addressee %d (-want +got):\n%s", addressed.Items[0].AddresseeID, diff)
	}
}

// TestNamesTellApart checks that no two players of a group have the same name and mark.
func TestNamesTellApart(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	rapid.Check(t, func(rt *rapid.T) {
		if err := d.Empty(context.Background()); err != nil {
			rt.Fatal(err)
		}
		m := dbtest.MailIn(d.Pool)
		dbtest.Exec(t, d.Pool, dbtest.TheLease)
		dbtest.Exec(t, d.Pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'supergroup');
			INSERT INTO groups (chat_id) VALUES (1);`+dbtest.DefaultLadders)
		var wanted []string
		for i, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"Alex", "ALEX", "Bob"}), 2, 6).Draw(rt, "names") {
			id := i + 1
			if rapid.Bool().Draw(rt, "account") {
				dbtest.Exec(t, d.Pool, `INSERT INTO players (telegram_user_id, display_name) VALUES ($1, $2)`, id, name)
				if rapid.Bool().Draw(rt, "has a username") {
					dbtest.Exec(t, d.Pool, `INSERT INTO sightings VALUES (1, $1, $2, now())`, id, fmt.Sprint("user_", id))
				}
			} else {
				dbtest.Exec(t, d.Pool, `INSERT INTO players (group_id, username, display_name) VALUES (1, $1, $2)`,
					fmt.Sprint("user_", id), name)
			}
			dbtest.Exec(t, d.Pool, `INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
				VALUES (1, $1, $2, 1, 1, 1)`, id, name)
			wanted = append(wanted, fmt.Sprintf(`{"player": %d}`, id))
		}
		dbtest.Exec(t, d.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', $1)`,
			"["+strings.Join(wanted, ",")+"]")
		names := m.Take(t, 1).Items[0].Names
		if len(names) != len(wanted) {
			rt.Fatalf("%d of %d have names", len(names), len(wanted))
		}
		seen := make(map[string]int64)
		for id, n := range names {
			key := strings.ToLower(n.Name) + " " + n.Mark
			if other, there := seen[key]; there {
				rt.Fatalf("%d and %d are both %v", id, other, n)
			}
			seen[key] = id
		}
	})
}
