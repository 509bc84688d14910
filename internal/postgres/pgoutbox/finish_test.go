package pgoutbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

func TestFinishFailures(t *testing.T) {
	t.Parallel()
	const waits = "planned attempts 1 duplicates 0 message 0 error why finished false"
	for kind, tc := range map[outbox.FailureKind]struct {
		row   string
		waits string          // the row's pause in seconds, and how many failures it has
		chat  string          // the pause of its chat in seconds, or "parked"
		turn  string          // what the lane has next: the id of a notice, or a wait in seconds
		may   []outbox.ChatID // chats that may send
		afar  string          // what the lane has next after the pause
	}{
		outbox.Unreachable:  {waits, "3600 0", "", "3600", []outbox.ChatID{2}, "1"},
		outbox.Unauthorized: {waits, "3600 0", "", "3600", []outbox.ChatID{2}, "1"},
		outbox.Migrated:     {waits, "3600 0", "", "3600", []outbox.ChatID{2}, "1"},
		outbox.Failed:       {waits, "3600 1", "", "3600", []outbox.ChatID{2}, "1"},
		outbox.RateLimited:  {waits, "0", "3600", "3600", []outbox.ChatID{2}, "1"},
		outbox.Forbidden:    {waits, "0", "parked", "0", []outbox.ChatID{2}, "1"},
		outbox.Ambiguous: {
			"sending attempts 1 duplicates 0 message 0 error why finished false", "3600 0", "", "3600", []outbox.ChatID{2}, "1 duplicates 1",
		},
		outbox.Rejected: {
			"dead attempts 1 duplicates 0 message 0 error why finished true", "0", "", "3", []outbox.ChatID{1, 2}, "3 duplicates 1",
		},
		outbox.Uncertain: {
			"uncertain attempts 1 duplicates 0 message 0 error why finished true", "0", "", "3", []outbox.ChatID{1, 2}, "3 duplicates 1",
		},
		outbox.Obsolete: {
			"expired attempts 1 duplicates 0 message 0 error why finished true", "0", "", "3", []outbox.ChatID{1, 2}, "3 duplicates 1",
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			m := newMail(t)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET created_at = now() - interval '1 minute'`)
			next := func() string {
				turn := m.Turn(t, dbtest.Chat(1))
				if turn.Message == nil {
					return fmt.Sprint(int(turn.Wait.Round(10 * time.Second).Seconds()))
				}
				s := fmt.Sprint(turn.Message.Row.ID)
				if n := turn.Message.Row.PossibleDuplicates; n > 0 {
					s += fmt.Sprint(" duplicates ", n)
				}
				return s
			}
			r := dbtest.Failed(m.MustTake(t, 1, 1), kind)
			m.Finish(t, r)
			m.Finish(t, r) // recording it again changes nothing
			if got := m.Row(t, 1); got != tc.row {
				t.Errorf("the notice is %s, want %s", got, tc.row)
			}
			got := dbtest.Value[string](t, m.Pool, `
				SELECT concat_ws(' ', round(extract(epoch FROM not_before - now()), -1), failures) FROM outbox WHERE id = 1`)
			if got != tc.waits {
				t.Errorf("seconds to wait and failures are %s, want %s", got, tc.waits)
			}
			got = dbtest.Value[string](t, m.Pool, `
				SELECT concat(round(extract(epoch FROM frozen_until - now()), -1),
				       CASE WHEN parked_at IS NOT NULL THEN 'parked' END)
				FROM chats WHERE id = 1`)
			if got != tc.chat {
				t.Errorf("the chat is %q, want %q", got, tc.chat)
			}
			m.MustWait(t, tc.may...)
			if got := next(); got != tc.turn {
				t.Errorf("next is %s, want %s", got, tc.turn)
			}
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = now()`)
			dbtest.Exec(t, m.Pool, `
				UPDATE chats SET frozen_until = now(), parked_until = CASE WHEN parked_at IS NOT NULL THEN now() END`)
			if got := next(); got != tc.afar {
				t.Errorf("after the pause next is %s, want %s", got, tc.afar)
			}
			letters := dbtest.Values[string](t, m.Pool, `
				SELECT kind || ' ' || outbox_id || ' ' || convert_from(payload, 'UTF8') || ' ' || last_error || ' ' || attempts
				       || ' ' || (first_seen_at = (SELECT created_at FROM outbox WHERE id = 1))
				FROM dead_letters`)
			var want []string
			if kind == outbox.Rejected {
				want = []string{`notice 1 {"n": 1} why 1 true`}
			}
			dbtest.Equal(t, "dead letters", want, letters, cmpopts.EquateEmpty())
		})
	}
}

// TestRefusedWhileTheChatMoves checks that a refusal parks the chat of the request, and no other
// chat. If the chat gets a new id during the request, the refusal for the old id does not park the
// chat.
func TestRefusedWhileTheChatMoves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql    string // run during the request
		parked bool
	}{
		"nothing":                {``, true},
		"a notice to another":    {`INSERT INTO outbox (chat_id, kind, payload) VALUES (2, 'k', '{}')`, true},
		"the chat's new id":      {`UPDATE chats SET telegram_chat_id = -1000100 WHERE id = 1`, false},
		"the end of the request": {`UPDATE outbox SET state = 'planned' WHERE id = 1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMail(t)
			taken := m.MustTake(t, 1, 1)
			dbtest.Exec(t, m.Pool, tc.sql)
			m.Finish(t, dbtest.Failed(taken, outbox.Forbidden))
			if parked := dbtest.Value[bool](t, m.Pool, `
				SELECT parked_at IS NOT NULL FROM chats WHERE id = 1`); parked != tc.parked {
				t.Errorf("parked: %t", parked)
			}
			if parked := dbtest.Value[bool](t, m.Pool, `SELECT parked_at IS NOT NULL FROM chats WHERE id = 2`); parked {
				t.Error("the other chat is parked")
			}
			if !tc.parked {
				if next := m.MustTake(t, 1, 1); next.Row.PossibleDuplicates != 0 {
					t.Errorf("next is %+v", next)
				}
			}
		})
	}
}

// TestFinishTextThatCannotBeStored checks that an error text that PostgreSQL does not accept is
// stored with replacement characters. Instead of an empty text, the kind of the failure is stored.
func TestFinishTextThatCannotBeStored(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	id := int64(0)
	for _, kind := range []outbox.FailureKind{outbox.Unreachable, outbox.Ambiguous, outbox.Rejected, outbox.Obsolete} {
		for text, want := range map[string]string{"<b>\x00Bad\xff gateway": "<b>\ufffdBad\ufffd gateway", "": string(kind)} {
			id++
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET state = 'dead', finished_at = now() WHERE finished_at IS NULL`)
			dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL, parked_at = NULL, parked_until = NULL`)
			m.others(t, 1, notice.Outcome)
			r := dbtest.Failed(m.MustTake(t, 1, id), kind)
			r.Failure.Err = errors.New(text)
			m.Finish(t, r)
			if got := dbtest.Value[string](t, m.Pool, `SELECT last_error FROM outbox WHERE id = $1`, id); got != want {
				t.Errorf("%s: the error is %q, want %q", kind, got, want)
			}
		}
	}
}

// TestPauses checks that a second pause of a chat or of a callback answer can extend the first, but
// not shorten it. Callback answers ignore the pause and the parking of their chat.
func TestPauses(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, action, callback_query_id)
		VALUES (1, 'k', '{}', 'callback_answer', 'q')`)
	limited := func(lane outbox.Lane, pause time.Duration) {
		t.Helper()
		dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = least(not_before, now())`)
		dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = least(frozen_until, now())`)
		message := m.Turn(t, lane).Message
		dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = now() + interval '1 hour'
			WHERE id = $1 AND action = 'callback_answer'`, message.Row.ID)
		dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = now() + interval '1 hour' WHERE id = 1`)
		r := dbtest.Failed(*message, outbox.RateLimited)
		r.Pause = pause
		m.Finish(t, r)
	}
	for _, lane := range []outbox.Lane{dbtest.Chat(1), dbtest.Answers(1)} {
		for _, tc := range []struct {
			pause    time.Duration
			min, max time.Duration
		}{{1500 * time.Millisecond, 59 * time.Minute, time.Hour}, {2 * time.Hour, 119 * time.Minute, 2 * time.Hour}} {
			limited(lane, tc.pause)
			turn := m.Turn(t, lane)
			if turn.Message != nil || turn.Wait < tc.min || turn.Wait > tc.max {
				t.Errorf("%+v, paused for %v: %+v", lane, tc.pause, turn)
			}
		}
	}
	// The pause of the callback answer ends, while its chat stays frozen.
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = NULL WHERE action = 'callback_answer'`)
	if turn := m.Turn(t, dbtest.Answers(1)); turn.Message == nil {
		t.Errorf("callback answers of a frozen chat: %+v", turn)
	}
	m.MustWait(t, 1, 2) // chat 1, because of its callback answer
	dbtest.Exec(t, m.Pool, `
		UPDATE chats SET frozen_until = NULL, parked_at = now(), parked_until = now() + interval '1 hour'`)
	if turn := m.Turn(t, dbtest.Answers(1)); turn.Message == nil {
		t.Errorf("callback answers of a parked chat: %+v", turn)
	}
	if turn := m.Turn(t, dbtest.Chat(1)); turn.Message != nil || turn.Wait != 0 {
		t.Errorf("parked chat: %+v", turn)
	}
	m.MustWait(t, 1)
	dbtest.Exec(t, m.Pool, `DELETE FROM outbox WHERE action = 'callback_answer'`)
	m.MustWait(t)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_until = now()`)
	m.MustWait(t, 1, 2)
}

// several returns an outbox from which it has taken notices 1 to 5 of a group, as one message.
// Notices 1, 3 and 4 are cards of the matches with these ids.
func several(t *testing.T) (mail, outbox.Message) {
	t.Helper()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 9);
		`+dbtest.DefaultLadders+`
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT 1, 1, 1, n, 3, 1, 32, now(), 'm:' || n FROM generate_series(1, 9) n;
		INSERT INTO outbox (chat_id, kind, payload, match_id, created_at)
		    SELECT 1, 'match_recorded', '{}', CASE WHEN n IN (1, 3, 4) THEN n END, now() - interval '1 minute'
		    FROM generate_series(1, 5) n`)
	return m, m.MustTake(t, 1, 1, 2, 3, 4, 5)
}

// TestFinishTogether checks that the result of a message with five notices applies to the notices
// that the request covered. If the message is rejected or obsolete, only its first notice ends.
func TestFinishTogether(t *testing.T) {
	t.Parallel()
	waits := func(id int) string { return fmt.Sprintf("%d planned 0 0", id) }
	tried := func(id int) string { return fmt.Sprintf("%d planned 1 0", id) }
	for name, tc := range map[string]struct {
		kind    outbox.FailureKind // empty: sent
		covered int
		// Each row: id, state, attempts, possible duplicates, batch unless it is null, t if
		// tried_at is set, w if not_before is in the future.
		rows []string
		next []int64
	}{
		"all are sent": {"", 0, []string{"1 sent 1 0 1 t", "2 sent 1 0 1 t", "3 sent 1 0 1 t", "4 sent 1 0 1 t", "5 sent 1 0 1 t"}, nil},
		"three are sent": {
			"", 3, []string{"1 sent 1 0 1 t", "2 sent 1 0 1 t", "3 sent 1 0 1 t", waits(4), waits(5)}, []int64{4, 5},
		},
		"one is sent": {"", 1, []string{"1 sent 1 0 t", waits(2), waits(3), waits(4), waits(5)}, []int64{2, 3, 4, 5}},
		"not sent": {
			outbox.Unreachable, 3, []string{"1 planned 1 0 t w", tried(2), tried(3), waits(4), waits(5)}, []int64{1, 2, 3, 4, 5},
		},
		"all are possible duplicates": {
			outbox.Ambiguous, 0,
			[]string{"1 sending 1 0 1 t w", "2 sending 1 0 1 t", "3 sending 1 0 1 t", "4 sending 1 0 1 t", "5 sending 1 0 1 t"},
			[]int64{1, 2, 3, 4, 5},
		},
		"three are possible duplicates": {
			outbox.Ambiguous, 3, []string{"1 sending 1 0 1 t w", "2 sending 1 0 1 t", "3 sending 1 0 1 t", waits(4), waits(5)},
			[]int64{1, 2, 3},
		},
		"refused": {outbox.Rejected, 3, []string{"1 dead 1 0 t", tried(2), tried(3), waits(4), waits(5)}, []int64{2, 3, 4, 5}},
		"obsolete": {
			outbox.Obsolete, 0, []string{"1 expired 1 0 t", tried(2), tried(3), tried(4), tried(5)}, []int64{2, 3, 4, 5},
		},
		"rate limited": {
			outbox.RateLimited, 3, []string{"1 planned 1 0 t", tried(2), tried(3), waits(4), waits(5)}, []int64{1, 2, 3, 4, 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, message := several(t)
			r := dbtest.SentAs(message, 71)
			if tc.kind != "" {
				r = dbtest.Failed(message, tc.kind)
			}
			r.Covered = tc.covered
			for range 2 { // recording it again changes nothing
				m.Finish(t, r)
				m.MustHaveRows(t, `state, attempts, possible_duplicates, batch, CASE WHEN tried_at IS NOT NULL THEN 't' END,
					CASE WHEN not_before > now() THEN 'w' END`, tc.rows...)
			}
			covered := 0
			if tc.kind != "" {
				if covered = tc.covered; covered == 0 {
					covered = 5
				}
			}
			if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE last_error = 'why'`); n != covered {
				t.Errorf("%d have failed, want %d", n, covered)
			}
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = NULL`)
			dbtest.Exec(t, m.Pool, `UPDATE chats SET frozen_until = NULL`)
			next := m.Take(t, 1)
			dbtest.Equal(t, "next", tc.next, dbtest.IDs(next))
			for i := range tc.next {
				if duplicates := next.Items[i].PossibleDuplicates == 1; duplicates != (tc.kind == outbox.Ambiguous) {
					t.Errorf("next is %+v", next.Items[i])
				}
			}
		})
	}
}

// TestMessagesOfMatches checks that, for each match that a sent message shows, the message is
// recorded, with the count of notices that it covers. A message whose id is unknown is not
// recorded.
func TestMessagesOfMatches(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	r := dbtest.SentAs(message, 71)
	r.Covered = 3
	m.Finish(t, r)
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 4, 5), 0)) // its id is unknown
	const all = `SELECT concat_ws(' ', telegram_chat_id, telegram_message_id, match_id, outbox_id, covered, fingerprint)
		FROM match_messages ORDER BY 1`
	want := []string{"-100 71 1 1 3 print 71", "-100 71 3 3 3 print 71"}
	dbtest.Equal(t, "messages", want, dbtest.Values[string](t, m.Pool, all))
}

// TestPossibleDuplicatesAreCounted checks that a request whose outcome is unknown counts as a
// possible duplicate for every notice of its message, even for notices that the next request does
// not cover.
func TestPossibleDuplicatesAreCounted(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	for range 3 { // without a result
		message = m.MustTake(t, 1, 1, 2, 3, 4, 5)
	}
	r := dbtest.Failed(message, outbox.Unreachable)
	r.Covered, r.Pause = 2, 0
	m.Finish(t, r)
	m.MustHaveRows(t, `state, attempts, possible_duplicates`,
		"1 planned 4 3", "2 planned 4 3", "3 planned 3 3", "4 planned 3 3", "5 planned 3 3")
	r = dbtest.SentAs(m.MustTake(t, 1, 1, 2, 3, 4, 5), 71)
	r.Covered = 2
	m.Finish(t, r)
	m.MustHaveRows(t, `state, attempts, possible_duplicates`,
		"1 sent 5 3", "2 sent 5 3", "3 planned 3 3", "4 planned 3 3", "5 planned 3 3")
}

// TestFailuresAddUp checks that, after failures for an unknown reason, the first notice of a
// message is sent alone. The notice becomes a dead letter only when a result is marked Dead.
func TestFailuresAddUp(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	for n := range 3 {
		if message.Row.Failures != n {
			t.Errorf("%d failures, want %d", message.Row.Failures, n)
		}
		r := dbtest.Failed(message, outbox.Failed)
		r.Pause = 0
		m.Finish(t, r)
		message = m.MustTake(t, 1, 1) // alone, because any of the five may be to blame
	}
	r := dbtest.Failed(message, outbox.Failed)
	r.Dead = true
	m.Finish(t, r)
	m.MustHaveRows(t, `state, attempts, failures`,
		"1 dead 4 4", "2 planned 1 0", "3 planned 1 0", "4 planned 1 0", "5 planned 1 0")
	if got := dbtest.Values[string](t, m.Pool, `
		SELECT concat_ws(' ', outbox_id, last_error, attempts) FROM dead_letters`); len(got) != 1 || got[0] != "1 why 4" {
		t.Errorf("dead letters: %q", got)
	}
	m.MustTake(t, 1, 2, 3, 4, 5)
}

// TestLateResult checks that the result of an earlier request changes nothing once its notices were
// taken again. Such results occur if the answer to Advance was lost.
func TestLateResult(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	late := dbtest.Failed(message, outbox.Unreachable)
	late.Pause = 0
	m.Finish(t, late)
	m.MustTake(t, 1, 1, 2, 3, 4, 5)
	m.Finish(t, late, dbtest.Failed(message, outbox.Failed))
	m.MustHaveRows(t, `state, attempts, failures, batch`,
		"1 sending 2 0 1", "2 sending 2 0 1", "3 sending 2 0 1", "4 sending 2 0 1", "5 sending 2 0 1")
}
