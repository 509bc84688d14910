package pgranking_test

import (
	"encoding/json"
	"strings"
	"testing"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// cards is a world with one match whose card waits to be sent, and the outbox to send it.
type cards struct {
	*world
	dbtest.Mail
}

func newCards(t *testing.T) cards {
	t.Helper()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	return cards{w, w.Mail(t)}
}

// change changes the card of match 1 to show the number n.
func (c cards) change(t *testing.T, key string, n int) {
	t.Helper()
	dbtest.Must(t, c.world.Store.ChangeCard(t.Context(), key, 1,
		ranking.Card{Match: 1, Notice: ranking.MatchRecorded{Number: n}}))
}

// mustHave checks that the outbox has exactly the rows want, sent or not.
func (c cards) mustHave(t *testing.T, want ...string) {
	t.Helper()
	c.mustYield(t, `
		SELECT action || ' ' || state || ' ' || kind || ' ' || coalesce(match_id, 0) || ' shows ' || (payload->>'number')
		FROM outbox ORDER BY id`, want...)
}

// messages selects the messages that show a match.
const messages = `
	SELECT concat_ws(' ', telegram_chat_id, telegram_message_id, match_id, fingerprint) FROM match_messages ORDER BY 1`

// send takes the next message and records it as sent with the message id message.
func (c cards) send(t *testing.T, message int64) outbox.Message {
	t.Helper()
	taken := c.Take(t, 1)
	if taken == nil {
		t.Fatal("there is nothing to send")
	}
	c.Finish(t, dbtest.SentAs(*taken, message))
	return *taken
}

// TestCardThatWaits checks that a card not sent yet is sent with its new content.
func TestCardThatWaits(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.mustHave(t, "send planned match_recorded 1 shows 1")
	c.change(t, "2", 22)
	c.change(t, "3", 33)
	c.mustHave(t, "send planned match_recorded 1 shows 33")
	if m := c.MustTake(t, 1, 1); m.Action != outbox.Send || m.Target != 0 || m.Row.ReplyTo != 7 ||
		m.Thread != 8 || m.Row.Key != "1" {
		t.Errorf("took %+v", m)
	}
}

// TestCardOnItsWay checks that a card being sent is edited afterward, with the last of several
// changes.
func TestCardOnItsWay(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	card := c.MustTake(t, 1, 1)
	c.change(t, "2", 22)
	c.mustHave(t, "send sending match_recorded 1 shows 22", "edit planned match_recorded 1 shows 22")
	c.change(t, "3", 33)
	c.mustHave(t, "send sending match_recorded 1 shows 33", "edit planned match_recorded 1 shows 33")
	c.Finish(t, dbtest.SentAs(card, 71))
	edit := c.Take(t, 1)
	want := outbox.Message{
		Lane: dbtest.Chat(1), ExternalChat: -100, Language: "en", TimeZone: "UTC",
		Action: outbox.Edit, Purpose: notice.Outcome, Target: 71, KnownFingerprint: "print 71",
		Row:   outbox.Item{Key: "3", Kind: "match_recorded", Attempts: 1},
		Items: []outbox.Item{{ID: 1, Key: "1", Kind: "match_recorded", ReplyTo: 7, Attempts: 1}},
	}
	for _, item := range append(edit.Items, edit.Row) {
		var outboxRows ranking.MatchRecorded
		if err := json.Unmarshal(item.Payload, &outboxRows); err != nil || outboxRows.Number != 33 {
			t.Errorf("the edit shows %s (%v)", item.Payload, err)
		}
	}
	want.Row.ID, edit.Row.Payload, edit.Items[0].Payload = edit.Row.ID, nil, nil
	dbtest.Equal(t, "edit", &want, edit)
}

// TestCardThatWasSent checks that changes to a sent card wait as one edit with the last content.
// Once that edit is taken, further changes wait as another edit.
func TestCardThatWasSent(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.change(t, "2", 22)
	c.change(t, "3", 33)
	c.mustHave(t, "send sent match_recorded 1 shows 33", "edit planned match_recorded 1 shows 33")
	first := *c.Take(t, 1)
	c.change(t, "4", 44)
	c.change(t, "5", 55)
	c.mustHave(t, "send sent match_recorded 1 shows 55", "edit sending match_recorded 1 shows 33",
		"edit planned match_recorded 1 shows 55")
	c.Finish(t, outbox.Result{Message: first, Receipt: outbox.Receipt{MessageID: 71}, Fingerprint: "first"})
	c.mustYield(t, messages, "-100 71 1 first")
	if last := c.send(t, 71); last.Target != 71 || last.KnownFingerprint != "first" {
		t.Errorf("the last edit is %+v", last)
	}
	c.mustHave(t, "send sent match_recorded 1 shows 55", "edit sent match_recorded 1 shows 33",
		"edit sent match_recorded 1 shows 55")
	c.mustYield(t, messages, "-100 71 1 print 71")
}

// TestEditThatWasTried checks that an edit is not superseded once it was tried. Later changes wait
// as another edit.
func TestEditThatWasTried(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.change(t, "2", 22)
	r := dbtest.Failed(*c.Take(t, 1), outbox.Unreachable)
	r.Pause = 0
	c.Finish(t, r)
	c.change(t, "3", 33)
	c.change(t, "4", 44)
	c.mustHave(t, "send sent match_recorded 1 shows 44",
		"edit planned match_recorded 1 shows 22", "edit planned match_recorded 1 shows 44")
	for range 2 { // each has the current content of the card
		if edit := c.send(t, 71); !strings.Contains(string(edit.Items[0].Payload), "44") {
			t.Errorf("the edit shows %s, want 44", edit.Items[0].Payload)
		}
	}
}

// TestCardOfAnotherMatch checks that changing a card changes neither the cards of other matches nor
// other notices about the same match.
func TestCardOfAnotherMatch(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.Play(t, "2", bob, alice)
	dbtest.Exec(t, c.world.Pool, `
		INSERT INTO outbox (chat_id, kind, payload, match_id) VALUES (1, 'other', '{"number": 9}', 1)`)
	c.change(t, "3", 33)
	c.mustHave(t, "send sent match_recorded 1 shows 33", "send planned match_recorded 2 shows 2",
		"send planned other 1 shows 9", "edit planned match_recorded 1 shows 33")
}

// TestCardIsTakenConcurrently checks that if a card is taken while it is being changed, its message
// is edited.
func TestCardIsTakenConcurrently(t *testing.T) {
	t.Parallel()
	for state, finish := range map[string]string{
		"sending": "", "sent": ", finished_at = now(), telegram_message_id = 71",
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			c := newCards(t)
			dispatcher := dbtest.Begin(t, c.world.Pool)
			dbtest.Exec(t, dispatcher, `UPDATE outbox SET attempts = 1, state = $1`+finish, state)
			card := ranking.Card{Match: 1, Notice: ranking.MatchRecorded{Number: 22}}
			changed := dbtest.Start(func() error { return c.world.Store.ChangeCard(t.Context(), "2", 1, card) })
			dbtest.Await(t, c.world.Pool, dbtest.Blocked)
			dbtest.Must(t, dispatcher.Commit(t.Context()))
			dbtest.Must(t, dbtest.Receive(t, changed))
			c.mustHave(t, "send "+state+" match_recorded 1 shows 22", "edit planned match_recorded 1 shows 22")
		})
	}
}

// TestEditIsTakenConcurrently checks that if the edit of a card is taken while the card is changed
// again, the message is edited again.
func TestEditIsTakenConcurrently(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.change(t, "2", 22)
	dispatcher := dbtest.Begin(t, c.world.Pool)
	dbtest.Exec(t, dispatcher, `
		UPDATE outbox SET state = 'sending', attempts = 1, supersede_key = NULL WHERE action = 'edit'`)
	card := ranking.Card{Match: 1, Notice: ranking.MatchRecorded{Number: 33}}
	changed := dbtest.Start(func() error { return c.world.Store.ChangeCard(t.Context(), "3", 1, card) })
	dbtest.Await(t, c.world.Pool, dbtest.Blocked)
	dbtest.Must(t, dispatcher.Commit(t.Context()))
	dbtest.Must(t, dbtest.Receive(t, changed))
	c.mustHave(t, "send sent match_recorded 1 shows 33",
		"edit sending match_recorded 1 shows 22", "edit planned match_recorded 1 shows 33")
}

// TestTakeWaitsForTheChange checks that a message taken while its content is being changed has the
// changed content.
func TestTakeWaitsForTheChange(t *testing.T) {
	t.Parallel()
	for _, action := range []outbox.Action{outbox.Send, outbox.Edit} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			c := newCards(t)
			if action == outbox.Edit {
				c.send(t, 71)
				c.change(t, "2", 11)
			}
			changer := dbtest.Begin(t, c.world.Pool)
			dbtest.Exec(t, changer, `UPDATE outbox SET payload = '{"number": 22}'`)
			taken := make(chan []outbox.Turn, 1)
			failed := dbtest.Start(func() error {
				turns, err := c.Advance(t.Context(), 1, nil, []outbox.Lane{dbtest.Chat(1)}, dbtest.Bounds)
				taken <- turns
				return err
			})
			dbtest.Await(t, c.world.Pool, dbtest.Blocked)
			dbtest.Must(t, changer.Commit(t.Context()))
			dbtest.Must(t, dbtest.Receive(t, failed))
			if m := dbtest.Receive(t, taken)[0].Message; m == nil || m.Action != action ||
				string(m.Items[0].Payload) != `{"number": 22}` {
				t.Errorf("took %+v", m)
			}
		})
	}
}

// TestMessagesOfAnUpgradedGroup checks that a message is found by the id that its chat had when the
// message was sent. A message sent under an earlier id can no longer be edited.
func TestMessagesOfAnUpgradedGroup(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	card := c.MustTake(t, 1, 1)
	// The chat gets a new id during the request.
	dbtest.Exec(t, c.world.Pool, `UPDATE chats SET telegram_chat_id = -1000100`)
	c.Finish(t, dbtest.SentAs(card, 71))
	c.Finish(t, dbtest.SentAs(card, 72)) // finished already
	c.mustYield(t, messages, "-100 71 1 print 71")
	c.change(t, "2", 22)
	if edit := c.send(t, 0); edit.Action != outbox.Edit || edit.Target != 0 ||
		edit.ExternalChat != -1000100 || len(edit.Items) != 1 {
		t.Errorf("took %+v", edit)
	}
	c.mustYield(t, messages, "-100 71 1 print 71")
	dbtest.Exec(t, c.world.Pool, `INSERT INTO match_messages VALUES (-1000100, 5, 1), (-1000100, 3, 1), (-200, 99, 1)`)
	c.change(t, "3", 33)
	if edit := c.Take(t, 1); edit.Target != 5 || len(edit.Items) != 1 || edit.Items[0].ID != edit.Row.ID {
		t.Errorf("took %+v, want an edit of the newest message under the current id of the chat", edit)
	}
}

// TestNoMessageOfAMatch checks that a notice without a match, an edit without a card, and a
// callback answer are not recorded as messages of a match.
func TestNoMessageOfAMatch(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	dbtest.Exec(t, c.world.Pool, `UPDATE outbox SET match_id = NULL`)
	dbtest.Exec(t, c.world.Pool, `INSERT INTO outbox (chat_id, kind, payload, action, match_id, callback_query_id) VALUES
		(1, 'match_recorded', '{"number": 1}', 'edit', 1, NULL), (1, 'refusal', '{}', 'callback_answer', NULL, 'press')`)
	for _, message := range []int64{71, 72} {
		c.send(t, message)
	}
	c.Finish(t, dbtest.SentAs(*c.Turn(t, dbtest.Answers(1)).Message, 73))
	if n := dbtest.Value[int](t, c.world.Pool, `SELECT count(*) FROM match_messages`); n != 0 {
		t.Errorf("%d messages show a match", n)
	}
}

// TestCallbackAnswer checks that a pressed button is answered at the button, and also in the chat
// if the command has a notice.
func TestCallbackAnswer(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	refusal := ranking.Refusal{Code: ranking.NotYours, Number: 1}
	var woken []outbox.Lane
	store := pgranking.NewStore(c.world.Pool, func(l outbox.Lane) { woken = append(woken, l) })
	for _, changes := range []ranking.Changes{
		{Key: "c:1", Chat: 1, Button: "press 1", Decision: ranking.Decision{CallbackAnswer: refusal}},
		{Key: "c:2", Chat: 1, Button: "press 2", Decision: ranking.Decision{CallbackAnswer: refusal, Notice: refusal}, ReplyTo: 7, Addressee: ranking.Name{Name: "Bob"}},
	} {
		dbtest.Must(t, store.Apply(t.Context(), changes))
	}
	dbtest.Equal(t, "woken lanes", []outbox.Lane{dbtest.Answers(1), dbtest.Chat(1), dbtest.Answers(1)}, woken)
	c.mustYield(t, `
		SELECT concat_ws(' ', action, key, state, kind, purpose,
		       payload->>'code', callback_query_id, reply_to, nullif(addressee, ''))
		FROM outbox WHERE state = 'planned' ORDER BY id`,
		"callback_answer c:1 planned refusal outcome not_yours press 1", "callback_answer c:2 planned refusal outcome not_yours press 2",
		"send c:2 planned refusal outcome not_yours 7 Bob")
	for _, button := range []string{"press 1", "press 2"} {
		m := c.Turn(t, dbtest.Answers(1)).Message
		if m == nil || m.Action != outbox.CallbackAnswer || m.Row.Button != button ||
			m.ExternalChat != -100 || m.Target != 0 || len(m.Items) != 1 {
			t.Fatalf("took %+v", m)
		}
		c.Finish(t, dbtest.SentAs(*m, 0))
	}
	c.MustTake(t, 1, 4)
}
