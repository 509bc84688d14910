package pgranking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestRecentUsage checks that a command counts if it was sent during the minute up to the date of
// the current command. A command in the bucket RateSlowed also counts if it was sent during the
// minute after that date.
func TestRecentUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Unix(1_700_000_000, 0)
	insert := func(sender int64, sort string, seconds ...int) {
		for _, s := range seconds {
			dbtest.Exec(t, w.Pool, `
				INSERT INTO handled_commands (key, sender, sent_at, rate_class) VALUES (gen_random_uuid()::text, $1, $2, $3)`,
				sender, at.Add(time.Duration(s)*time.Second), sort)
		}
	}
	insert(1, "question", -61, -60, -59, -1, 0, 1)
	insert(1, "result", -60, -59, 0, 0, 5)
	insert(1, "slowed", -60, 60)
	insert(1, "refused", -5)
	insert(2, "question", 0)
	insert(-1, "result", 0)
	dbtest.Exec(t, w.Pool, `INSERT INTO handled_commands (key) VALUES ('of nobody')`)
	ask := func(sender ranking.SenderID) ranking.RecentUsage {
		q := ranking.Query{
			Key: "k", Chat: club, RateEntry: ranking.RateEntry{Bucket: ranking.RateQuestion, Sender: sender, At: at},
		}
		snap, err := w.Store.Read(t.Context(), q)
		dbtest.Must(t, err)
		return snap.RecentUsage
	}
	dbtest.Equal(t, "usage", ranking.RecentUsage{Questions: 3, Results: 3}, ask(1))
	insert(1, "slowed", -59, 59)
	if got := ask(1).Slowed; got != 2 {
		t.Errorf("slowed %d times, want 2", got)
	}
	dbtest.Equal(t, "reads of the chat", ranking.RecentUsage{Results: 1}, ask(-1))
}

// TestCountingScansNothing checks that counting scans no table, however many commands other senders
// have sent, or the same sender has sent long ago.
func TestCountingScansNothing(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	dbtest.Exec(t, plain, `
		INSERT INTO handled_commands (key, sender, sent_at, rate_class)
		SELECT 'q:' || n, n % 90, to_timestamp(1700000000 - n), 'question' FROM generate_series(1, 9000) n;
		ANALYZE handled_commands`)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	counted := ranking.RateEntry{Bucket: ranking.RateResult, Sender: 7, At: time.Unix(1_700_000_000, 0)}
	club := ranking.Chat{ID: -150, Kind: ranking.Group, Title: "Club 150"}
	refused := ranking.NotRecorded{Limit: 60, Items: []ranking.RejectedResult{{Command: "undo"}}}
	apply := func(key string) func(context.Context) error {
		return func(ctx context.Context) error {
			return store.Apply(ctx, ranking.Changes{
				Key: key, Chat: 150, RateEntry: counted, Decision: ranking.Decision{Notice: refused},
			})
		}
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "count", Run: func(ctx context.Context) error {
			_, err := store.Read(ctx, ranking.Query{Key: "k", Chat: club, RateEntry: counted})
			return err
		}, Want: 2},
		{Name: "not recorded", Run: apply("a"), Want: 3},
		{Name: "one more", Run: apply("b"), Want: 3},
	})
	counted.At = counted.At.Add(-7 * time.Second)
	_ = rec.Take()
	if _, err := store.Read(t.Context(), ranking.Query{Key: "k", Chat: club, RateEntry: counted}); err != nil {
		t.Fatal(err)
	}
	for kind, plan := range dbtest.Plans(t, plain, rec.Take()[1]) {
		if !strings.Contains(plan, "handled_commands_sender_idx") {
			t.Errorf("the plan for %s does not use the sender:\n%s", kind, plan)
		}
	}
}

// TestExtensibleNoticeWaits checks that a notice to which results can still be added is taken only
// when it is the first of its lane.
func TestExtensibleNoticeWaits(t *testing.T) {
	t.Parallel()
	m := dbtest.NewEmptyMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '{}'), (1, 'k', '{}')`)
	store := pgranking.NewStore(m.Pool, dbtest.Ignore)
	refuse := func(number int) {
		t.Helper()
		err := store.Apply(t.Context(), ranking.Changes{
			Key: fmt.Sprint("k", number), Chat: 1,
			RateEntry: ranking.RateEntry{Bucket: ranking.RateRefused, Sender: 7, At: time.Now()}, SentAt: time.Now(),
			Decision: ranking.Decision{Notice: ranking.NotRecorded{
				Limit: 60, Items: []ranking.RejectedResult{{Command: "undo", Number: number}},
			}},
		})
		dbtest.Must(t, err)
	}
	items := func(id int64) string {
		return dbtest.Value[string](t, m.Pool, `
			SELECT coalesce(string_agg(i ->> 'number', ' '), '') || ' and ' || coalesce(payload ->> 'more', '0')
			FROM outbox o, jsonb_array_elements(payload -> 'items') i WHERE id = $1 GROUP BY payload`, id)
	}
	refuse(1)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) VALUES (1, 'k', '{}')`)
	first := m.MustTake(t, 1, 1, 2) // not 3, and so not 4 either
	refuse(2)
	m.Finish(t, dbtest.SentAs(first, 7))
	refuse(3)
	if got := items(3); got != "1 2 3 and 0" {
		t.Errorf("before its turn it contains %s", got)
	}
	if m.Take(t, 1) != nil {
		t.Error("the notice is taken before its delay is over")
	}
	dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = now() WHERE id = 3`)
	next := m.Take(t, 1)
	if got := dbtest.IDs(next); len(got) == 0 || got[0] != 3 {
		t.Fatalf("took %v", got)
	}
	refuse(4)
	if got := dbtest.Value[string](t, m.Pool, `
		SELECT payload #>> '{items,0,number}' FROM outbox
		WHERE id > 4 AND kind = 'not_recorded'`); got != "4" || items(3) != "1 2 3 and 0" {
		t.Errorf("while it is being sent, the next one contains %s", got)
	}
}
