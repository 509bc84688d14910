package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// TestDeadlines has commands of different ages answered: what comes too late is passed over and ends quietly.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		notice ranking.Notice
		button string
		age    time.Duration // of the command
		late   bool
	}{
		"a page of the ranking":           {notice: ranking.RankingPage{}, age: 9 * time.Minute},
		"a page of the ranking, too late": {notice: ranking.RankingPage{}, age: 11 * time.Minute, late: true},
		"a refusal":                       {notice: ranking.Refusal{}, age: 23 * time.Hour},
		"a refusal, too late":             {notice: ranking.Refusal{}, age: 25 * time.Hour, late: true},
		"an outcome":                      {notice: ranking.MatchUndone{}, age: 23 * time.Hour},
		"a toast":                         {notice: ranking.Refusal{}, button: "q", age: 10 * time.Second},
		"a toast, too late":               {notice: ranking.Refusal{}, button: "q", age: 16 * time.Second, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCards(t)
			exec(t, c.world.pool, `DELETE FROM outbox`)
			changes := ranking.Changes{Key: "old", Chat: 1, SentAt: time.Now().Add(-tc.age), Notice: tc.notice}
			if tc.button != "" {
				changes.Button, changes.Toast, changes.Notice = tc.button, tc.notice, nil
			}
			if err := c.store.Apply(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
			if err := c.store.Apply(t.Context(), ranking.Changes{Key: "new", Chat: 1, Notice: ranking.Joined{}}); err != nil {
				t.Fatal(err)
			}
			first, states := c.take(t, 1), []string{"sending", "planned"}
			if tc.late {
				states = []string{"expired", "sending"}
			}
			if late := first != nil && first.Kind == ranking.KindJoined; late != tc.late {
				t.Errorf("the first is %+v", first)
			}
			if diff := cmp.Diff(states, values[string](t, c.world.pool, `SELECT state FROM outbox ORDER BY id`)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCardsLiveForADay looks at the deadline of a card, and has it pass while nobody knows whether the card was sent.
func TestCardsLiveForADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	c := match(w.read(t, alice, bob), "k")
	c.SentAt = time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := w.store.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := value[time.Time](t, w.pool, `SELECT expires_at FROM outbox`); !got.Equal(c.SentAt.Add(24 * time.Hour)) {
		t.Errorf("the card of a match of %v lives until %v", c.SentAt, got)
	}
	m := cards{w, mail{postgres.NewOutbox(w.pool), w.pool}}
	if item := m.take(t, 1); item == nil || item.Kind != ranking.KindMatchRecorded {
		t.Fatalf("the first is %+v", item)
	}
	exec(t, w.pool, `UPDATE outbox SET expires_at = now()`)
	if item := m.take(t, 1); item != nil {
		t.Errorf("%+v is sent too late", item)
	}
	m.mail.mustWait(t)
}

// TestManyTooLate has more pass their deadline than are looked at in one go: none of them is sent, and all of them end.
func TestManyTooLate(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	exec(t, m.pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) SELECT 1, 'late', '{}', now() FROM generate_series(1, 250)`)
	exec(t, m.pool, `INSERT INTO outbox (chat_id, kind, payload, expires_at) VALUES (1, 'last', '{}', now() + interval '1 hour')`)
	for _, want := range []string{"a", "c", "last"} {
		item := m.take(t, 1)
		if item == nil || item.Kind != want {
			t.Fatalf("took %+v, want %s", item, want)
		}
		m.finish(t, outbox.Result{Item: *item, MessageID: 1})
	}
	if item := m.take(t, 1); item != nil {
		t.Errorf("took %+v", item)
	}
	if n := value[int](t, m.pool, `SELECT count(*) FROM outbox WHERE state = 'expired'`); n != 250 {
		t.Errorf("%d have ended", n)
	}
	m.mustWait(t, 2)
}
