package pgoutbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// about compares durations with a tolerance for the time that a test takes.
var about = cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < dbtest.MaxWait })

func TestWaiting(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO chats (telegram_chat_id, kind, frozen_until, parked_at, parked_until, is_active) VALUES
		    (-300, 'group', now() + interval '2 hours', NULL, NULL, true),
		    (-400, 'group', NULL, now(), now() + interval '1 hour', true),
		    (-500, 'group', now() - interval '1 hour', NULL, NULL, true), (-600, 'group', NULL, NULL, NULL, true),
		    (-700, 'group', NULL, now() - interval '1 hour', now(), true), (-800, 'group', NULL, now(), now(), false),
		    (-900, 'group', NULL, now() + interval '1 hour',
		        now() + interval '2 hours', true); -- parked before the clock was set back
		INSERT INTO outbox
		    (chat_id, kind, payload, created_at, purpose, action, callback_query_id, not_before, state, finished_at) VALUES
		    (1, 'k', '{}', now() - interval '9 hours', 'outcome', 'send', NULL, NULL, 'sent', now()),
		    (1, 'k', '{}', now() - interval '3 hours', 'answer', 'send', NULL, now() + interval '1 hour', 'planned', NULL),
		    (1, 'k', '{}', now() - interval '2 hours', 'outcome', 'send', NULL, NULL, 'planned', NULL),
		    (1, 'k', '{}', now(), 'outcome', 'callback_answer', 'q', NULL, 'planned', NULL),
		    (2, 'k', '{}', now() + interval '1 hour', 'notification', 'send', NULL,
		        now() - interval '1 hour', 'sending', NULL),
		    (3, 'k', '{}', now(), 'outcome', 'send', NULL, now() + interval '1 hour', 'planned', NULL),
		    (3, 'k', '{}', now(), 'outcome', 'callback_answer', 'q', now() + interval '3 hours', 'planned', NULL),
		    (4, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'planned', NULL),
		    (4, 'k', '{}', now(), 'outcome', 'callback_answer', 'q', NULL, 'planned', NULL),
		    (5, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'planned', NULL),
		    (6, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'expired', now()),
		    (7, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'planned', NULL),
		    (8, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'planned', NULL),
		    (9, 'k', '{}', now(), 'outcome', 'send', NULL, NULL, 'planned', NULL)`)
	got, err := m.Waiting(t.Context(), dbtest.Bounds)
	dbtest.Must(t, err)
	want := []outbox.Backlog{
		{Lane: dbtest.Chat(1), To: -100, Purpose: notice.Answer, Age: 3 * time.Hour, Wait: time.Hour},
		{Lane: dbtest.Answers(1), To: -100, Purpose: notice.Outcome},
		{Lane: dbtest.Chat(2), To: 5, Private: true, Purpose: notice.Notification},
		{Lane: dbtest.Chat(3), To: -300, Purpose: notice.Outcome, Wait: 2 * time.Hour},
		{Lane: dbtest.Answers(3), To: -300, Purpose: notice.Outcome, Wait: 3 * time.Hour},
		{Lane: dbtest.Answers(4), To: -400, Purpose: notice.Outcome},
		{Lane: dbtest.Chat(5), To: -500, Purpose: notice.Outcome},
		{Lane: dbtest.Chat(7), To: -700, Purpose: notice.Outcome},
		{Lane: dbtest.Chat(9), To: -900, Purpose: notice.Outcome},
	}
	dbtest.Equal(t, "survey", want, got, about)
	for _, b := range got {
		if b.Age < 0 || b.Wait < 0 {
			t.Errorf("negative: %+v", b)
		}
	}
}

// requests returns the requests of the last hour, each as the chat and the age in minutes.
func (m mail) requests(t *testing.T) []string {
	t.Helper()
	got, err := m.Recent(t.Context(), time.Hour)
	dbtest.Must(t, err)
	var all []string
	for _, r := range got {
		if r.Age < 0 || r.Private != (r.Chat == 2) {
			t.Errorf("request %+v", r)
		}
		all = append(all, fmt.Sprint(r.Chat, " ", int(r.Age.Round(time.Minute).Minutes())))
	}
	slices.Sort(all)
	return all
}

func TestRecent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql  string // changes a row of the group and one of the private chat
		want []string
	}{
		"planned":       {``, nil},
		"sent":          {`state = 'sent', tried_at = now() - interval '9 minutes', finished_at = now() - interval '8 minutes'`, []string{"1 8", "2 8"}},
		"sent long ago": {`state = 'sent', tried_at = now() - interval '61 minutes', finished_at = now() - interval '61 minutes'`, nil},
		"sent just now": {`state = 'sent', tried_at = now() + interval '1 minute', finished_at = now() + interval '1 minute'`, []string{"1 0", "2 0"}},
		"refused":       {`state = 'dead', tried_at = now() - interval '9 minutes', finished_at = now() - interval '8 minutes'`, []string{"1 8", "2 8"}},
		"expired":       {`state = 'expired', finished_at = now() - interval '8 minutes'`, nil},
		"in flight":     {`state = 'sending', tried_at = now() - interval '2 hours'`, []string{"1 0", "2 0"}},
		"tried":         {`tried_at = now() - interval '9 minutes'`, []string{"1 9", "2 9"}},
		"just tried":    {`tried_at = now() - interval '3 seconds'`, []string{"1 0", "2 0"}},
		// The request may have ended as late as 16 seconds after its row was taken.
		"maybe long ago":  {`tried_at = now() - interval '95 seconds'`, []string{"1 1", "2 1"}},
		"tried long ago":  {`tried_at = now() - interval '61 minutes'`, nil},
		"possible copies": {`state = 'sent', possible_duplicates = 2, tried_at = now(), finished_at = now() - interval '8 minutes'`, []string{"1 8", "1 8", "1 8", "2 8", "2 8", "2 8"}},
		"maybe in flight": {`state = 'sending', possible_duplicates = 1, tried_at = now()`, []string{"1 0", "1 0", "2 0", "2 0"}},
		"an answer":       {`state = 'sent', action = 'callback_answer', callback_query_id = 'q', tried_at = now(), finished_at = now()`, nil},
		"a tried answer":  {`action = 'callback_answer', callback_query_id = 'q', tried_at = now()`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '{}'), (2, 'k', '{}')`)
			if tc.sql != "" {
				dbtest.Exec(t, m.Pool, `UPDATE outbox SET `+tc.sql)
			}
			dbtest.Equal(t, "chats and minutes", tc.want, m.requests(t), cmpopts.EquateEmpty())
		})
	}
}

// TestRecentOfMessages checks that each request for a message with several notices counts once.
func TestRecentOfMessages(t *testing.T) {
	t.Parallel()
	m, message := several(t)
	must := func(what string, want ...string) {
		t.Helper()
		dbtest.Equal(t, what, want, m.requests(t), cmpopts.EquateEmpty())
	}
	must("under way", "1 0")
	r := dbtest.Failed(message, outbox.Unreachable)
	r.Pause = 0
	m.Finish(t, r)
	must("not sent", "1 0")
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET tried_at = tried_at - interval '7 minutes'`)
	must("not sent a while ago", "1 7")
	r = dbtest.SentAs(m.MustTake(t, 1, 1, 2, 3, 4, 5), 71)
	r.Covered = 3
	m.Finish(t, r)
	must("three of them sent", "1 0")
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET finished_at = finished_at - interval '8 minutes'`)
	must("a while ago", "1 8")
	m.MustTake(t, 1, 4, 5)
	must("the others under way", "1 0", "1 8")
	m.MustTake(t, 1, 4, 5)
	must("and once more", "1 0", "1 0", "1 8")
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	survey := func(largest int) outbox.Survey {
		s, err := m.Survey(t.Context(), largest)
		dbtest.Must(t, err)
		return s
	}
	dbtest.Equal(t, "without requests", outbox.Survey{}, survey(5))
	dbtest.Exec(t, m.Pool, `
		INSERT INTO chats (telegram_chat_id, kind, frozen_until, parked_at) VALUES
		    (-300, 'group', now() + interval '1 hour', NULL), (-400, 'group', NULL, now()), (-500, 'group', now(), now()),
		    (-600, 'group', now() + interval '1 hour', NULL);
		INSERT INTO outbox (chat_id, kind, payload, state, finished_at, action, callback_query_id) VALUES
		    (1, 'k', '{}', 'planned', NULL, 'send', NULL), (1, 'k', '{}', 'sending', NULL, 'send', NULL),
		    (1, 'k', '{}', 'planned', NULL, 'callback_answer', 'q'), (1, 'k', '{}', 'sent', now(), 'send', NULL),
		    (2, 'k', '{}', 'planned', NULL, 'send', NULL), (2, 'k', '{}', 'planned', NULL, 'send', NULL),
		    (4, 'k', '{}', 'planned', NULL, 'send', NULL), (4, 'k', '{}', 'dead', now(), 'send', NULL);
		INSERT INTO dead_letters (kind, update_id, outbox_id, payload, last_error, attempts, first_seen_at)
		    VALUES ('update', 5, NULL, '', 'why', 1, now()), ('notice', NULL, 8, '', 'why', 1, now())`)
	want := outbox.Survey{
		Waiting: 6, Largest: []outbox.ChatBacklog{{Chat: 1, Waiting: 3}, {Chat: 2, Waiting: 2}}, Dead: 1, LastID: 8,
	}
	dbtest.Equal(t, "survey", want, survey(2))
	want.Largest = append(want.Largest, outbox.ChatBacklog{Chat: 4, Waiting: 1})
	dbtest.Equal(t, "of all", want, survey(20))
	dbtest.Exec(t, m.Pool, `DELETE FROM outbox WHERE state <> 'planned'`)
	if got := survey(0); got.LastID != 8 || got.Waiting != 5 || got.Largest != nil {
		t.Errorf("later: %+v", got)
	}
}
