package pgranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// chats returns all chats, with their earlier ids.
func (w *world) chats(t *testing.T) []string {
	t.Helper()
	return dbtest.Values[string](t, w.Pool, `
		SELECT concat_ws(' ', id, telegram_chat_id, kind, title,
		       (SELECT array_agg(telegram_chat_id ORDER BY telegram_chat_id DESC) FROM chat_aliases WHERE chat_id = chats.id))
		FROM chats ORDER BY id`)
}

func (w *world) mustHaveChats(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.chats(t)); diff != "" {
		t.Errorf("chats (-want +got):\n%s", diff)
	}
}

// outbox returns all rows of the outbox, with the messages that they reply to.
func (w *world) outbox(t *testing.T) []string {
	t.Helper()
	return dbtest.Values[string](t, w.Pool, `
		SELECT concat_ws(' ', id, chat_id, kind, state, 'to ' || reply_to, 'in ' || thread_id, supersede_key) FROM outbox ORDER BY id`)
}

// TestMoveRenames: a chat whose new id is unknown keeps everything that is not tied to the old id.
func TestMoveRenames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, annex, nil))
	dbtest.Exec(t, w.Pool, `
		UPDATE chats SET language = 'de', frozen_until = now(), parked_at = now();
		INSERT INTO ensured_messages VALUES (1, 'board', 5, ''), (2, 'board', 6, '');
		INSERT INTO outbox (chat_id, kind, payload, state, reply_to, thread_id, finished_at) VALUES
		    (1, 'a', '{}', 'sent', 7, 8, now()), (1, 'b', '{}', 'sending', 7, NULL, NULL), (1, 'c', '{}', 'planned', 7, 8, NULL),
		    (2, 'd', '{}', 'planned', 7, 8, NULL), (1, 'e', '{}', 'planned', NULL, NULL, NULL), (1, 'f', '{}', 'planned', NULL, 8, NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, action, edited_message_id, supersede_key, purpose) VALUES
		    (1, 'g', '{}', 'planned', 'page', 7, 'page:7', 'answer'), (1, 'h', '{}', 'sending', 'page', 7, NULL, 'answer'),
		    (2, 'i', '{}', 'planned', 'page', 7, 'page:7', 'answer');
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    VALUES (1, 1, 1, 3, 1, 32, now(), 'm:-100:1');
		INSERT INTO match_messages VALUES (-100, 7, 1);
		INSERT INTO handled_commands VALUES ('m:-100:1')`)
	kept := w.Contents(t)
	w.Wakes.Store(0)
	w.move(t)
	w.mustHaveChats(t, "1 -1000100 supergroup Club {-100}", "2 -200 supergroup Annex")
	want := []string{"1 1 a sent to 7 in 8", "2 1 b sending", "3 1 c planned", "4 2 d planned to 7 in 8", "5 1 e planned", "6 1 f planned",
		"7 1 g expired", "8 1 h expired", "9 2 i planned page:7"}
	if diff := cmp.Diff(want, w.outbox(t)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
	if got := dbtest.Value[string](t, w.Pool, `SELECT concat_ws(' ', language, frozen_until, parked_at) FROM chats WHERE id = 1`); got != "de" {
		t.Errorf("the chat's language, and for how long it is frozen and parked: %s", got)
	}
	if got := dbtest.Values[int](t, w.Pool, `SELECT chat_id FROM ensured_messages`); len(got) != 1 || got[0] != 2 {
		t.Errorf("ensured messages exist in the chats %v", got)
	}
	if n := w.Wakes.Load(); n != 1 {
		t.Errorf("woken %d times", n)
	}
	now := w.Contents(t)
	for _, table := range []string{"chats", "chat_aliases", "outbox"} {
		delete(kept, table)
		delete(now, table)
	}
	if diff := cmp.Diff(kept, now); diff != "" {
		t.Errorf("other tables have changed:\n%s", diff)
	}
}

// TestMoveJoins: when two chats become one, everything of the newer one passes to the older one.
func TestMoveJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "1", alice, bob, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "2", bob, alice, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "3", carol, alice, 3, 1)
	dbtest.Exec(t, w.Pool, `
		UPDATE chats SET language = 'de', frozen_until = now(), parked_at = now() WHERE id = 1;
		UPDATE chats SET frozen_until = '2040-01-02T03:04:05Z' WHERE id = 2;
		INSERT INTO chat_aliases VALUES (-98, 1), (-99, 2);
		INSERT INTO ensured_messages VALUES (1, 'board', 5, ''), (2, 'board', 6, ''), (2, 'other', 7, '');
		INSERT INTO boards (chat_id, thread_id, pin) VALUES (1, 8, 'refused'), (2, 9, 'pinned');
		INSERT INTO match_messages VALUES (-100, 71, 1), (-1000100, 72, 2);
		DELETE FROM outbox;
		INSERT INTO outbox (chat_id, kind, payload, state, reply_to, thread_id, supersede_key, finished_at) VALUES
		    (2, 'a', '{}', 'sent', 7, 8, NULL, now()), (1, 'b', '{}', 'planned', 7, 8, 'both', NULL),
		    (2, 'c', '{}', 'planned', 7, 8, 'both', NULL), (2, 'd', '{}', 'sending', 7, NULL, NULL, NULL),
		    (2, 'e', '{}', 'planned', NULL, NULL, 'of two', NULL), (1, 'f', '{}', 'planned', NULL, NULL, 'of one', NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, action, edited_message_id, supersede_key) VALUES
		    (1, 'g', '{}', 'planned', 'page', 7, 'page:7'), (1, 'h', '{}', 'sending', 'page', 7, NULL),
		    (2, 'i', '{}', 'planned', 'page', 7, 'page:7');`)
	first := dbtest.Value[int](t, w.Pool, `SELECT min(id) - 1 FROM outbox`)
	messages := w.Contents(t)["match_messages"]
	w.Wakes.Store(0)
	w.move(t)
	w.mustHaveChats(t, "1 -1000100 supergroup Club+ {-98,-99,-100}")
	var want []string
	for i, row := range []string{
		"a sent to 7 in 8", "b planned", "c planned to 7 in 8 both", "d sending to 7", "e planned of two", "f planned of one",
		"g planned", "h expired", "i planned page:7", // nothing else tells the outcome, so g is sent as a message
		"groups_merged planned",
	} {
		want = append(want, fmt.Sprintf("%d 1 %s", first+1+i, row))
	}
	if diff := cmp.Diff(want, w.outbox(t)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
	state := dbtest.Value[string](t, w.Pool, `SELECT concat_ws(' ', language, frozen_until AT TIME ZONE 'UTC', parked_at) FROM chats`)
	if state != "de 2040-01-02 03:04:05" {
		t.Errorf("the chat's language, and for how long it is frozen and parked: %s", state)
	}
	boards := dbtest.Values[string](t, w.Pool, `SELECT concat_ws(' ', chat_id, thread_id, pin) FROM boards`)
	if diff := cmp.Diff([]string{"1 9 pinned"}, boards); diff != "" {
		t.Errorf("the board of the newer chat remains (-want +got):\n%s", diff)
	}
	ensured := dbtest.Values[string](t, w.Pool, `SELECT concat_ws(' ', chat_id, object, telegram_message_id) FROM ensured_messages ORDER BY object`)
	if diff := cmp.Diff([]string{"1 board 6", "1 other 7"}, ensured); diff != "" {
		t.Errorf("ensured messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(messages, w.Contents(t)["match_messages"]); diff != "" {
		t.Errorf("messages that show matches (-before +after):\n%s", diff)
	}
	matches := dbtest.Values[string](t, w.Pool, `SELECT concat_ws(' ', group_id, ladder_id, number, idempotency_key) FROM matches ORDER BY id`)
	if diff := cmp.Diff([]string{"1 1 1 1", "1 1 2 2", "1 1 3 3"}, matches); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	if got := dbtest.Value[string](t, w.Pool, `SELECT concat_ws(' ', id, chat_id, last_match_number) FROM groups`); got != "1 1 3" {
		t.Errorf("the group is %s", got)
	}
	if n := w.Wakes.Load(); n != 1 {
		t.Errorf("woken %d times", n)
	}
	w.mustVerify(t)
}

// TestMoveJoinsStandings: a player who is ranked in both groups, or in several ladders of one, is ranked once.
func TestMoveJoinsStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "1", alice, bob, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "2", alice, carol, 3, 1)
	dbtest.Exec(t, w.Pool, `
		UPDATE group_players SET name = 'Alice, as she was' WHERE id = 1;
		INSERT INTO ladders (group_id, is_default, start_elo) VALUES (2, false, 1000);
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo)
		    SELECT 3, id, display_name, 1000, 1000, 1000 FROM players;
		UPDATE group_players SET elo = 900, start_elo = 900, best_elo = 900 WHERE player_id = (
		    SELECT id FROM players WHERE username = 'carol') AND ladder_id = 2`)
	dbtest.Exec(t, w.Pool, `UPDATE elo_history SET elo_before = elo_before - 600, elo_after = elo_after - 600, best_before = 900
		WHERE player_id = (SELECT id FROM players WHERE username = 'carol')`)
	w.move(t)
	// Alice wins with 1516 against 900, and gains nearly nothing
	want := []string{"Club+ Alice Alice 1517 1500 1517 2 2 0 0 2", "Club+ Bob Bob 1484 1500 1500 1 0 0 1 -1", "Club+ Carol Carol 899 900 900 1 0 0 1 -1"}
	if diff := cmp.Diff(want, dbtest.Values[string](t, w.Pool, standings)); diff != "" {
		t.Errorf("standings (-want +got):\n%s", diff)
	}
	if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM ladders`); got != 1 {
		t.Errorf("there are %d ladders", got)
	}
	w.mustVerify(t)
}

// mustVerify replays everything and expects no findings.
func (w *world) mustVerify(t *testing.T) {
	t.Helper()
	err := ranking.Verify(t.Context(), w.Store, 0,
		func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(ranking.Progress) {})
	dbtest.Must(t, err)
}

// TestEarlierIDs: every query by Telegram's chat id also finds a chat by an earlier id.
func TestEarlierIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "m:-100:7", alice, bob, 3, 1)
	dbtest.Exec(t, w.Pool, `INSERT INTO match_messages VALUES (-100, 71, 1)`)
	w.move(t)
	w.recordIn(t, dbtest.Upgraded, "m:-1000100:7", bob, alice, 3, 1)
	dbtest.Exec(t, w.Pool, `INSERT INTO match_messages VALUES (-1000100, 71, 2)`)
	read := func(chat ranking.Chat) ranking.Snapshot {
		t.Helper()
		snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: chat, People: []ranking.Person{alice}})
		dbtest.Must(t, err)
		return snap
	}
	late, now := read(club), read(dbtest.Upgraded)
	if diff := cmp.Diff(now, late, cmpopts.EquateEmpty()); diff != "" || late.Chat != dbtest.Upgraded || late.ChatID != 1 {
		t.Errorf("read by the earlier id (-now +late):\n%s\n%+v", diff, late)
	}
	if page, err := pgstats.NewStore(w.Pool, w.Pool).Ranking(t.Context(), club.ID, nil, stats.RankingQuery{Page: 20}, time.Time{}); err != nil || len(page.Rows) != 2 || page.Total != 2 {
		t.Errorf("the ranking by the earlier id is %+v (%v)", page, err)
	}
	for _, tc := range []struct {
		chat ranking.Chat
		ref  ranking.MatchRef
		want int
	}{
		{club, ranking.MatchRef{Number: 2}, 2},
		{club, ranking.MatchRef{Message: 71}, 1}, // by the id that the chat had when the message was sent
		{dbtest.Upgraded, ranking.MatchRef{Message: 71}, 2},
		{club, ranking.MatchRef{Message: 7, Key: "m:-100:7"}, 1},
		{dbtest.Upgraded, ranking.MatchRef{Message: 7, Key: "m:-1000100:7"}, 2},
		{club, ranking.MatchRef{Number: 2, NumberMessage: 71}, 1},
		{dbtest.Upgraded, ranking.MatchRef{Number: 1, NumberMessage: 71}, 2},
		{dbtest.Upgraded, ranking.MatchRef{Number: 1, NumberMessage: 72}, 1},
		{dbtest.Upgraded, ranking.MatchRef{Number: 3, NumberMessage: 72}, 0},
		{club, ranking.MatchRef{}, 2},
		{dbtest.Upgraded, ranking.MatchRef{}, 2},
	} {
		m, err := w.Store.FindMatch(t.Context(), tc.chat.ID, tc.ref, &alice)
		dbtest.Must(t, err)
		found := 0
		if m != nil {
			found = m.Number
		}
		if found != tc.want {
			t.Errorf("%+v in %s is match %d, want %d", tc.ref, tc.chat.Title, found, tc.want)
		}
	}
	before := w.Contents(t)
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, club, nil))
	if diff := cmp.Diff(before, w.Contents(t)); diff != "" {
		t.Errorf("upserted by the earlier id (-before +after):\n%s", diff)
	}
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
