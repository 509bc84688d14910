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

// TestTakeTogether fills a lane and takes it message by message.
func TestTakeTogether(t *testing.T) {
	t.Parallel()
	const send = `INSERT INTO outbox (chat_id, kind, payload, thread_id, purpose, match_id, action, not_before, expires_at, object) VALUES `
	const plain = `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, NULL, NULL)`
	for name, tc := range map[string]struct {
		sql   string
		merge int
		want  string // the notices of each message, "+" if there are more after it
	}{
		"all":                  {send + strings.Repeat(plain+`,`, 6) + plain, 64, "1 2 3 4 5 6 7"},
		"as many as may be":    {send + strings.Repeat(plain+`,`, 6) + plain, 3, "1 2 3+, 4 5 6+, 7"},
		"none":                 {send + plain + `,` + plain, 1, "1+, 2"},
		"none, by mistake":     {send + plain + `,` + plain, 0, "1+, 2"},
		"other purposes":       {send + plain + `, (1, 'a', '{}', NULL, 'answer', NULL, 'send', NULL, NULL, NULL), ` + plain, 64, "1 2 3"},
		"another topic":        {send + plain + `, (1, 'k', '{}', 8, 'outcome', NULL, 'send', NULL, NULL, NULL), (1, 'k', '{}', 8, 'outcome', NULL, 'send', NULL, NULL, NULL), (1, 'k', '{}', 9, 'outcome', NULL, 'send', NULL, NULL, NULL), ` + plain, 64, "1+, 2 3+, 4+, 5"},
		"an object":            {send + plain + `, (1, 'k', '{}', NULL, 'notification', NULL, 'ensure', NULL, NULL, 'board'), ` + plain + `,` + plain, 64, "1 3 4"},
		"one that waits alone": {send + plain + `, (1, 'k', '{}', NULL, 'outcome', NULL, 'send', now() + interval '1 hour', NULL, NULL)`, 64, "1+, wait 3600"},
		"late ones":            {send + `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL), ` + plain + `, (1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL), ` + plain, 64, "expired 2: 2 4"},
		"nothing but late ones": {
			send + `(1, 'k', '{}', NULL, 'outcome', NULL, 'send', NULL, now(), NULL)`, 64, "expired 1: wait 0",
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
				if turn.Expired > 0 {
					s = fmt.Sprintf("expired %d: %s", turn.Expired, s)
				}
				if s == "wait 0" {
					break
				}
				got = append(got, s)
				if turn.Message == nil {
					break
				}
				if turn.Message.Count != len(turn.Message.Items) {
					t.Errorf("the message stands for %d items and has %d", turn.Message.Count, len(turn.Message.Items))
				}
				m.Finish(t, dbtest.SentAs(*turn.Message, 7))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTakenAgain: after a takeover the messages are the same as before, with the changes of their notices since then,
// and without newer notices.
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
	turns, err := m.Advance(t.Context(), 2, nil, []outbox.Lane{dbtest.Chat(1), dbtest.Chat(2)}, outbox.Bounds{Merge: 2, MaxWaiting: 1})
	dbtest.Must(t, err)
	want := first
	want.More = true
	want.Items = slices.Clone(first.Items)
	for i := range want.Items {
		want.Items[i].Attempts, want.Items[i].PossibleDuplicates, want.Items[i].PreviousUnknown = 2, 1, true
	}
	want.Items[2].Payload = []byte(`{"number": 3}`)
	want.Row = want.Items[0]
	if diff := cmp.Diff(&want, turns[0].Message); diff != "" {
		t.Errorf("messages of the group (-want +got):\n%s", diff)
	}
	if batch := dbtest.Value[*int64](t, m.Pool, `SELECT batch FROM outbox WHERE id = 7`); batch != nil {
		t.Errorf("a single notice is in batch %d", *batch)
	}
	if alone := turns[1].Message; alone == nil || alone.Row.ID != 7 || alone.Count != 1 || !alone.More || alone.Row.PossibleDuplicates != 1 {
		t.Errorf("the message of the other chat: %+v", alone)
	}
}

// TestTakenAgainWithoutTheLate: late notices of a message are not sent again. The results among them are counted by a
// notice of its own.
func TestTakenAgainWithoutTheLate(t *testing.T) {
	t.Parallel()
	m, _ := several(t)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE id IN (1, 4)`)
	turn := m.Turn(t, dbtest.Chat(1))
	if diff := cmp.Diff([]string{`1 results_expired {"count": 2}`}, dbtest.Items(turn.Message)); diff != "" || turn.Expired != 2 {
		t.Fatalf("%d have expired (-want +got):\n%s", turn.Expired, diff)
	}
	m.Finish(t, dbtest.SentAs(*turn.Message, 7))
	m.MustTake(t, 1, 2, 3, 5)
	if again := m.MustTake(t, 1, 2, 3, 5); again.Count != 3 || again.Row.PossibleDuplicates != 2 {
		t.Errorf("once more: %+v", again)
	}
	m.MustHaveRows(t, `state, batch`, "1 sent", "2 sending 2", "3 sending 2", "4 expired", "5 sending 2")
}

// results adds n results to the group's lane.
func (m mail) results(t *testing.T, n int) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `
		INSERT INTO outbox (chat_id, kind, payload) SELECT 1, 'match_recorded', jsonb_build_object('number', n) FROM generate_series(1, $1::integer) n`, n)
}

// others adds n other notices.
func (m mail) others(t *testing.T, n int, purpose outbox.Purpose) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, purpose) SELECT 1, 'k', '{}', $2 FROM generate_series(1, $1::integer) n`, n, purpose)
}

// TestTooMuchWaits takes with a bound of 20 waiting notices and of 4 in a message.
func TestTooMuchWaits(t *testing.T) {
	t.Parallel()
	type lane func(t *testing.T, m mail)
	results := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.results(t, n) } }
	others := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.others(t, n, outbox.Outcome) } }
	questions := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.others(t, n, outbox.Answer) } }
	sql := func(sql string) lane { return func(t *testing.T, m mail) { t.Helper(); dbtest.Exec(t, m.Pool, sql) } }
	for name, tc := range map[string]struct {
		fill    []lane
		count   int // how many notices the message stands for
		first   int64
		named   int
		dropped int
		waiting int // how many are left after it
	}{
		"as many as may wait":            {[]lane{results(20)}, 4, 1, 4, 0, 16},
		"a few too many":                 {[]lane{results(25)}, 4, 1, 4, 0, 21},
		"too many":                       {[]lane{results(26)}, 6, 1, 5, 0, 20},
		"far too many":                   {[]lane{results(500)}, 480, 1, 5, 0, 20},
		"of other kinds":                 {[]lane{others(500)}, 4, 1, 4, 0, 496},
		"a run that is too short":        {[]lane{results(4), others(500)}, 4, 1, 4, 0, 500},
		"a short run":                    {[]lane{results(5), others(500)}, 4, 1, 4, 0, 501},
		"a run":                          {[]lane{results(6), others(500)}, 6, 1, 5, 0, 500},
		"a run after something else":     {[]lane{others(1), results(500)}, 4, 1, 4, 0, 497},
		"a run to the end":               {[]lane{results(30), others(1)}, 11, 1, 5, 0, 20},
		"another topic in it":            {[]lane{results(30), sql(`UPDATE outbox SET thread_id = 8 WHERE id = 9`)}, 8, 1, 5, 0, 22},
		"one being sent in it":           {[]lane{results(30), sql(`UPDATE outbox SET state = 'sending' WHERE id = 9`)}, 8, 1, 5, 0, 22},
		"one that has to wait in it":     {[]lane{results(30), sql(`UPDATE outbox SET not_before = now() + interval '1 h' WHERE id = 9`)}, 8, 1, 5, 0, 22},
		"late ones":                      {[]lane{others(4), results(26), sql(`UPDATE outbox SET expires_at = now() WHERE id <= 4`)}, 6, 5, 5, 0, 20},
		"late results":                   {[]lane{results(30), sql(`UPDATE outbox SET expires_at = now() WHERE id <= 4`)}, 4, 1, 4, 0, 23},
		"questions":                      {[]lane{questions(30), results(4)}, 4, 31, 4, 30, 0},
		"questions, not too many":        {[]lane{questions(16), results(4)}, 4, 1, 4, 0, 16},
		"questions at the end":           {[]lane{results(10), questions(50)}, 4, 1, 4, 50, 6},
		"questions between results":      {[]lane{results(10), questions(5), results(20)}, 10, 1, 5, 5, 20},
		"a question being sent":          {[]lane{questions(30), sql(`UPDATE outbox SET state = 'sending' WHERE id = 1`)}, 1, 1, 1, 29, 0},
		"nothing but questions at first": {[]lane{questions(30), others(2)}, 2, 31, 2, 30, 0},
		"an ensured message beside it":   {[]lane{results(30), sql(`UPDATE outbox SET action = 'ensure', object = 'board' WHERE id = 8`)}, 9, 1, 5, 0, 21},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			for _, fill := range tc.fill {
				fill(t, m)
			}
			b := outbox.Bounds{Merge: 4, MaxWaiting: 20}
			take := func() outbox.Turn {
				turn := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0]
				if turn.Message == nil {
					t.Fatalf("nothing is taken: %+v", turn)
				}
				return turn
			}
			turn := take()
			message := *turn.Message
			got := []int{message.Count, int(message.Row.ID), len(message.Items), turn.Dropped}
			if diff := cmp.Diff([]int{tc.count, int(tc.first), tc.named, tc.dropped}, got); diff != "" {
				t.Fatalf("count, first, named, dropped (-want +got):\n%s", diff)
			}
			if message.More != (tc.waiting > 0) {
				t.Errorf("more: %t", message.More)
			}
			again := take() // after a crash
			for i := range message.Items {
				message.Items[i].Attempts++
				message.Items[i].PossibleDuplicates++
				message.Items[i].PreviousUnknown = true
			}
			message.Row = message.Items[0]
			if diff := cmp.Diff(message, *again.Message); diff != "" {
				t.Errorf("taken again (-first +again):\n%s", diff)
			}
			m.Finish(t, dbtest.SentAs(message, 71))
			sum := func(where string) int {
				return dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE `+where)
			}
			if n := sum(`state = 'sent' AND telegram_message_id = 71`); n != tc.count {
				t.Errorf("%d are sent", n)
			}
			if n := sum(`finished_at IS NULL AND batch IS NULL`); n != tc.waiting {
				t.Errorf("%d wait", n)
			}
			if n := sum(`state = 'expired' AND last_error = 'too much waits'`); n != tc.dropped {
				t.Errorf("%d expired because of others", n)
			}
		})
	}
}

// TestRunThatFits: results that fit into one message by name are not counted, whatever waits behind them.
func TestRunThatFits(t *testing.T) {
	t.Parallel()
	for n, named := range map[int]int{10: 10, 11: 5} {
		m := newEmptyMail(t)
		m.results(t, n)
		m.others(t, 30, outbox.Outcome)
		message := m.MustAdvance(t, outbox.Bounds{Merge: 10, MaxWaiting: 20}, nil, dbtest.Chat(1))[0].Message
		if message.Count != n || len(message.Items) != named {
			t.Errorf("of %d results the message names %d of %d", n, len(message.Items), message.Count)
		}
	}
}

// TestExcessCovered: a request covers all ten notices of a message, or only the first.
func TestExcessCovered(t *testing.T) {
	t.Parallel()
	b := outbox.Bounds{Merge: 4, MaxWaiting: 20}
	for name, tc := range map[string]struct {
		class   outbox.Class // empty: sent
		covered int
		rows    []string
		next    int // how many notices the next message stands for
	}{
		"all":                   {"", 10, []string{"planned 20", "sent 10"}, 4},
		"all, by default":       {"", 0, []string{"planned 20", "sent 10"}, 4},
		"only the first":        {"", 1, []string{"planned 29", "sent 1"}, 9},
		"rate limited":          {outbox.RateLimited, 0, []string{"planned 30"}, 10},
		"refused":               {outbox.Rejected, 0, []string{"dead 1", "planned 29"}, 9},
		"the first is rejected": {outbox.Rejected, 1, []string{"dead 1", "planned 29"}, 9},
		"uncertain":             {outbox.Uncertain, 0, []string{"planned 20", "uncertain 10"}, 4},
		"possible duplicates":   {outbox.Ambiguous, 10, []string{"planned 20", "sending 10"}, 10},
		"maybe only the first":  {outbox.Ambiguous, 1, []string{"planned 29", "sending 1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			m.results(t, 30)
			message := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0].Message
			r := dbtest.SentAs(*message, 71)
			if tc.class != "" {
				r = dbtest.Failed(*message, tc.class)
				r.Pause = 0
			}
			r.Covered = tc.covered
			for range 2 {
				m.Finish(t, r)
				rows := dbtest.Values[string](t, m.Pool, `SELECT state || ' ' || count(*) FROM outbox GROUP BY state ORDER BY state`)
				if diff := cmp.Diff(tc.rows, rows); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			}
			dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL`)
			if next := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0].Message; next == nil || next.Count != tc.next || len(next.Items) != min(next.Count, max(4, min(next.Count, 5))) {
				t.Errorf("next is %+v", next)
			}
		})
	}
}

// TestManyTooLate: more notices pass their deadline than one step handles. None of them is sent, and the lane comes
// again until all have expired.
func TestManyTooLate(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) SELECT 1, 'late', '{}', now() FROM generate_series(1, 350)`)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) VALUES (1, 'last', '{}', now() + interval '1 hour')`)
	b := outbox.Bounds{Merge: 64, MaxWaiting: 99}
	var got []string
	for range 9 {
		turn := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0]
		switch {
		case turn.Message != nil:
			got = append(got, fmt.Sprint(turn.Message.Row.Kind, " expired ", turn.Expired))
			m.Finish(t, dbtest.SentAs(*turn.Message, 7))
		case turn.Wait > 0:
			got = append(got, fmt.Sprint("wait ", turn.Wait, " expired ", turn.Expired))
		}
	}
	want := []string{"a expired 98", "c expired 99", "wait 1ms expired 100", "last expired 53"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.MustWait(t, 2)
}

// TestLateBeyondTheBound: a late notice beyond those that a step looks at expires when its turn comes.
func TestLateBeyondTheBound(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.others(t, 6, outbox.Outcome)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE id = 5`)
	b := outbox.Bounds{Merge: 10, MaxWaiting: 2}
	for _, want := range []struct {
		ids     []int64
		expired int
	}{{[]int64{1, 2, 3, 4}, 0}, {[]int64{6}, 1}} {
		turn := m.MustAdvance(t, b, nil, dbtest.Chat(1))[0]
		if diff := cmp.Diff(want.ids, dbtest.IDs(turn.Message)); diff != "" || turn.Expired != want.expired {
			t.Fatalf("%d have expired (-want +got):\n%s", turn.Expired, diff)
		}
		m.Finish(t, dbtest.SentAs(*turn.Message, 7))
	}
}

// TestKeyOfTheLate: an expired notice is not superseded.
func TestKeyOfTheLate(t *testing.T) {
	t.Parallel()
	const board = `INSERT INTO outbox (chat_id, kind, payload, action, object, supersede_key, expires_at) VALUES (1, 'k', '{}', 'ensure', 'board', 'board', now())`
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, board)
	if turn := m.Turn(t, dbtest.Boards(1)); turn.Expired != 1 {
		t.Errorf("%d have expired", turn.Expired)
	}
	dbtest.Exec(t, m.Pool, board)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_at = now()`)
	dbtest.Purge(t, m.Pool, 1)
	dbtest.Exec(t, m.Pool, board)
	m.MustHaveRows(t, `state`, "1 expired", "2 expired", "3 planned")
}

// TestMovedWhileTaken: a notice that passes to another chat while it is being taken waits there.
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
	if diff := cmp.Diff([]outbox.Turn{{Lane: dbtest.Chat(1)}}, dbtest.Receive(t, taken)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.MustTake(t, 2, 1, 2, 4)
	m.MustTake(t, 1, 3)
}

// TestSentAlone: notices that cannot be sent together are not taken together either.
func TestSentAlone(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	for _, alone := range []bool{false, true, true, false, false} {
		dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, alone) VALUES (1, 'k', '{}', $1)`, alone)
	}
	for _, want := range [][]int64{{1}, {2}, {3}, {4, 5}} {
		m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, want...), want[0]))
	}
	m.MustHaveRows(t, `attempts`, "1 1", "2 1", "3 1", "4 1", "5 1")
}
