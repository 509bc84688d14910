package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// mail is an outbox with two chats, 1 a group and 2 a private one, and two notices in each: 1 and 3, 2 and 4.
type mail struct {
	*postgres.Outbox
	pool *pgxpool.Pool
}

func newMail(t *testing.T) mail {
	t.Helper()
	pool := open(t, pgtest.New(t))
	exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'supergroup'), (5, 'private')`)
	exec(t, pool, `INSERT INTO outbox (chat_id, kind, payload, reply_to, thread_id) VALUES
		(1, 'a', '{"n": 1}', 7, 8), (2, 'b', '{"n": 2}', NULL, NULL), (1, 'c', '{"n": 3}', NULL, NULL), (2, 'd', '{"n": 4}', NULL, NULL)`)
	return mail{postgres.NewOutbox(pool), pool}
}

func (m mail) take(t *testing.T, chat outbox.ChatID) *outbox.Item {
	t.Helper()
	item, err := m.Take(t.Context(), chat)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func (m mail) finish(t *testing.T, r outbox.Result) {
	t.Helper()
	if err := m.Finish(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func (m mail) mustWait(t *testing.T, want ...outbox.ChatID) {
	t.Helper()
	got, err := m.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	less := func(a, b outbox.ChatID) bool { return a < b }
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(less), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}

func (m mail) row(t *testing.T, id int64) string {
	t.Helper()
	return value[string](t, m.pool, `
		SELECT state || ' attempts ' || attempts || ' perhaps ' || perhaps_sent || ' message ' || coalesce(telegram_message_id, 0)
		       || ' error ' || coalesce(last_error, '') || ' finished ' || (finished_at IS NOT NULL)
		FROM outbox WHERE id = $1`, id)
}

func TestTake(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	m.mustWait(t, 1, 2)
	want := &outbox.Item{
		ID: 1, Chat: 1, Action: outbox.Send, To: -100, Language: "en", Kind: "a", Payload: []byte(`{"n": 1}`),
		ReplyTo: 7, Thread: 8, Attempts: 1,
	}
	if diff := cmp.Diff(want, m.take(t, 1)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// what has been taken and not finished comes again, perhaps for the second time
	want.Attempts, want.PerhapsSent = 2, 1
	if diff := cmp.Diff(want, m.take(t, 1)); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	m.mustWait(t, 1, 2)
	private := &outbox.Item{
		ID: 2, Chat: 2, Action: outbox.Send, To: 5, Private: true, Language: "en", Kind: "b", Payload: []byte(`{"n": 2}`),
		Attempts: 1,
	}
	if diff := cmp.Diff(private, m.take(t, 2)); diff != "" {
		t.Errorf("private (-want +got):\n%s", diff)
	}
	for _, id := range []int64{1, 3} {
		item := m.take(t, 1)
		if item == nil || item.ID != id {
			t.Fatalf("took %+v, want %d", item, id)
		}
		m.finish(t, outbox.Result{Item: *item, MessageID: 100 + id})
	}
	if got := m.row(t, 3); got != "sent attempts 1 perhaps 0 message 103 error  finished true" {
		t.Errorf("notice 3 is %s", got)
	}
	m.mustWait(t, 2)
	for _, chat := range []outbox.ChatID{1, 99} {
		if item := m.take(t, chat); item != nil {
			t.Errorf("chat %d: took %+v, there is nothing", chat, item)
		}
	}
}

// TestHeardOfMeanwhile: a chat that a notice was written for while another was refused there is not parked, with the
// new one inside.
func TestHeardOfMeanwhile(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	m.finish(t, outbox.Result{Item: *m.take(t, 1), Failure: &outbox.Failure{Class: outbox.Gone, Err: errors.New("why")}})
	if item := m.take(t, 1); item == nil || item.ID != 1 || item.PerhapsSent != 0 {
		t.Errorf("took %+v, want the refused notice again", item)
	}
}

func TestFinishFailures(t *testing.T) {
	t.Parallel()
	for class, tc := range map[outbox.Class]struct {
		row     string
		again   *outbox.Item // what is taken next from the chat
		waiting []outbox.ChatID
	}{
		outbox.Unreachable: {
			"planned attempts 1 perhaps 0 message 0 error why finished false",
			&outbox.Item{ID: 1, Attempts: 2}, []outbox.ChatID{1, 2},
		},
		outbox.Unauthorized: {
			"planned attempts 1 perhaps 0 message 0 error why finished false",
			&outbox.Item{ID: 1, Attempts: 2}, []outbox.ChatID{1, 2},
		},
		outbox.Ambiguous: {
			"sending attempts 1 perhaps 0 message 0 error why finished false",
			&outbox.Item{ID: 1, Attempts: 2, PerhapsSent: 1}, []outbox.ChatID{1, 2},
		},
		outbox.RateLimited: {
			"planned attempts 1 perhaps 0 message 0 error why finished false", nil, []outbox.ChatID{2},
		},
		outbox.Gone: {
			"planned attempts 1 perhaps 0 message 0 error why finished false", nil, []outbox.ChatID{2},
		},
		outbox.Rejected: {
			"dead attempts 1 perhaps 0 message 0 error why finished true",
			&outbox.Item{ID: 3, Attempts: 1}, []outbox.ChatID{1, 2},
		},
		outbox.Pointless: {
			"expired attempts 1 perhaps 0 message 0 error why finished true",
			&outbox.Item{ID: 3, Attempts: 1}, []outbox.ChatID{1, 2},
		},
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			m := newMail(t)
			exec(t, m.pool, `UPDATE outbox SET created_at = now() - interval '1 minute'`)
			r := outbox.Result{
				Item: *m.take(t, 1), Pause: time.Hour, Failure: &outbox.Failure{Class: class, Err: errors.New("why")},
			}
			m.finish(t, r)
			m.finish(t, r) // may be repeated
			if got := m.row(t, 1); got != tc.row {
				t.Errorf("the notice is %s, want %s", got, tc.row)
			}
			m.mustWait(t, tc.waiting...)
			ids := cmpopts.IgnoreFields(outbox.Item{}, "Chat", "Action", "To", "Language", "Kind", "Payload", "ReplyTo", "Thread")
			if diff := cmp.Diff(tc.again, m.take(t, 1), ids); diff != "" {
				t.Errorf("next (-want +got):\n%s", diff)
			}
			letters := values[string](t, m.pool, `
				SELECT kind || ' ' || outbox_id || ' ' || convert_from(payload, 'UTF8') || ' ' || last_error || ' ' || attempts
				       || ' ' || (first_seen_at = (SELECT created_at FROM outbox WHERE id = 1))
				FROM dead_letters`)
			var want []string
			if class == outbox.Rejected {
				want = []string{`notice 1 {"n": 1} why 1 true`}
			}
			if diff := cmp.Diff(want, letters, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFinishTextThatCannotBeStored holds a lane free of what a broken answer may contain.
func TestFinishTextThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for _, class := range []outbox.Class{outbox.Unreachable, outbox.Ambiguous, outbox.Rejected, outbox.Pointless} {
		m := newMail(t)
		r := outbox.Result{Item: *m.take(t, 1), Failure: &outbox.Failure{Class: class, Err: errors.New("<b>\x00Bad\xff gateway")}}
		m.finish(t, r)
		if got := value[string](t, m.pool, `SELECT last_error FROM outbox WHERE id = 1`); got != "<b>\ufffdBad\ufffd gateway" {
			t.Errorf("%s: the error is %q", class, got)
		}
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	limited := func(pause time.Duration) outbox.Result {
		return outbox.Result{
			Item: outbox.Item{ID: 1, Chat: 1}, Pause: pause,
			Failure: &outbox.Failure{Class: outbox.RateLimited, Err: errors.New("slow down")},
		}
	}
	m.finish(t, limited(time.Hour))
	m.finish(t, limited(1500*time.Millisecond)) // does not shorten the pause
	left := value[float64](t, m.pool, `SELECT extract(epoch FROM frozen_until - now())::float8 FROM chats WHERE id = 1`)
	if left < 3500 || left > 3600 {
		t.Errorf("%f s are left of an hour", left)
	}
	m.mustWait(t, 2)
	exec(t, m.pool, `UPDATE chats SET frozen_until = now() - interval '1 ms'`)
	m.mustWait(t, 1, 2)
	if item := m.take(t, 1); item == nil {
		t.Error("nothing to be taken after the pause")
	}
	exec(t, m.pool, `UPDATE chats SET parked_at = now()`)
	m.mustWait(t)
	if item := m.take(t, 2); item != nil {
		t.Errorf("took %+v of a parked chat", item)
	}
	exec(t, m.pool, `UPDATE chats SET parked_at = NULL`)
	m.mustWait(t, 1, 2)
}

func TestDeadLettersOfUpdates(t *testing.T) {
	t.Parallel()
	pool := open(t, pgtest.New(t))
	letters := postgres.NewDeadLetters(pool)
	letter := intake.DeadLetter{
		Update:    intake.Update{ID: 77, Raw: []byte("{\x00\xff broken")},
		LastError: "first", Attempts: 3, FirstSeen: time.Unix(1_700_000_000, 0),
	}
	again := letter
	again.LastError, again.Attempts, again.FirstSeen = "\x00second\xff", 2, time.Unix(1_700_009_999, 0)
	for _, l := range []intake.DeadLetter{letter, again} {
		if err := letters.Keep(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	got := values[string](t, pool, `
		SELECT kind || ' ' || update_id || ' ' || encode(payload, 'hex') || ' ' || last_error || ' ' || attempts || ' '
		       || extract(epoch FROM first_seen_at)::bigint || ' ' || (last_seen_at > first_seen_at) FROM dead_letters`)
	want := []string{fmt.Sprintf("update 77 %x \ufffdsecond\ufffd 5 1700000000 true", letter.Update.Raw)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
