package pgoutbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// waitingResults returns the waiting results in the chats 1 and 2, as the ids of the messages that reported them.
func (m mail) waitingResults(t *testing.T, merge int) (all []string) {
	t.Helper()
	results, err := m.WaitingResults(t.Context(), []outbox.ChatID{1, 2}, merge, 2*time.Minute)
	dbtest.Must(t, err)
	for _, r := range results {
		all = append(all, fmt.Sprintf("%d %d %d after %d, %v", r.Chat, r.To, r.Message, r.Before, r.Age.Truncate(10*time.Second)))
	}
	return all
}

func TestWaitingResults(t *testing.T) {
	t.Parallel()
	const result = `INSERT INTO outbox (chat_id, kind, payload, reply_to, expires_at, created_at) VALUES
		(1, 'match_recorded', '{"number": 1}', 71, now() + interval '24 hours', now())`
	for name, tc := range map[string]struct {
		change string
		want   []string
	}{
		"a result":               {``, []string{"1 -100 71 after 0, 0s"}},
		"a minute ago":           {`created_at = now() - interval '65 s', expires_at = expires_at - interval '65 s'`, []string{"1 -100 71 after 0, 1m0s"}},
		"reported long ago":      {`expires_at = now() + interval '23 hours 57 minutes'`, nil},
		"of unknown age":         {`expires_at = NULL`, []string{"1 -100 71 after 0, 0s"}},
		"recorded long ago":      {`expires_at = NULL, created_at = now() - interval '3 minutes'`, nil},
		"in the future":          {`created_at = now() + interval '1 hour'`, []string{"1 -100 71 after 0, 0s"}},
		"failed":                 {`attempts = 1, failures = 1, tried_at = now()`, []string{"1 -100 71 after 0, 0s"}},
		"perhaps sent":           {`state = 'sending', attempts = 1, tried_at = now()`, nil},
		"sent":                   {`state = 'sent', finished_at = now()`, nil},
		"set aside":              {`deferred_at = now()`, nil},
		"another kind":           {`kind = 'match_undone'`, nil},
		"undone":                 {`payload = '{"number": 1, "undone": true}'`, nil},
		"fixed":                  {`payload = '{"number": 1, "changes": 1}'`, []string{"1 -100 71 after 0, 0s"}},
		"reported by no message": {`reply_to = NULL`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			dbtest.Exec(t, m.Pool, result)
			if tc.change != "" {
				dbtest.Exec(t, m.Pool, `UPDATE outbox SET `+tc.change)
			}
			if diff := cmp.Diff(tc.want, m.waitingResults(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			dbtest.Exec(t, m.Pool, `UPDATE chats SET parked_at = now()`)
			if got := m.waitingResults(t, 1); got != nil {
				t.Errorf("in a parked chat: %q", got)
			}
		})
	}
}

// TestBeforeWaitingResults counts the messages that have to be sent before a result. What is being sent needs no further one.
func TestBeforeWaitingResults(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO outbox (chat_id, kind, payload, reply_to, alone, state, attempts) VALUES
		    (1, 'match_recorded', '{}', 71, false, 'sending', 1), (1, 'match_recorded', '{}', 72, false, 'planned', 0),
		    (1, 'match_recorded', '{}', 73, false, 'planned', 0), (1, 'ranking_page', '{}', 74, true, 'planned', 0),
		    (1, 'match_recorded', '{}', 75, false, 'planned', 0), (2, 'match_recorded', '{}', 76, false, 'planned', 0)`)
	for merge, want := range map[int][]string{
		1:  {"1 -100 72 after 0, 0s", "1 -100 73 after 1, 0s", "1 -100 75 after 3, 0s", "2 5 76 after 0, 0s"},
		2:  {"1 -100 72 after 0, 0s", "1 -100 73 after 0, 0s", "1 -100 75 after 2, 0s", "2 5 76 after 0, 0s"},
		64: {"1 -100 72 after 0, 0s", "1 -100 73 after 0, 0s", "1 -100 75 after 1, 0s", "2 5 76 after 0, 0s"},
	} {
		if diff := cmp.Diff(want, m.waitingResults(t, merge)); diff != "" {
			t.Errorf("merged by %d (-want +got):\n%s", merge, diff)
		}
	}
}
