package pgranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// move upgrades the club to the supergroup.
func (w *world) move(t *testing.T) {
	t.Helper()
	dbtest.Must(t, dbtest.Service(w.Store).MoveChat(t.Context(), club.ID, dbtest.Upgraded.ID))
}

// mustHaveChats checks that the chats, with their earlier ids, are exactly want.
func (w *world) mustHaveChats(t *testing.T, want ...string) {
	t.Helper()
	w.mustYield(t, `
		SELECT concat_ws(' ', id, telegram_chat_id, kind, title,
		       (SELECT array_agg(telegram_chat_id ORDER BY telegram_chat_id DESC) FROM chat_aliases WHERE chat_id = chats.id))
		FROM chats ORDER BY id`, want...)
}

// mustHaveOutbox checks that the rows of the outbox, with the messages that they reply to, are
// exactly want.
func (w *world) mustHaveOutbox(t *testing.T, want ...string) {
	t.Helper()
	w.mustYield(t, `
		SELECT concat_ws(' ', id, chat_id, kind, state, 'to ' || reply_to, 'in ' || thread_id, supersede_key)
		FROM outbox ORDER BY id`, want...)
}

// TestMoveRenames checks that a chat whose new id is unknown keeps everything that is not tied to
// the old id.
func TestMoveRenames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, annex, nil))
	dbtest.Exec(t, w.Pool, `
		UPDATE chats SET language = 'de', frozen_until = now(), parked_at = now(), parked_until = now(), parkings = 1;
		INSERT INTO ensured_messages VALUES (1, 'board', 5, ''), (2, 'board', 6, '');
		INSERT INTO outbox (chat_id, kind, payload, state, reply_to, thread_id, finished_at) VALUES
		    (1, 'a', '{}', 'sent', 7, 8, now()), (1, 'b', '{}', 'sending', 7, NULL, NULL),
		    (1, 'c', '{}', 'planned', 7, 8, NULL), (2, 'd', '{}', 'planned', 7, 8, NULL),
		    (1, 'e', '{}', 'planned', NULL, NULL, NULL), (1, 'f', '{}', 'planned', NULL, 8, NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, action, edited_message_id, supersede_key, purpose) VALUES
		    (1, 'g', '{}', 'planned', 'page', 7, 'page:7', 'answer'), (1, 'h', '{}', 'sending', 'page', 7, NULL, 'answer'),
		    (2, 'i', '{}', 'planned', 'page', 7, 'page:7', 'answer');
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    VALUES (1, 1, 1, 1, 3, 1, 32, now(), 'm:-100:1');
		INSERT INTO match_messages VALUES (-100, 7, 1);
		INSERT INTO handled_commands VALUES ('m:-100:1')`)
	kept := w.Contents(t)
	w.Wakes.Store(0)
	w.move(t)
	w.mustHaveChats(t, "1 -1000100 supergroup Club {-100}", "2 -200 supergroup Annex")
	w.mustHaveOutbox(t, "1 1 a sent to 7 in 8", "2 1 b sending", "3 1 c planned", "4 2 d planned to 7 in 8",
		"5 1 e planned", "6 1 f planned", "7 1 g expired", "8 1 h expired", "9 2 i planned page:7")
	w.mustYield(t, `
		SELECT concat_ws(' ', language, frozen_until, parked_at, parked_until, parkings) FROM chats WHERE id = 1`, "de 0")
	w.mustYield(t, `SELECT chat_id::text FROM ensured_messages`, "2")
	if n := w.Wakes.Load(); n != 1 {
		t.Errorf("woken %d times", n)
	}
	now := w.Contents(t)
	for _, table := range []string{"chats", "chat_aliases", "outbox"} {
		delete(kept, table)
		delete(now, table)
	}
	dbtest.Equal(t, "other tables have changed", kept, now)
}

// TestMoveJoins checks that a move from one stored chat to another merges the two. The chat whose
// group has more matches remains, or the older one if neither has more. It gets the notices of the
// other chat, but not the matches, standings and unclaimed players of the other chat's group.
// Waiting notices no longer reply to messages of the older chat. The settings are those of the
// older chat.
func TestMoveJoins(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		older, newer int // number of matches in each chat
		kept         int // id of the remaining chat, of its group and of the group's ladder
	}{
		"more in the older": {2, 1, 1}, "more in the newer": {1, 2, 2}, "as many": {1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			for i := range tc.older {
				w.recordIn(t, club, fmt.Sprint("older ", i), alice, bob, 3, 1)
			}
			for i := range tc.newer {
				w.recordIn(t, dbtest.Upgraded, fmt.Sprint("newer ", i), al, carol, 3, 1)
			}
			w.mergeable(t)
			first := dbtest.Value[int](t, w.Pool, `SELECT min(id) - 1 FROM outbox`)
			before := w.Contents(t)
			w.Wakes.Store(0)
			w.move(t)
			w.mustHaveChats(t, fmt.Sprintf("%d -1000100 supergroup Club+ {-98,-99,-100}", tc.kept))
			var want []string
			for i, row := range []string{
				"a sent to 7 in 8", "b planned", "c planned to 7 in 8 both", "d sending to 7", "e planned of two", "f planned of one",
				// No other notice shows the outcome, so g is sent as a message.
				"g planned", "h expired", "i planned page:7",
				"group_detached planned",
			} {
				want = append(want, fmt.Sprintf("%d %d %s", first+1+i, tc.kept, row))
			}
			w.mustHaveOutbox(t, want...)
			w.mustYield(t, `
				SELECT concat_ws(' ', language, language_chosen, tables, celebrations, dark_charts, time_zone,
				       frozen_until AT TIME ZONE 'UTC', parked_at AT TIME ZONE 'UTC', parked_until AT TIME ZONE 'UTC', parkings)
				FROM chats`, "de t t f t Asia/Tokyo 2040-01-02 03:04:05 2040-01-02 00:00:00 2040-01-03 00:00:00 4")
			w.mustYield(t, `SELECT concat_ws(' ', chat_id, thread_id, pin) FROM boards`, fmt.Sprintf("%d 9 pinned", tc.kept))
			w.mustYield(t, `SELECT concat_ws(' ', chat_id, object, telegram_message_id) FROM ensured_messages ORDER BY object`,
				fmt.Sprintf("%d board:%[1]d 6", tc.kept), fmt.Sprintf("%d other 7", tc.kept))
			w.mustYield(t, `
				SELECT concat_ws(' ', id, chat_id, 'had ' || former_chat_id, last_match_number) FROM groups ORDER BY chat_id`,
				fmt.Sprintf("%d %[1]d %d", tc.kept, max(tc.older, tc.newer)),
				fmt.Sprintf("%d had %d %d", 3-tc.kept, tc.kept, min(tc.older, tc.newer)))
			w.mustYield(t, `
				SELECT concat_ws(' ', s.group_id, p.username, s.username)
				FROM sightings s JOIN players p ON p.id = s.player_id ORDER BY 1`,
				fmt.Sprintf("%d alice alice", tc.kept), fmt.Sprintf("%d bob bob", tc.kept), fmt.Sprintf("%d carol carol", tc.kept))
			after := w.Contents(t)
			for _, table := range []string{
				"matches", "match_players", "match_messages", "elo_history", "group_players", "players",
			} {
				dbtest.Equal(t, table, before[table], after[table])
			}
			if n := w.Wakes.Load(); n != 1 {
				t.Errorf("woken %d times", n)
			}
			w.mustVerify(t)
			w.move(t)
			dbtest.Equal(t, "moving again changes", after, w.Contents(t))
			w.recordIn(t, club, "late", bob, carol, 3, 1)
			w.mustYield(t, `SELECT concat_ws(' ', group_id, number) FROM matches WHERE idempotency_key = 'late'`,
				fmt.Sprintf("%d %d", tc.kept, max(tc.older, tc.newer)+1))
			w.mustVerify(t)
		})
	}
}

// TestMoveJoinsLadders checks that when two chats with two ladders each are merged, the ladders of
// the remaining group keep their boards. The board of the other group's second ladder ends, with
// its messages and topics. Topics of the older chat end, because they do not exist in the newer
// one.
func TestMoveJoinsLadders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		newer  int // number of matches in the newer group; the older group has one
		boards []string
		topics []string
		ends   string // object of the notice that expires
	}{
		"the older goes on":  {1, []string{"1 1", "1 3"}, nil, "board:4"},
		"the newer goes on":  {2, []string{"2 2", "2 4"}, []string{"2 8 4"}, "board:3"},
		"the newer is empty": {0, []string{"1 1", "1 3"}, nil, "board:4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			w.recordIn(t, club, "older", alice, bob, 3, 1)
			dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, dbtest.Upgraded, nil))
			for i := range tc.newer {
				w.recordIn(t, dbtest.Upgraded, fmt.Sprint("newer ", i), alice, bob, 3, 1)
			}
			dbtest.Exec(t, w.Pool, `
				UPDATE ladders SET name = 'chess';
				`+dbtest.PadelLadders("true")+`
				INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, left_at)
				    SELECT l.id, p.id, 'Alice', 1500, 1500, 1500, now()
				    FROM ladders l CROSS JOIN players p WHERE l.id = 3 AND p.username = 'alice';
				UPDATE group_players s SET left_at = now()
				    FROM players p WHERE p.id = s.player_id AND p.username = 'alice' AND season_id = 1;
				INSERT INTO topics VALUES (1, 8, 3), (2, 8, 4);
				INSERT INTO imports VALUES (1, 1, 1, 1, 0, '{}'), (2, 1, 2, 1, 0, '{}');
				INSERT INTO start_ratings VALUES (1, 1, 1, 1500, 1500), (2, 1, 2, 1500, 1500);
				INSERT INTO boards (chat_id, ladder_id) VALUES (1, 1), (1, 3), (2, 2), (2, 4);
				DELETE FROM outbox;
				INSERT INTO ensured_messages VALUES
				    (1, 'board:1', 5, ''), (1, 'board:3:8', 6, ''), (2, 'board:2', 7, ''), (2, 'board:4', 8, '');
				INSERT INTO outbox (chat_id, kind, payload, action, object, supersede_key) VALUES
				    (1, 'board', '{}', 'ensure', 'board:3', 'board:3'), (2, 'board', '{}', 'ensure', 'board:4', 'board:4')`)
			w.move(t)
			w.mustYield(t, `SELECT concat_ws(' ', chat_id, ladder_id) FROM boards ORDER BY 1`, tc.boards...)
			w.mustYield(t, `SELECT concat_ws(' ', chat_id, thread_id, ladder_id) FROM topics ORDER BY 1`, tc.topics...)
			w.mustYield(t, `SELECT object FROM outbox WHERE state = 'expired'`, tc.ends)
			w.mustYield(t, `
				SELECT object FROM ensured_messages
				WHERE substring(object FROM '[0-9]+')::bigint NOT IN (SELECT ladder_id FROM boards)`)
			w.mustYield(t, `
				SELECT DISTINCT is_default::text FROM ladders l JOIN groups g ON g.id = l.group_id
				WHERE g.chat_id IS NOT NULL ORDER BY 1`,
				"false", "true")
			if tc.newer == 1 {
				w.mustYield(t, `SELECT season_id::text FROM group_players WHERE left_at IS NOT NULL`)
			}
			w.mustVerify(t)
		})
	}
}

// TestMoveKeepsFormerUsernames checks that after the move, a person seen in both chats has one
// current username. All the others are kept as former usernames, each once, the latest last.
func TestMoveKeepsFormerUsernames(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]int{"newer in the newer": 1, "newer in the older": 2} {
		w := newWorld(t, alice, bob)
		w.recordIn(t, club, "1", alice, bob, 3, 1)
		w.recordIn(t, dbtest.Upgraded, "2", carol, bob, 3, 1)
		dbtest.Exec(t, w.Pool, `
			UPDATE sightings s SET username = 'Bobby', former = '{robert,bob}', seen_at = '2020-01-01'
			FROM players p WHERE p.id = s.player_id AND p.username = 'bob' AND s.group_id = $1`, older)
		dbtest.Exec(t, w.Pool, `
			UPDATE sightings s SET former = '{rob,robert}'
			FROM players p WHERE p.id = s.player_id AND p.username = 'bob' AND s.group_id = 3 - $1`, older)
		w.move(t)
		got := dbtest.Values[string](t, w.Pool, `
			SELECT concat_ws(' ', s.username, s.former) FROM sightings s JOIN players p ON p.id = s.player_id ORDER BY 1`)
		dbtest.Equal(t, name, []string{"alice", "bob {bobby,rob,robert}", "carol"}, got)
	}
}

// TestMoveKeepsWhoCame checks that a person who has sent a command to either chat counts as having
// sent one to the combined chat.
func TestMoveKeepsWhoCame(t *testing.T) {
	t.Parallel()
	for older := range 2 {
		w := newWorld(t, alice, bob)
		w.recordIn(t, club, "1", alice, bob, 3, 1)
		w.recordIn(t, dbtest.Upgraded, "2", alice, bob, 3, 1)
		dbtest.Exec(t, w.Pool, `
			UPDATE sightings SET seen_at = CASE WHEN group_id = $1 THEN timestamptz '2020-01-01' ELSE '2021-01-01' END,
			    came = group_id = 1 AND player_id = (SELECT id FROM players WHERE username = 'bob')`, older+1)
		w.move(t)
		w.mustYield(t, `SELECT concat_ws(' ', username, came) FROM sightings ORDER BY 1`, "alice f", "bob t")
	}
}

// mergeable gives the club and the supergroup rows and settings that a move passes on or ends.
func (w *world) mergeable(t *testing.T) {
	t.Helper()
	dbtest.Exec(t, w.Pool, `
		UPDATE chats SET language = 'de', language_chosen = true, tables = true, celebrations = false, dark_charts = true,
		    time_zone = 'Asia/Tokyo', frozen_until = now(), parked_at = now() WHERE id = 1;
		UPDATE chats SET frozen_until = '2040-01-02T03:04:05Z', parked_at = '2040-01-02T00:00:00Z',
		    parked_until = '2040-01-03T00:00:00Z', parkings = 4 WHERE id = 2;
		INSERT INTO chat_aliases VALUES (-98, 1), (-99, 2);
		INSERT INTO ensured_messages VALUES (1, 'board:1', 5, ''), (2, 'board:2', 6, ''), (2, 'other', 7, '');
		INSERT INTO boards (chat_id, ladder_id, thread_id, pin) VALUES (1, 1, 8, 'refused'), (2, 2, 9, 'pinned');
		INSERT INTO match_messages VALUES (-100, 71, 1), (-1000100, 72, 2);
		DELETE FROM outbox;
		INSERT INTO outbox (chat_id, kind, payload, state, reply_to, thread_id, supersede_key, finished_at) VALUES
		    (2, 'a', '{}', 'sent', 7, 8, NULL, now()), (1, 'b', '{}', 'planned', 7, 8, 'both', NULL),
		    (2, 'c', '{}', 'planned', 7, 8, 'both', NULL), (2, 'd', '{}', 'sending', 7, NULL, NULL, NULL),
		    (2, 'e', '{}', 'planned', NULL, NULL, 'of two', NULL), (1, 'f', '{}', 'planned', NULL, NULL, 'of one', NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, action, edited_message_id, supersede_key) VALUES
		    (1, 'g', '{}', 'planned', 'page', 7, 'page:7'), (1, 'h', '{}', 'sending', 'page', 7, NULL),
		    (2, 'i', '{}', 'planned', 'page', 7, 'page:7');`)
}

// mustVerify verifies all groups, and checks that there are no findings.
func (w *world) mustVerify(t *testing.T) {
	t.Helper()
	err := ranking.Verify(t.Context(), w.Store, 0,
		func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(ranking.Progress) {})
	dbtest.Must(t, err)
}

// TestEarlierIDs checks that queries by Telegram's chat id also find a chat by an earlier id.
func TestEarlierIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "m:-100:7", alice, bob, 3, 1)
	dbtest.Exec(t, w.Pool, `INSERT INTO match_messages VALUES (-100, 71, 1)`)
	w.move(t)
	w.recordIn(t, dbtest.Upgraded, "m:-1000100:7", bob, alice, 3, 1)
	dbtest.Exec(t, w.Pool, `INSERT INTO match_messages VALUES (-1000100, 71, 2)`)
	read := func(chat ranking.Chat) *ranking.Snapshot {
		t.Helper()
		snap, err := w.Store.Read(t.Context(), ranking.Query{
			Key: "k", Chat: chat, Needs: ranking.Needs{People: []command.Person{alice}},
		})
		dbtest.Must(t, err)
		return snap
	}
	late, now := read(club), read(dbtest.Upgraded)
	if diff := cmp.Diff(now, late, cmpopts.EquateEmpty()); diff != "" || late.Chat != dbtest.Upgraded || late.ChatID != 1 {
		t.Errorf("read by the earlier id (-now +late):\n%s\n%+v", diff, late)
	}
	if page, err := pgstats.NewStore(w.Pool, w.Pool).Ranking(t.Context(), dbtest.Ladder(t, w.Pool, club.ID), nil,
		stats.RankingQuestion{Page: 20}, time.Time{}); err != nil || len(page.Rows) != 2 || page.Total != 2 {
		t.Errorf("the ranking by the earlier id is %+v (%v)", page, err)
	}
	for _, tc := range []struct {
		chat ranking.Chat
		ref  ranking.MatchRef
		want int
	}{
		{club, ranking.MatchRef{Number: 2}, 2},
		// A message is found by the id that its chat had when the message was sent.
		{club, ranking.MatchRef{Message: 71}, 1},
		{dbtest.Upgraded, ranking.MatchRef{Message: 71}, 2},
		{club, ranking.MatchRef{Message: 7, Key: "m:-100:7"}, 1},
		{dbtest.Upgraded, ranking.MatchRef{Message: 7, Key: "m:-1000100:7"}, 2},
		{club, ranking.MatchRef{}, 2},
		{dbtest.Upgraded, ranking.MatchRef{}, 2},
	} {
		found := 0
		for _, m := range w.matches(t, tc.chat, tc.ref, &alice) {
			found = m.Number
		}
		if found != tc.want {
			t.Errorf("%+v in %s is match %d, want %d", tc.ref, tc.chat.Title, found, tc.want)
		}
	}
	before := w.Contents(t)
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, club, nil))
	dbtest.Equal(t, "upserted by the earlier id", before, w.Contents(t))
	findings := 0
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET elo = elo + 1, best_elo = 2000`)
	for _, chat := range []ranking.Chat{club, dbtest.Upgraded} {
		err := ranking.Verify(t.Context(), w.Store, chat.ID, func(f ranking.Finding) {
			if findings++; f.Chat != dbtest.Upgraded.ID {
				t.Errorf("found %+v", f)
			}
		}, func(ranking.Progress) {})
		dbtest.Must(t, err)
	}
	if findings == 0 || findings%2 != 0 {
		t.Errorf("%d findings by the two ids together", findings)
	}
}
