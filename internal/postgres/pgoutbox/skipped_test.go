package pgoutbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestExpiredResultsAreReported: a chat that could not be written to until it was too late gets the number of its
// results, at their position. Expired answers and other notices are not reported.
func TestExpiredResultsAreReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pause, end string }{
		"frozen": {`UPDATE chats SET frozen_until = now() + interval '1 hour'`, `UPDATE chats SET frozen_until = NULL`},
		"parked": {`UPDATE chats SET parked_at = now()`, `UPDATE chats SET parked_at = NULL`},
		"slow":   {`SELECT`, `SELECT`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, purpose, action, match_id, payload, reply_to, thread_id, expires_at) VALUES
				(1, 'ranking_page', 'answer', 'send', NULL, '{}', NULL, NULL, now()),
				(1, 'match_recorded', 'outcome', 'send', NULL, '{"number": 1}', 7, 8, now()),
				(1, 'refusal', 'outcome', 'send', NULL, '{}', NULL, NULL, now()),
				(1, 'match_recorded', 'outcome', 'send', NULL, '{"number": 2}', NULL, NULL, now()),
				(1, 'joined', 'outcome', 'send', NULL, '{}', NULL, 8, NULL),
				(1, 'match_recorded', 'outcome', 'send', NULL, '{"number": 3}', NULL, NULL, now())`)
			dbtest.Exec(t, m.Pool, tc.pause)
			if name != "slow" {
				dbtest.Purge(t, m.Pool, map[string]int64{"parked": 2}[name])
				if turn := m.Turn(t, dbtest.Chat(1)); turn.Message != nil {
					t.Fatalf("took %v", dbtest.Items(turn.Message))
				}
			}
			dbtest.Exec(t, m.Pool, tc.end)
			message := m.Take(t, 1)
			want := []string{`2 results_expired {"count": 3}`, `5 joined {}`}
			if diff := cmp.Diff(want, dbtest.Items(message)); diff != "" {
				t.Fatalf("sent (-want +got):\n%s", diff)
			}
			if i := message.Row; i.ReplyTo != 0 || message.Thread != 8 {
				t.Errorf("it replies to %d in topic %d", i.ReplyTo, message.Thread)
			}
			m.Finish(t, dbtest.SentAs(*message, 7))
			if next := m.Take(t, 1); next != nil {
				t.Errorf("then %v is sent", dbtest.Items(next))
			}
		})
	}
}

// TestExpiredResultsInSteps: however many results expire, and however many of them one step handles, one notice
// reports them.
func TestExpiredResultsInSteps(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 35)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now()`)
	m.results(t, 1)
	b := outbox.Bounds{Merge: 64, MaxWaiting: 9}
	expired := 0
	for range 9 {
		turn := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0]
		expired += turn.Expired
		if turn.Message == nil {
			if turn.Wait <= 0 {
				t.Fatal("the lane does not advance")
			}
			continue
		}
		if got := dbtest.Items(turn.Message); expired != 35 || len(got) != 2 || got[0] != `1 results_expired {"count": 35}` || turn.Message.Items[1].ID != 36 {
			t.Errorf("%d have expired, then %v is sent", expired, got)
		}
		return
	}
	t.Error("nothing is sent")
}

// TestExpiredResultsAddUp: results that expire while such a notice waits are added to it. Later ones get another
// notice if the first one was sent, or may have been.
func TestExpiredResultsAddUp(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	late := func(n int) {
		m.results(t, n)
		dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE kind = 'match_recorded'`)
	}
	dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = now() + interval '1 hour' WHERE id = 1`)
	for range 3 {
		late(2)
		m.Turn(t, dbtest.Chat(1))
	}
	dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL`)
	first := m.Take(t, 1)
	if diff := cmp.Diff([]string{`1 results_expired {"count": 6}`}, dbtest.Items(first)); diff != "" {
		t.Fatalf("sent (-want +got):\n%s", diff)
	}
	r := dbtest.Failed(*first, outbox.Unreachable)
	r.Pause = 0
	m.Finish(t, r)
	late(2)
	first = m.Take(t, 1)
	if diff := cmp.Diff([]string{`1 results_expired {"count": 8}`}, dbtest.Items(first)); diff != "" {
		t.Fatalf("sent (-want +got):\n%s", diff)
	}
	r = dbtest.Failed(*first, outbox.Ambiguous)
	r.Pause = 0
	m.Finish(t, r)
	late(3)
	again := m.Take(t, 1)
	if diff := cmp.Diff([]string{`1 results_expired {"count": 8}`}, dbtest.Items(again)); diff != "" {
		t.Fatalf("sent again (-want +got):\n%s", diff)
	}
	m.Finish(t, dbtest.SentAs(*again, 7))
	if diff := cmp.Diff([]string{`9 results_expired {"count": 3}`}, dbtest.Items(m.Take(t, 1))); diff != "" {
		t.Errorf("sent then (-want +got):\n%s", diff)
	}
}
