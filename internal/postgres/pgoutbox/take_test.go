package pgoutbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestTakeTogether checks that new notices of a lane are taken together, up to Bounds.Merge, unless
// their topics differ, they must be sent alone, they have to wait or they are too late.
func TestTakeTogether(t *testing.T) {
	t.Parallel()
	const send = `INSERT INTO outbox
		(chat_id, kind, payload, thread_id, purpose, match_id, action, not_before, expires_at, object) VALUES `
	const plain = `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, NULL, NULL)`
	for name, tc := range map[string]struct {
		sql   string
		merge int
		want  string // the notices of each message, "+" if more follow it
	}{
		"all":                   {send + strings.Repeat(plain+`,`, 6) + plain, 64, "1 2 3 4 5 6 7"},
		"as many as may be":     {send + strings.Repeat(plain+`,`, 6) + plain, 3, "1 2 3+, 4 5 6+, 7"},
		"none":                  {send + plain + `,` + plain, 1, "1+, 2"},
		"none, by mistake":      {send + plain + `,` + plain, 0, "1+, 2"},
		"other purposes":        {send + plain + `, (1, 'a', '{}', NULL, 'answer', NULL, 'send', NULL, NULL, NULL), ` + plain, 64, "1 2 3"},
		"another topic":         {send + plain + `, (1, 'k', '{}', 8, 'outcome', NULL, 'send', NULL, NULL, NULL), (1, 'k', '{}', 8, 'outcome', NULL, 'send', NULL, NULL, NULL), (1, 'k', '{}', 9, 'outcome', NULL, 'send', NULL, NULL, NULL), ` + plain, 64, "1+, 2 3+, 4+, 5"},
		"an object":             {send + plain + `, (1, 'k', '{}', NULL, 'notification', NULL, 'ensure', NULL, NULL, 'board'), ` + plain + `,` + plain, 64, "1 3 4"},
		"one that waits alone":  {send + plain + `, (1, 'k', '{}', NULL, 'outcome', NULL, 'send', now() + interval '1 hour', NULL, NULL)`, 64, "1+, wait 3600"},
		"late ones":             {send + `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL), ` + plain + `, (1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL), ` + plain, 64, "2 4"},
		"nothing but late ones": {send + `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL)`, 64, ""},
		"to be sent alone": {
			`INSERT INTO outbox (chat_id, kind, payload, alone)
			SELECT 1, 'k', '{}', alone FROM unnest('{f,t,t,f,f}'::boolean[]) AS alone`, 64, "1+, 2+, 3+, 4 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, tc.sql)
			var got []string
			for range 9 {
				turn := m.MustAdvance(t, outbox.Bounds{Merge: tc.merge, MaxWaiting: 1000}, nil, dbtest.Chat(1))[0]
				s := strings.Trim(fmt.Sprint(dbtest.IDs(turn.Message)), "[]")
				if turn.Message == nil {
					s = fmt.Sprint("wait ", int(turn.Wait.Round(10*time.Second).Seconds()))
				} else if turn.Message.More {
					s += "+"
				}
				if turn.Over {
					m.MustSummarize(t, dbtest.Bounds, dbtest.Chat(1))
					continue
				}
				if s == "wait 0" {
					break
				}
				got = append(got, s)
				if turn.Message == nil {
					break
				}
				m.Finish(t, dbtest.SentAs(*turn.Message, 7))
			}
			dbtest.Equal(t, "taken", tc.want, strings.Join(got, ", "))
			if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE state = 'sent' AND attempts <> 1`); n != 0 {
				t.Errorf("%d were taken more than once", n)
			}
		})
	}
}

// TestTakenAgain checks that, after a takeover, the next leader takes the messages in flight again.
// They have the same notices as before, in their current form, and no newer notices.
func TestTakenAgain(t *testing.T) {
	t.Parallel()
	m, first := several(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'new', '{}'), (2, 'alone', '{}')`)
	m.MustTake(t, 2, 7)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (2, 'next', '{}')`)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET payload = '{"number": 3}' WHERE id = 3`)
	dbtest.Exec(t, m.Pool, `UPDATE leases SET epoch = 2`)
	if _, err := m.Advance(t.Context(), 1, []outbox.Result{dbtest.SentAs(first, 7)}, nil, dbtest.Bounds); err == nil {
		t.Error("the previous holder may still write")
	}
	turns, err := m.Advance(t.Context(), 2, nil, []outbox.Lane{dbtest.Chat(1), dbtest.Chat(2)},
		outbox.Bounds{Merge: 2, MaxWaiting: 1})
	dbtest.Must(t, err)
	want := first
	want.More = true
	want.Items = slices.Clone(first.Items)
	for i := range want.Items {
		want.Items[i].Attempts, want.Items[i].PossibleDuplicates, want.Items[i].Repeated = 2, 1, true
	}
	want.Items[2].Payload = []byte(`{"number": 3}`)
	want.Row = want.Items[0]
	dbtest.Equal(t, "messages of the group", &want, turns[0].Message)
	if batch := dbtest.Value[*int64](t, m.Pool, `SELECT batch FROM outbox WHERE id = 7`); batch != nil {
		t.Errorf("a single notice is in batch %d", *batch)
	}
	if alone := turns[1].Message; alone == nil || alone.Row.ID != 7 || len(alone.Items) != 1 ||
		!alone.More || alone.Row.PossibleDuplicates != 1 {
		t.Errorf("the message of the other chat: %+v", alone)
	}
}

// TestTakenAgainWithoutTheLate checks that, if notices of a message in flight are too late, the
// message is taken again without them. Results among the late notices become a separate summary.
func TestTakenAgainWithoutTheLate(t *testing.T) {
	t.Parallel()
	m, _ := several(t)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE id IN (1, 4)`)
	turn := m.Turn(t, dbtest.Chat(1))
	if diff := cmp.Diff([]string{`1 results_summary {"count": 2, "answers": 0, "results": [{}, {}]}`},
		dbtest.Items(turn.Message)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	m.Finish(t, dbtest.SentAs(*turn.Message, 7))
	m.MustTake(t, 1, 2, 3, 5)
	if again := m.MustTake(t, 1, 2, 3, 5); again.Row.PossibleDuplicates != 2 {
		t.Errorf("once more: %+v", again)
	}
	m.MustHaveRows(t, `state, batch`, "1 sent", "2 sending 2", "3 sending 2", "4 expired 1", "5 sending 2")
}

// TestKeyOfTheLate checks that an expired notice gives up its supersede key, so that a new notice
// with the same key can be queued.
func TestKeyOfTheLate(t *testing.T) {
	t.Parallel()
	const board = `INSERT INTO outbox (chat_id, kind, payload, action, object, supersede_key, expires_at)
		VALUES (1, 'k', '{}', 'ensure', 'board', 'board', now())`
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, board)
	if s := m.MustSummarize(t, dbtest.Bounds, dbtest.Boards(1)); s.Expired != 1 {
		t.Errorf("%d have expired", s.Expired)
	}
	dbtest.Exec(t, m.Pool, board)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_at = now()`)
	dbtest.Purge(t, m.Pool, 1)
	dbtest.Exec(t, m.Pool, board)
	m.MustHaveRows(t, `state`, "1 expired", "2 expired", "3 planned")
}

// TestMovedWhileTaken checks that, if a notice moves to another chat while Advance is taking it,
// Advance leaves it alone, and the notice waits in the other chat.
func TestMovedWhileTaken(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	move := dbtest.Begin(t, m.Pool)
	dbtest.Exec(t, move, `UPDATE outbox SET chat_id = 2, thread_id = NULL WHERE id = 1`)
	taken := make(chan []outbox.Turn, 1)
	failed := dbtest.Start(func() error {
		turns, err := m.Advance(t.Context(), 1, nil, []outbox.Lane{dbtest.Chat(1)}, dbtest.Bounds)
		taken <- turns
		return err
	})
	dbtest.Await(t, m.Pool, dbtest.Blocked)
	dbtest.Must(t, move.Commit(t.Context()))
	dbtest.Must(t, dbtest.Receive(t, failed))
	dbtest.Equal(t, "turns", []outbox.Turn{{Lane: dbtest.Chat(1)}}, dbtest.Receive(t, taken))
	m.MustTake(t, 2, 1, 2, 4)
	m.MustTake(t, 1, 3)
}
