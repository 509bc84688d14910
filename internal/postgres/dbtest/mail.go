package dbtest

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
	"elobot/internal/postgres/pgoutbox"
)

// Mail is an outbox in a database in which the test holds the leader's lease, with epoch 1.
type Mail struct {
	*pgoutbox.Store
	Pool *pgxpool.Pool
}

// TheLease is a statement that makes the test the leader, with epoch 1.
const TheLease = `INSERT INTO leases (name, holder, epoch, expires_at)
	VALUES ('leader', 'test', 1, now() + interval '1 hour')`

// NewMail returns an outbox with two chats. Chat 1 is a supergroup with the notices 1 and 3, of
// which only notice 1 is a reply and in a topic. Chat 2 is a private chat with the notices 2 and 4.
func NewMail(t *testing.T) Mail {
	t.Helper()
	return NewMailIn(t, pgtest.Borrow(t).Pool)
}

// NewMailIn is like NewMail, in a given database without rows.
func NewMailIn(t *testing.T, pool *pgxpool.Pool) Mail {
	t.Helper()
	m := newEmptyMailIn(t, pool)
	Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, reply_to, thread_id) VALUES
		(1, 'a', '{"n": 1}', 7, 8), (2, 'b', '{"n": 2}', NULL, NULL),
		(1, 'c', '{"n": 3}', NULL, NULL), (2, 'd', '{"n": 4}', NULL, NULL)`)
	return m
}

// NewEmptyMail returns an outbox with the chats of NewMail, but without notices.
func NewEmptyMail(t *testing.T) Mail {
	t.Helper()
	return newEmptyMailIn(t, pgtest.Borrow(t).Pool)
}

func newEmptyMailIn(t *testing.T, pool *pgxpool.Pool) Mail {
	t.Helper()
	Exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'supergroup'), (5, 'private')`)
	Exec(t, pool, TheLease)
	return MailIn(pool)
}

// MailIn returns the outbox of a database. It changes nothing.
func MailIn(pool *pgxpool.Pool) Mail { return Mail{pgoutbox.NewStore(pool), pool} }

// Bounds are the bounds that most tests use.
var Bounds = outbox.Bounds{Merge: 64, MaxWaiting: 1000}

// Chat returns the lane of messages of a chat.
func Chat(id outbox.ChatID) outbox.Lane { return outbox.Lane{Chat: id} }

// Answers returns the lane of callback answers of a chat.
func Answers(id outbox.ChatID) outbox.Lane {
	return outbox.Lane{Chat: id, Kind: outbox.CallbackAnswers}
}

// Pages returns the lane of pages of a chat.
func Pages(id outbox.ChatID) outbox.Lane { return outbox.Lane{Chat: id, Kind: outbox.Pages} }

// Boards returns the lane of boards of a chat.
func Boards(id outbox.ChatID) outbox.Lane { return outbox.Lane{Chat: id, Kind: outbox.Boards} }

// MustAdvance calls Advance with epoch 1. It fails the test on an error or a wrong number of turns.
func (m Mail) MustAdvance(t *testing.T, b outbox.Bounds, results []outbox.Result, lanes ...outbox.Lane) []outbox.Turn {
	t.Helper()
	turns, err := m.Advance(t.Context(), 1, results, lanes, b)
	Must(t, err)
	if len(turns) != len(lanes) {
		t.Fatalf("%d turns for %d lanes", len(turns), len(lanes))
	}
	return turns
}

// Turn takes the next message of a lane. If the lane has to be summarized first, Turn does so and
// tries again.
func (m Mail) Turn(t *testing.T, l outbox.Lane) outbox.Turn {
	t.Helper()
	turn := m.MustAdvance(t, Bounds, nil, l)[0]
	if turn.Over {
		m.MustSummarize(t, Bounds, l)
		turn = m.MustAdvance(t, Bounds, nil, l)[0]
	}
	return turn
}

// MustSummarize calls Summarize with epoch 1, and fails the test on an error.
func (m Mail) MustSummarize(t *testing.T, b outbox.Bounds, lanes ...outbox.Lane) outbox.Summarized {
	t.Helper()
	s, err := m.Summarize(t.Context(), 1, lanes, b)
	Must(t, err)
	return s
}

// Take takes the next message of a chat, like Turn. It returns nil if there is nothing to send now.
func (m Mail) Take(t *testing.T, id outbox.ChatID) *outbox.Message {
	t.Helper()
	return m.Turn(t, Chat(id)).Message
}

// MustTake is like Take, but fails the test unless there is a message to send and it has exactly
// the notices with these ids, in this order.
func (m Mail) MustTake(t *testing.T, id outbox.ChatID, want ...int64) outbox.Message {
	t.Helper()
	message := m.Take(t, id)
	if message == nil {
		t.Fatalf("nothing to send, want %v", want)
	}
	if diff := cmp.Diff(want, IDs(message)); diff != "" {
		t.Fatalf("took (-want +got):\n%s", diff)
	}
	return *message
}

// IDs returns the ids of a message's notices, nil for a nil message.
func IDs(m *outbox.Message) (all []int64) {
	if m != nil {
		for _, i := range m.Items {
			all = append(all, i.ID)
		}
	}
	return all
}

// Finish records the results of messages.
func (m Mail) Finish(t *testing.T, results ...outbox.Result) {
	t.Helper()
	m.MustAdvance(t, Bounds, results)
}

// SentAs returns the result for a message that was sent and got the given message id.
func SentAs(m outbox.Message, id int64) outbox.Result {
	return outbox.Result{Message: m, Receipt: outbox.Receipt{MessageID: id}, Fingerprint: fmt.Sprintf("print %d", id)}
}

// Failed returns the result for a message that could not be sent: a failure of the given kind, with
// a pause of an hour.
func Failed(m outbox.Message, kind outbox.FailureKind) outbox.Result {
	return outbox.Result{Message: m, Pause: time.Hour, Failure: &outbox.Failure{Kind: kind, Err: errors.New("why")}}
}

// MustWait checks that exactly these chats have a lane that may send now.
func (m Mail) MustWait(t *testing.T, want ...outbox.ChatID) {
	t.Helper()
	backlogs, err := m.Waiting(t.Context(), Bounds)
	Must(t, err)
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
	Equal(t, "chats that may send something", expected, got)
}

// Row returns a description of the row of the outbox with the given id.
func (m Mail) Row(t *testing.T, id int64) string {
	t.Helper()
	return Value[string](t, m.Pool, `
		SELECT state || ' attempts ' || attempts || ' duplicates ' || possible_duplicates
		       || ' message ' || coalesce(telegram_message_id, 0)
		       || ' error ' || coalesce(last_error, '') || ' finished ' || (finished_at IS NOT NULL)
		FROM outbox WHERE id = $1`, id)
}

// MustHaveRows compares the rows of the outbox with want. Each row is a line with its id and the
// given SQL expressions, separated by spaces.
func (m Mail) MustHaveRows(t *testing.T, columns string, want ...string) {
	t.Helper()
	got := Values[string](t, m.Pool, `SELECT concat_ws(' ', id, `+columns+`) FROM outbox ORDER BY id`)
	Equal(t, "outbox", want, got)
}

// Mail makes the test the leader, and returns the world's outbox.
func (w *World) Mail(t *testing.T) Mail {
	t.Helper()
	Exec(t, w.Pool, TheLease)
	return MailIn(w.Pool)
}

// Content returns the ids and payloads of a message's notices, in one line.
func Content(m *outbox.Message) string {
	var all []string
	for _, i := range m.Items {
		all = append(all, fmt.Sprint(i.ID, string(i.Payload)))
	}
	return strings.Join(all, " ")
}

// Items returns the id, kind and payload of each notice of a message, nil for a nil message.
func Items(m *outbox.Message) (all []string) {
	if m != nil {
		for _, i := range m.Items {
			all = append(all, fmt.Sprintf("%d %s %s", i.ID, i.Kind, i.Payload))
		}
	}
	return all
}
