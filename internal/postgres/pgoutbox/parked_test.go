package pgoutbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// later simulates that d has passed: it makes the stored times of parkings and of notices earlier.
func (m mail) later(t *testing.T, d time.Duration) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `
		UPDATE chats SET parked_at = parked_at - $1::interval, parked_until = parked_until - $1::interval`, d)
	dbtest.Exec(t, m.Pool, `
		UPDATE outbox SET created_at = created_at - $1::interval, tried_at = tried_at - $1::interval,
		    not_before = not_before - $1::interval,
		    expires_at = expires_at - $1::interval, finished_at = finished_at - $1::interval`, d)
}

// park takes the group's next message, and records that its request was refused.
func (m mail) park(t *testing.T) {
	t.Helper()
	taken := m.Take(t, 1)
	if taken == nil {
		t.Fatal("nothing is tried")
	}
	m.Finish(t, dbtest.Failed(*taken, outbox.Forbidden))
}

// parking returns when the group was parked and when the parking ends, each in seconds from now,
// and how many refusals in a row are counted. If the group is not parked, parking returns only the
// count.
func (m mail) parking(t *testing.T) string {
	t.Helper()
	return dbtest.Value[string](t, m.Pool, `
		SELECT concat_ws(' ', round(extract(epoch FROM parked_at - now()), -1),
		    round(extract(epoch FROM parked_until - now()), -1), parkings)
		FROM chats WHERE id = 1`)
}

func (m mail) mustBeParked(t *testing.T, want string) {
	t.Helper()
	if got := m.parking(t); got != want {
		t.Errorf("parked: %s, want %s", got, want)
	}
}

// TestRefusedChatIsTriedAgain checks that a parked chat is tried again without any command. After
// each refusal the pause is longer, up to 24 hours. As soon as a request succeeds, the chat is no
// longer parked, and the pauses start over.
func TestRefusedChatIsTriedAgain(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	for i, pause := range []time.Duration{
		10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
	} {
		m.park(t)
		m.mustBeParked(t, fmt.Sprint("0 ", int(pause.Seconds()), " ", min(i+1, 4)))
		m.later(t, pause-time.Minute)
		if turn := m.Turn(t, dbtest.Chat(1)); turn.Message != nil || turn.Wait != 0 {
			t.Errorf("a minute before the end of %v: %+v", pause, turn)
		}
		m.MustWait(t, 2)
		m.later(t, time.Minute)
		m.MustWait(t, 1, 2)
	}
	tried := m.MustTake(t, 1, 1)
	m.Finish(t, dbtest.SentAs(tried, 71))
	m.mustBeParked(t, "0")
	next := m.MustTake(t, 1, 3)
	if !tried.Parked || next.Parked {
		t.Errorf("a try: %t, and then %t", tried.Parked, next.Parked)
	}
	m.Finish(t, dbtest.Failed(next, outbox.Forbidden))
	m.mustBeParked(t, "0 600 1")
}

// TestOneRequestTries checks that, however many lanes of a parked chat wait, one request tries the
// chat, and nothing else is sent there until the outcome of the request is known. If the outcome
// stays unknown, the next try is a minute later. If the message was not sent for a reason other
// than a refusal, the next try follows at once.
func TestOneRequestTries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		result func(outbox.Message) outbox.Result
		next   string // the lanes that have something to send afterward
		parked string
	}{
		"sent":    {func(m outbox.Message) outbox.Result { return dbtest.SentAs(m, 71) }, "0 2", "0"},
		"refused": {func(m outbox.Message) outbox.Result { return dbtest.Failed(m, outbox.Forbidden) }, "", "0 3600 2"},
		"lost":    {nil, "", "0 60 1"},
		"rate limited": {func(m outbox.Message) outbox.Result {
			r := dbtest.Failed(m, outbox.RateLimited)
			r.Pause = 0
			return r
		}, "0", "0 0 1"},
		"shown already": {func(m outbox.Message) outbox.Result {
			r := dbtest.SentAs(m, 71)
			r.Skipped = true
			return r
		}, "0", "0 0 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMail(t)
			m.park(t)
			m.later(t, 10*time.Minute)
			dbtest.Exec(t, m.Pool, aPage, 72)
			lanes := []outbox.Lane{dbtest.Pages(1), dbtest.Chat(1), dbtest.Boards(1), dbtest.Chat(2)}
			advance := func(results ...outbox.Result) (messages []outbox.Message, kinds string) {
				dbtest.Exec(t, m.Pool, `
					INSERT INTO outbox (chat_id, kind, payload, action, object, supersede_key)
					VALUES (1, 'b', '{}', 'ensure', 'board:1', 'board:1')
					ON CONFLICT DO NOTHING`)
				var all []string
				for _, turn := range m.MustAdvance(t, dbtest.Bounds, results, lanes...) {
					if turn.Message != nil && turn.Lane.Chat == 1 {
						messages, all = append(messages, *turn.Message), append(all, fmt.Sprint(turn.Lane.Kind))
					}
				}
				slices.Sort(all)
				return messages, strings.Join(all, " ")
			}
			tries, kinds := advance()
			if kinds != "0" || tries[0].Row.ID != 1 {
				t.Fatalf("the lanes %s try", kinds)
			}
			lanes = lanes[:1]
			var results []outbox.Result
			if tc.result != nil {
				results = []outbox.Result{tc.result(tries[0])}
			}
			if _, kinds := advance(results...); kinds != "" { // before the outcome is known
				t.Errorf("while the outcome is being persisted, the lanes %s have something to send", kinds)
			}
			m.Finish(t, results...) // recording it again changes nothing
			m.mustBeParked(t, tc.parked)
			lanes = []outbox.Lane{dbtest.Pages(1), dbtest.Chat(1)}
			if _, kinds := advance(); kinds != tc.next {
				t.Errorf("then the lanes %q have something to send, want %q", kinds, tc.next)
			}
			if tc.parked == "0 60 1" {
				m.later(t, time.Minute)
				if _, kinds := advance(); kinds != "0" {
					t.Errorf("after a minute the lanes %q have something to send", kinds)
				}
			}
		})
	}
}

// TestAddedDuringATry checks that, if the bot is added again during a try, the refusal of the try
// does not park the chat.
func TestAddedDuringATry(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	m.park(t)
	m.later(t, 10*time.Minute)
	try := m.MustTake(t, 1, 1)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_at = NULL, parked_until = NULL, parkings = 0 WHERE id = 1`)
	m.Finish(t, dbtest.Failed(try, outbox.Forbidden))
	m.mustBeParked(t, "0")
	m.MustTake(t, 1, 1)
}

// TestWhatLetsAChatBeTried checks that a message, an update of a board or a final table makes the
// dispatcher try a parked chat. A chat that the bot has left is never tried.
func TestWhatLetsAChatBeTried(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{false, true} {
		for name, add := range map[string]func(t *testing.T, m mail) error{
			"message": func(t *testing.T, m mail) error { m.others(t, 1, notice.Outcome); return nil },
			"board": func(t *testing.T, m mail) error {
				_, err := m.QueueBoards(t.Context(), []outbox.ChatID{1})
				return err
			},
			"boards": func(t *testing.T, m mail) error {
				_, err := m.QueueAllBoards(t.Context())
				return err
			},
			"final table": func(t *testing.T, m mail) error {
				dbtest.Exec(t, m.Pool, `
					INSERT INTO outbox (chat_id, kind, payload, action, object) VALUES (1, 'season', '{}', 'ensure', 'season:1')`)
				return nil
			},
			"nothing": func(*testing.T, mail) error { return nil },
		} {
			t.Run(fmt.Sprint(name, " left: ", left), func(t *testing.T) {
				t.Parallel()
				m := newEmptyMail(t)
				m.results(t, 1)
				dbtest.Exec(t, m.Pool, `INSERT INTO boards (chat_id, ladder_id) VALUES (1, 1)`)
				m.park(t)
				dbtest.Exec(t, m.Pool, `DELETE FROM outbox`)
				dbtest.Exec(t, m.Pool, `UPDATE chats SET is_active = NOT $1`, left)
				var want []outbox.ChatID
				if !left && name != "nothing" {
					want = []outbox.ChatID{1}
				}
				for _, after := range []time.Duration{10 * time.Minute, 100 * time.Hour} {
					m.later(t, after)
					dbtest.Must(t, add(t, m))
					m.MustWait(t, want...)
				}
			})
		}
	}
}

// TestWhatIsTriedAfterLong checks that, if a chat was parked for so long that most of its results
// are too late, one summary covers those results. Notices that are not too late are sent unchanged.
func TestWhatIsTriedAfterLong(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 20)
	m.others(t, 1, notice.Answer)
	dbtest.Exec(t, m.Pool, `UPDATE outbox
		SET expires_at = now() + CASE purpose WHEN 'answer' THEN interval '10 minutes' ELSE interval '1 day' END`)
	m.park(t)
	for _, pause := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour} {
		m.later(t, pause)
		m.park(t)
	}
	m.later(t, 16*time.Hour)
	dbtest.Purge(t, m.Pool, 1) // the answer
	m.results(t, 1)
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() + interval '1 day' WHERE expires_at IS NULL`)
	m.later(t, 8*time.Hour)
	first := m.MustTake(t, 1, 1)
	if got, want := dbtest.Items(&first), `1 results_summary {"count": 20, "answers": 0, `+
		`"results": [{"number": 1}, {"number": 2}, {"number": 3}, {"number": 4}, {"number": 5}]}`; got[0] != want {
		t.Errorf("the try tells %s", got)
	}
	m.Finish(t, dbtest.SentAs(first, 71))
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 22), 72))
	dbtest.Equal(t, "matches that the summary tells of", []string{"20"}, dbtest.Values[string](t, m.Pool, `
		SELECT count(*)::text FROM match_messages WHERE telegram_message_id = 71`))
}
