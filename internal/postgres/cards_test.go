package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// cards is a world with one match, whose card waits, and with the means to send it.
type cards struct {
	*world
	mail
}

func newCards(t *testing.T) cards {
	t.Helper()
	w := newWorld(t, alice, bob)
	w.play(t, "1", alice, bob)
	return cards{w, mail{postgres.NewOutbox(w.pool), w.pool}}
}

// change has the card of match 1 say that its number is n.
func (c cards) change(t *testing.T, key string, n int) {
	t.Helper()
	changes := ranking.Changes{Key: key, Chat: 1, Card: &ranking.Card{Match: 1, Notice: ranking.MatchRecorded{Number: n}}}
	if err := c.store.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// rows are what is in the outbox, sent or not.
func (c cards) rows(t *testing.T) []string {
	t.Helper()
	return values[string](t, c.world.pool, `
		SELECT action || ' ' || state || ' ' || kind || ' ' || coalesce(match_id, 0) || ' says ' || (payload->>'number')
		FROM outbox ORDER BY id`)
}

func (c cards) mustHave(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, c.rows(t)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
}

// messages are those that tell of a match.
const messages = `SELECT m::text FROM match_messages m ORDER BY 1`

// send takes the next item and says that it was sent as this message.
func (c cards) send(t *testing.T, message int64) *outbox.Item {
	t.Helper()
	item := c.take(t, 1)
	if item == nil {
		t.Fatal("there is nothing to be sent")
	}
	c.finish(t, outbox.Result{Item: *item, MessageID: message})
	return item
}

// TestCardThatWaits: what has not been sent yet is sent as it is to be.
func TestCardThatWaits(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.mustHave(t, "send planned match_recorded 1 says 1")
	c.change(t, "2", 22)
	c.change(t, "3", 33)
	c.mustHave(t, "send planned match_recorded 1 says 33")
	if item := c.take(t, 1); item.Action != outbox.Send || item.Edits != 0 || item.ReplyTo != 7 || item.Thread != 8 {
		t.Errorf("took %+v", item)
	}
}

// TestCardOnItsWay: a message that may be there already is edited, however often it changes before that.
func TestCardOnItsWay(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	item := c.take(t, 1)
	c.change(t, "2", 22)
	c.mustHave(t, "send sending match_recorded 1 says 1", "edit planned match_recorded 1 says 22")
	c.change(t, "3", 33)
	c.mustHave(t, "send sending match_recorded 1 says 1", "edit planned match_recorded 1 says 33")
	c.finish(t, outbox.Result{Item: *item, MessageID: 71})
	edit := c.take(t, 1)
	want := &outbox.Item{
		ID: 3, Chat: 1, Action: outbox.Edit, Edits: 71, To: -100, Language: "en", Kind: ranking.KindMatchRecorded, Attempts: 1,
	}
	var says ranking.MatchRecorded
	if err := json.Unmarshal(edit.Payload, &says); err != nil || says.Number != 33 {
		t.Errorf("the edit says %s (%v)", edit.Payload, err)
	}
	edit.Payload, want.ID = nil, edit.ID
	if diff := cmp.Diff(want, edit); diff != "" {
		t.Errorf("edit (-want +got):\n%s", diff)
	}
}

// TestCardThatWasSent: there is one waiting edit, with the last text, and a new one when that is on its way.
func TestCardThatWasSent(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.change(t, "2", 22)
	c.change(t, "3", 33)
	c.mustHave(t, "send sent match_recorded 1 says 1", "edit planned match_recorded 1 says 33")
	item := c.take(t, 1)
	c.change(t, "4", 44)
	c.change(t, "5", 55)
	c.mustHave(t, "send sent match_recorded 1 says 1", "edit sending match_recorded 1 says 33",
		"edit planned match_recorded 1 says 55")
	c.finish(t, outbox.Result{Item: *item, MessageID: item.Edits})
	if last := c.send(t, 71); last.Edits != 71 {
		t.Errorf("the last edit is %+v", last)
	}
	c.mustHave(t, "send sent match_recorded 1 says 1", "edit sent match_recorded 1 says 33",
		"edit sent match_recorded 1 says 55")
	c.mustYield(t, messages, "(-100,71,1)")
}

// TestCardOfAnotherMatch: neither other matches' cards nor other notices that name a match are taken for the card.
func TestCardOfAnotherMatch(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	c.play(t, "2", bob, alice)
	exec(t, c.world.pool, `INSERT INTO outbox (chat_id, kind, payload, match_id) VALUES (1, 'other', '{"number": 9}', 1)`)
	c.change(t, "3", 33)
	c.mustHave(t, "send sent match_recorded 1 says 1", "send planned match_recorded 2 says 2", "send planned other 1 says 9",
		"edit planned match_recorded 1 says 33")
}

// TestCardIsTakenMeanwhile has a card begin to be sent while it is changed: it is edited then.
func TestCardIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	dispatcher := begin(t, c.world.pool)
	if _, err := dispatcher.Exec(t.Context(), `UPDATE outbox SET state = 'sending', attempts = 1`); err != nil {
		t.Fatal(err)
	}
	changes := ranking.Changes{Key: "2", Chat: 1, Card: &ranking.Card{Match: 1, Notice: ranking.MatchRecorded{Number: 22}}}
	changed := start(func() error { return c.store.Apply(t.Context(), changes) })
	await(t, c.world.pool, blocked)
	if err := dispatcher.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, changed); err != nil {
		t.Fatal(err)
	}
	c.mustHave(t, "send sending match_recorded 1 says 1", "edit planned match_recorded 1 says 22")
}

// TestTakeWaitsForTheChange is the other way round: what is taken says what the change has made of it.
func TestTakeWaitsForTheChange(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	changer := begin(t, c.world.pool)
	if _, err := changer.Exec(t.Context(), `UPDATE outbox SET payload = '{"number": 22}'`); err != nil {
		t.Fatal(err)
	}
	taken := make(chan *outbox.Item, 1)
	failed := start(func() error {
		item, err := c.Take(t.Context(), 1)
		taken <- item
		return err
	})
	await(t, c.world.pool, blocked)
	if err := changer.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, failed); err != nil {
		t.Fatal(err)
	}
	if item := receive(t, taken); item == nil || string(item.Payload) != `{"number": 22}` {
		t.Errorf("took %+v", item)
	}
}

// TestMessagesOfAnUpgradedGroup: the message goes by the id that the chat had when it was sent; what was sent to the
// chat under another id cannot be edited any more.
func TestMessagesOfAnUpgradedGroup(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	item := c.take(t, 1)
	exec(t, c.world.pool, `UPDATE chats SET telegram_chat_id = -1000100`) // while the request is under way
	c.finish(t, outbox.Result{Item: *item, MessageID: 71})
	c.finish(t, outbox.Result{Item: *item, MessageID: 72}) // finished already
	c.mustYield(t, messages, "(-100,71,1)")
	c.change(t, "2", 22)
	if edit := c.send(t, 0); edit.Action != outbox.Edit || edit.Edits != 0 || edit.To != -1000100 {
		t.Errorf("took %+v", edit)
	}
	c.mustYield(t, messages, "(-100,71,1)")
	exec(t, c.world.pool, `INSERT INTO match_messages VALUES (-1000100, 5, 1), (-1000100, 3, 1), (-200, 99, 1)`)
	c.change(t, "3", 33)
	if edit := c.take(t, 1); edit.Edits != 5 {
		t.Errorf("edits %d, want the newest message of the chat as it is now", edit.Edits)
	}
}

// TestNoMessageOfAMatch: not everything that is sent is a card.
func TestNoMessageOfAMatch(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	exec(t, c.world.pool, `UPDATE outbox SET match_id = NULL`)
	exec(t, c.world.pool, `INSERT INTO outbox (chat_id, kind, payload, action, match_id, callback_query_id) VALUES
		(1, 'match_recorded', '{"number": 1}', 'edit', 1, NULL), (1, 'refusal', '{}', 'toast', NULL, 'press')`)
	for _, message := range []int64{71, 72, 73} {
		c.send(t, message)
	}
	if n := value[int](t, c.world.pool, `SELECT count(*) FROM match_messages`); n != 0 {
		t.Errorf("%d messages tell of a match", n)
	}
}

// TestToast: the press of a button is answered where it was made, and the chat is told only of what has changed.
func TestToast(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	c.send(t, 71)
	refusal := ranking.Refusal{Code: ranking.NotYours, Number: 1}
	for _, changes := range []ranking.Changes{
		{Key: "c:1", Chat: 1, Button: "press 1", Toast: refusal},
		{Key: "c:2", Chat: 1, Button: "press 2", Toast: refusal, Notice: refusal, ReplyTo: 7},
	} {
		if err := c.store.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	c.mustYield(t, `
		SELECT concat_ws(' ', action, state, kind, payload->>'code', callback_query_id, reply_to)
		FROM outbox WHERE state = 'planned' ORDER BY id`,
		"toast planned refusal not_yours press 1", "toast planned refusal not_yours press 2", "send planned refusal not_yours 7")
	if item := c.take(t, 1); item.Action != outbox.Toast || item.Button != "press 1" || item.To != -100 || item.Edits != 0 {
		t.Errorf("took %+v", item)
	}
}
