package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// mail is an outbox with two chats, 1 a group and 2 a private one, and two notices in each: 1 and 3, 2 and 4. Those
// of the group are in different topics. The test has the lease, with epoch 1.
type mail struct {
	*postgres.Outbox
	pool *pgxpool.Pool
}

const theLease = `INSERT INTO leases (name, holder, epoch, expires_at) VALUES ('leader', 'test', 1, now() + interval '1 hour')`

func newMail(t *testing.T) mail {
	t.Helper()
	m := newEmptyMail(t)
	exec(t, m.pool, `INSERT INTO outbox (chat_id, kind, payload, reply_to, thread_id) VALUES
		(1, 'a', '{"n": 1}', 7, 8), (2, 'b', '{"n": 2}', NULL, NULL), (1, 'c', '{"n": 3}', NULL, NULL), (2, 'd', '{"n": 4}', NULL, NULL)`)
	return m
}

// newEmptyMail has the chats, but no notices.
func newEmptyMail(t *testing.T) mail {
	t.Helper()
	pool := pgtest.Borrow(t).Pool
	exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'supergroup'), (5, 'private')`)
	exec(t, pool, theLease)
	return mailIn(pool)
}

// mailIn is the outbox in a database.
func mailIn(pool *pgxpool.Pool) mail { return mail{postgres.NewOutbox(pool), pool} }

// bounds are those of most tests.
var bounds = outbox.Bounds{Merge: 64, MaxWaiting: 1000}

// chat and answers are the lanes of a chat.
func chat(id outbox.ChatID) outbox.Lane    { return outbox.Lane{Chat: id} }
func answers(id outbox.ChatID) outbox.Lane { return outbox.Lane{Chat: id, CallbackAnswers: true} }

func (m mail) advance(t *testing.T, b outbox.Bounds, results []outbox.Result, lanes ...outbox.Lane) []outbox.Turn {
	t.Helper()
	turns, err := m.Advance(t.Context(), 1, results, lanes, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) != len(lanes) {
		t.Fatalf("%d turns for %d lanes", len(turns), len(lanes))
	}
	return turns
}

// turn advances one lane.
func (m mail) turn(t *testing.T, l outbox.Lane) outbox.Turn {
	t.Helper()
	return m.advance(t, bounds, nil, l)[0]
}

// take returns what a chat has to send, nil for nothing.
func (m mail) take(t *testing.T, id outbox.ChatID) *outbox.Message {
	t.Helper()
	return m.turn(t, chat(id)).Message
}

// mustTake is take, and checks the ids of the notices.
func (m mail) mustTake(t *testing.T, id outbox.ChatID, want ...int64) outbox.Message {
	t.Helper()
	message := m.take(t, id)
	if message == nil {
		t.Fatalf("nothing to send, want %v", want)
	}
	if diff := cmp.Diff(want, ids(message)); diff != "" {
		t.Fatalf("took (-want +got):\n%s", diff)
	}
	return *message
}

// ids returns the ids of a message's notices.
func ids(m *outbox.Message) (all []int64) {
	if m != nil {
		for _, i := range m.Items {
			all = append(all, i.ID)
		}
	}
	return all
}

func (m mail) finish(t *testing.T, results ...outbox.Result) {
	t.Helper()
	m.advance(t, bounds, results)
}

// sentAs is the result of a message that was sent with this id.
func sentAs(m outbox.Message, id int64) outbox.Result {
	return outbox.Result{Message: m, Receipt: outbox.Receipt{MessageID: id}, Fingerprint: fmt.Sprintf("print %d", id)}
}

// failed is the result of a message that failed, with a pause of an hour.
func failed(m outbox.Message, class outbox.Class) outbox.Result {
	return outbox.Result{Message: m, Pause: time.Hour, Failure: &outbox.Failure{Class: class, Err: errors.New("why")}}
}

func (m mail) mustWait(t *testing.T, want ...outbox.ChatID) {
	t.Helper()
	backlogs, err := m.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[outbox.ChatID]bool)
	for _, b := range backlogs {
		if b.Wait == 0 {
			got[b.Lane.Chat] = true
		}
	}
	expected := make(map[outbox.ChatID]bool)
	for _, c := range want {
		expected[c] = true
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("chats that may send something (-want +got):\n%s", diff)
	}
}

func (m mail) row(t *testing.T, id int64) string {
	t.Helper()
	return value[string](t, m.pool, `
		SELECT state || ' attempts ' || attempts || ' duplicates ' || possible_duplicates || ' message ' || coalesce(telegram_message_id, 0)
		       || ' error ' || coalesce(last_error, '') || ' finished ' || (finished_at IS NOT NULL)
		FROM outbox WHERE id = $1`, id)
}

// rows returns a line for each row of the outbox: its id and the columns.
func (m mail) rows(t *testing.T, columns string) []string {
	t.Helper()
	return values[string](t, m.pool, `SELECT concat_ws(' ', id, `+columns+`) FROM outbox ORDER BY id`)
}

func (m mail) mustHaveRows(t *testing.T, columns string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.rows(t, columns)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
}

// mail returns the world's outbox and its lease.
func (w *world) mail(t *testing.T) mail {
	t.Helper()
	exec(t, w.pool, theLease)
	return mailIn(w.pool)
}

// content returns the notices of a message with their payloads, and how many it stands for.
func content(m *outbox.Message) string {
	var all []string
	for _, i := range m.Items {
		all = append(all, fmt.Sprint(i.ID, string(i.Payload)))
	}
	return fmt.Sprint(strings.Join(all, " "), " of ", m.Count)
}

// items returns the kind and payload of each notice of a message.
func items(m *outbox.Message) (all []string) {
	if m != nil {
		for _, i := range m.Items {
			all = append(all, fmt.Sprintf("%d %s %s", i.ID, i.Kind, i.Payload))
		}
	}
	return all
}
