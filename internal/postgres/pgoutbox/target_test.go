package pgoutbox_test

import (
	"fmt"
	"testing"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// edit changes the card of a match, and queues an edit of the card's message.
func (m mail) edit(t *testing.T, match int) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `
		UPDATE outbox SET payload = '{"undone": true}'
		WHERE id IN (SELECT outbox_id FROM match_messages WHERE match_id = $1)`, match)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO outbox (chat_id, kind, payload, action, match_id)
		VALUES (1, 'match_recorded', '{"undone": true}', 'edit', $1)`, match)
}

// TestEditOfSeveral checks that the edit of a message that shows several matches contains all
// notices of the message, in their current form. If one of several notices is missing, or no
// message is recorded, the edit has no target.
func TestEditOfSeveral(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql   string
		match int
		want  string
	}{
		"all are there": {"", 3, `71: 1{} 2{} 3{"undone": true} 4{}`},
		"others have changed": {
			`UPDATE outbox SET payload = '{"n": 9}' WHERE id IN (1, 2, 3) AND action = 'send'`, 4, `71: 1{"n": 9} 2{"n": 9} 3{"n": 9} 4{"undone": true}`,
		},
		"one was purged":  {`DELETE FROM outbox WHERE id = 2`, 3, `0: 7{"undone": true}`},
		"all were purged": {`DELETE FROM outbox WHERE id < 7`, 3, `0: 7{"undone": true}`},
		"sent again":      {`INSERT INTO match_messages VALUES (-100, 99, 3)`, 3, `99: 7{"undone": true}`},
		"sent earlier":    {`INSERT INTO match_messages VALUES (-100, 9, 3), (-200, 99, 3)`, 3, `71: 1{} 2{} 3{"undone": true} 4{}`},
		"sent alone":      {`UPDATE match_messages SET covered = 1; UPDATE outbox SET batch = NULL`, 3, `71: 3{"undone": true}`},
		"sent alone, and purged": {
			`UPDATE match_messages SET covered = 1; DELETE FROM outbox WHERE id < 7`, 3, `71: 7{"undone": true}`,
		},
		"never sent": {``, 9, `0: 7{"undone": true}`},
		"in two messages": {
			`UPDATE outbox SET telegram_message_id = 72 WHERE id = 4; UPDATE match_messages SET covered = 3`, 1, `71: 1{"undone": true} 2{} 3{}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, message := several(t)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET addressee = 'Bob' WHERE id = 2`)
			r := dbtest.SentAs(message, 71)
			r.Covered = 4
			m.Finish(t, r)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET state = 'expired', finished_at = now() WHERE id = 5`)
			dbtest.Exec(t, m.Pool, `SELECT nextval('outbox_id_seq')`)
			m.edit(t, tc.match)
			dbtest.Exec(t, m.Pool, tc.sql)
			for range 2 { // the second time, as if after a crash
				edit := m.Take(t, 1)
				if edit == nil || edit.Action != outbox.Edit || edit.Row.ID != 7 {
					t.Fatalf("took %+v", edit)
				}
				dbtest.Equal(t, "edit", tc.want, fmt.Sprint(edit.Target, ": ", dbtest.Content(edit)))
				if len(edit.Items) == 4 && (edit.KnownFingerprint != "print 71" || edit.Items[1].Addressee != "Bob") {
					t.Errorf("the edit is %+v", edit)
				}
			}
		})
	}
}

// TestEditedAsAWhole checks that, after the edit of a message that shows several matches, the
// message's new fingerprint is recorded for all these matches.
func TestEditedAsAWhole(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	m.Finish(t, dbtest.SentAs(message, 71))
	for _, match := range []int{3, 1} {
		m.edit(t, match)
		edit := m.Take(t, 1)
		want := "print 71"
		if match == 1 {
			want = "edit 3"
		}
		if edit.KnownFingerprint != want {
			t.Errorf("its known content is %q, want %q", edit.KnownFingerprint, want)
		}
		m.Finish(t, outbox.Result{
			Message: *edit, Receipt: outbox.Receipt{MessageID: 71}, Fingerprint: fmt.Sprint("edit ", match),
		})
	}
	got := dbtest.Values[string](t, m.Pool, `SELECT match_id || ' ' || fingerprint FROM match_messages ORDER BY 1`)
	dbtest.Equal(t, "messages", []string{"1 edit 1", "3 edit 1", "4 edit 1"}, got)
	m.MustHaveRows(t, `action, state, batch`,
		"1 send sent 1", "2 send sent 1", "3 send sent 1", "4 send sent 1", "5 send sent 1", "6 edit sent", "7 edit sent")
}

// TestEditFails checks that the failure of an edit changes only the row of the edit, not the rows
// of the other notices that the message shows.
func TestEditFails(t *testing.T) {
	t.Parallel()
	for kind, want := range map[outbox.FailureKind]string{
		outbox.Rejected: "6 edit dead", outbox.Obsolete: "6 edit expired",
		outbox.Unreachable: "6 edit planned", outbox.Ambiguous: "6 edit sending",
	} {
		m, message := several(t)
		m.Finish(t, dbtest.SentAs(message, 71))
		m.edit(t, 3)
		r := dbtest.Failed(*m.Take(t, 1), kind)
		r.Covered = 2
		m.Finish(t, r)
		m.MustHaveRows(t, `action, state`, "1 send sent", "2 send sent", "3 send sent", "4 send sent", "5 send sent", want)
		if got := dbtest.Value[int](t, m.Pool, `
			SELECT count(*) FROM match_messages WHERE fingerprint = 'print 71'`); got != 3 {
			t.Errorf("%s: %d messages have their old content", kind, got)
		}
	}
}

// TestEnsure checks that the id and the fingerprint of a message that exists once are recorded when
// the message is sent, and the next update gets them. They do not change if the id of the sent
// message is unknown, or if the chat gets a new id during the request.
func TestEnsure(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	ensure := func(object string) outbox.Message {
		t.Helper()
		dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, purpose, action, object)
			VALUES (1, 'board', '{}', 'notification', 'ensure', $1)`, object)
		message := m.Turn(t, dbtest.Boards(1)).Message
		if message == nil || message.Action != outbox.Ensure || message.Object != object || len(message.Items) != 1 {
			t.Fatalf("took %+v", message)
		}
		return *message
	}
	known := func(m outbox.Message) string { return fmt.Sprint(m.Target, " ", m.KnownFingerprint) }
	first := ensure("board")
	if got := known(first); got != "0 " {
		t.Errorf("known content of a new one: %q", got)
	}
	m.Finish(t, dbtest.SentAs(first, 71))
	m.Finish(t, dbtest.SentAs(ensure("other"), 81))
	again := ensure("board")
	if got := known(again); got != "71 print 71" {
		t.Errorf("known content: %q", got)
	}
	if got := known(*m.Turn(t, dbtest.Boards(1)).Message); got != "71 print 71" {
		t.Errorf("known content after a crash: %q", got)
	}
	r := dbtest.Failed(*m.Turn(t, dbtest.Boards(1)).Message, outbox.Unreachable)
	r.Pause = 0
	m.Finish(t, r)
	// The message was sent, but its id is unknown.
	m.Finish(t, dbtest.SentAs(*m.Turn(t, dbtest.Boards(1)).Message, 0))
	next := ensure("board")
	if got := known(next); got != "71 print 71" {
		t.Errorf("known content afterwards: %q", got)
	}
	m.Finish(t, dbtest.SentAs(next, 72))
	last := ensure("board")
	// The chat gets a new id during the request.
	dbtest.Exec(t, m.Pool, `UPDATE chats SET telegram_chat_id = -1000100 WHERE id = 1`)
	m.Finish(t, dbtest.SentAs(last, 99))
	got := dbtest.Values[string](t, m.Pool, `
		SELECT concat_ws(' ', chat_id, object, telegram_message_id, fingerprint) FROM ensured_messages ORDER BY 1`)
	dbtest.Equal(t, "messages", []string{"1 board 72 print 72", "1 other 81 print 81"}, got)
	if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`); n != 5 {
		t.Errorf("%d are sent", n)
	}
}

// TestPins checks that the state of a board's pin is stored. If the bot has no right to pin the
// board, the chat gets one notice, and another notice only after the board was pinned.
func TestPins(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO groups (chat_id) VALUES (1);
		`+dbtest.DefaultLadders+`
		INSERT INTO boards (chat_id, ladder_id) VALUES (1, 1)`)
	for i, tc := range []struct {
		tried outbox.Pin
		want  string
	}{
		{outbox.PinWanted, "wanted, told 0 times"}, {outbox.PinRefused, "refused, told 1 times"}, {outbox.PinWanted, "refused, told 1 times"},
		{outbox.PinRefused, "refused, told 1 times"}, {outbox.Pinned, "pinned, told 1 times"}, {"", "pinned, told 1 times"},
		{outbox.PinWanted, "wanted, told 1 times"}, {outbox.PinRefused, "refused, told 2 times"},
	} {
		board := outbox.Message{
			Lane: outbox.Lane{Chat: 1, Kind: outbox.Boards}, ExternalChat: -100, Action: outbox.Ensure, Object: "board:1",
		}
		m.Finish(t, outbox.Result{Message: board, Receipt: outbox.Receipt{Pin: tc.tried}})
		got := dbtest.Value[string](t, m.Pool, `
			SELECT pin || ', told ' || (SELECT count(*) FROM outbox WHERE kind = 'board_not_pinned') || ' times' FROM boards`)
		if got != tc.want {
			t.Errorf("%d, %q: %s, want %s", i, tc.tried, got, tc.want)
		}
	}
}

// TestOnlyBoardsAreRefreshed checks that QueueAllBoards queues updates only for boards, not for
// other messages that exist once.
func TestOnlyBoardsAreRefreshed(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO ensured_messages VALUES (1, 'season:1', 5, ''), (1, 'season:2:8', 6, ''), (1, 'board:7', 7, '')`)
	if _, err := m.Store.QueueAllBoards(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := dbtest.Values[string](t, m.Pool, `SELECT object FROM outbox WHERE action = 'ensure'`)
	dbtest.Equal(t, "refreshed", []string{"board:7"}, got)
}
