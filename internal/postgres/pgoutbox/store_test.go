package pgoutbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
)

func TestTake(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `
		UPDATE outbox SET key = 'm:-100:7', addressee = 'Alice', purpose = 'answer', failures = 2 WHERE id = 1`)
	dbtest.Exec(t, m.Pool, `UPDATE chats SET time_zone = 'Asia/Tokyo' WHERE id = 1`)
	m.MustWait(t, 1, 2)
	item := outbox.Item{
		ID: 1, Key: "m:-100:7", Kind: "a", Payload: []byte(`{"n": 1}`), Addressee: "Alice",
		ReplyTo: 7, Attempts: 1, Failures: 2,
	}
	want := outbox.Message{
		Lane: dbtest.Chat(1), ExternalChat: -100, Language: "en", TimeZone: "Asia/Tokyo", Thread: 8,
		Action: outbox.Send, Purpose: notice.Answer,
		Items: []outbox.Item{item}, Row: item, More: true,
	}
	dbtest.Equal(t, "turn", outbox.Turn{Lane: dbtest.Chat(1), Message: &want}, m.Turn(t, dbtest.Chat(1)))
	// Messages that were taken but not finished come again, as possible duplicates.
	item.Attempts, item.PossibleDuplicates, item.Repeated = 2, 1, true
	want.Items, want.Row = []outbox.Item{item}, item
	dbtest.Equal(t, "again", &want, m.Take(t, 1))
	m.MustWait(t, 1, 2)
	two := []outbox.Item{
		{ID: 2, Kind: "b", Payload: []byte(`{"n": 2}`), Attempts: 1}, {ID: 4, Kind: "d", Payload: []byte(`{"n": 4}`), Attempts: 1},
	}
	private := &outbox.Message{
		Lane: dbtest.Chat(2), ExternalChat: 5, Private: true, Language: "en", TimeZone: "UTC",
		Action: outbox.Send, Purpose: notice.Outcome,
		Items: two, Row: two[0],
	}
	dbtest.Equal(t, "private", private, m.Take(t, 2))
	m.Finish(t, dbtest.SentAs(m.MustTake(t, 1, 1), 101))
	last := m.MustTake(t, 1, 3)
	if last.More {
		t.Error("More is set for the last one")
	}
	m.Finish(t, dbtest.SentAs(last, 103))
	if got := m.Row(t, 3); got != "sent attempts 1 duplicates 0 message 103 error  finished true" {
		t.Errorf("notice 3 is %s", got)
	}
	m.MustWait(t, 2)
	for _, lane := range []outbox.Lane{dbtest.Chat(1), dbtest.Chat(99), dbtest.Answers(1), dbtest.Answers(2)} {
		dbtest.Equal(t, "empty lanes", outbox.Turn{Lane: lane}, m.Turn(t, lane))
	}
}

// TestAdvanceInOneGo checks that one call of Advance records two results and takes the next
// messages of the same lanes and of others.
func TestAdvanceInOneGo(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, action, callback_query_id)
		VALUES (1, 'e', '{}', 'callback_answer', 'press')`)
	taken := m.MustAdvance(t, outbox.Bounds{Merge: 1, MaxWaiting: 9}, nil, dbtest.Chat(2), dbtest.Chat(1))
	if diff := cmp.Diff([][]int64{{2}, {1}},
		[][]int64{dbtest.IDs(taken[0].Message), dbtest.IDs(taken[1].Message)}); diff != "" {
		t.Fatalf("first (-want +got):\n%s", diff)
	}
	results := []outbox.Result{dbtest.SentAs(*taken[0].Message, 52), dbtest.Failed(*taken[1].Message, outbox.Rejected)}
	turns := m.MustAdvance(t, dbtest.Bounds, results,
		dbtest.Chat(99), dbtest.Chat(1), dbtest.Answers(2), dbtest.Answers(1), dbtest.Chat(2))
	var got [][]int64
	for _, turn := range turns {
		got = append(got, dbtest.IDs(turn.Message))
	}
	dbtest.Equal(t, "second", [][]int64{nil, {3}, nil, {5}, {4}}, got)
	if answer := turns[3].Message; answer.Action != outbox.CallbackAnswer || answer.Row.Button != "press" ||
		answer.ExternalChat != -100 || answer.Lane != dbtest.Answers(1) {
		t.Errorf("the callback answer is %+v", answer)
	}
	m.MustHaveRows(t, `state`, "1 dead", "2 sent", "3 sending", "4 sending", "5 sending")
	if turns, err := m.Advance(t.Context(), 1, nil, nil, dbtest.Bounds); len(turns) != 0 || err != nil {
		t.Errorf("without lanes: %v, %v", turns, err)
	}
}

// TestOutboxRoundTrips checks that Advance, Waiting, Recent and Survey take one round trip each,
// however much Advance has to record and take.
func TestOutboxRoundTrips(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	p := dbtest.NewProxy(t, m.Pool.Config().ConnString())
	queue := pgoutbox.NewStore(dbtest.Open(t, p.URL, func(c *pgxpool.Config) {
		c.MaxConns = 1
		// On a slow machine, pgx would ping idle connections, which is a round trip too.
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	}))
	lanes := []outbox.Lane{dbtest.Chat(1), dbtest.Chat(2), dbtest.Answers(1)}
	var results []outbox.Result
	for _, kind := range []outbox.FailureKind{outbox.RateLimited, outbox.Forbidden, outbox.Rejected} {
		results = append(results, dbtest.Failed(outbox.Message{Lane: dbtest.Chat(99), Action: outbox.Send}, kind))
	}
	for _, action := range []outbox.Action{outbox.Send, outbox.Edit, outbox.Ensure} {
		results = append(results, dbtest.SentAs(outbox.Message{Lane: dbtest.Chat(99), Action: action, Target: 7}, 7))
	}
	for name, ask := range map[string]func() error{
		"advance": func() error {
			_, err := queue.Advance(t.Context(), 1, results, lanes, dbtest.Bounds)
			return err
		},
		"waiting": func() error {
			_, err := queue.Waiting(t.Context(), dbtest.Bounds)
			return err
		},
		"recent": func() error {
			_, err := queue.Recent(t.Context(), time.Hour)
			return err
		},
		"survey": func() error {
			_, err := queue.Survey(t.Context(), 20)
			return err
		},
	} {
		before := int64(0)
		for range 2 { // the first time prepares the statements
			before = p.Syncs.Load()
			if err := ask(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := p.Syncs.Load() - before; got != 1 {
			t.Errorf("%s takes %d round trips", name, got)
		}
	}
}

// TestLeaseLost checks that, after the lease is lost, Advance neither records nor takes anything.
// An expired lease that no other instance has taken is not lost.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	taken := m.MustTake(t, 1, 1)
	all := func() []string {
		return dbtest.Values[string](t, m.Pool, `SELECT o::text FROM outbox o UNION ALL SELECT c::text FROM chats c
			UNION ALL SELECT d::text FROM dead_letters d UNION ALL SELECT l::text FROM leases l ORDER BY 1`)
	}
	for name, sql := range map[string]string{
		"taken over": `UPDATE leases SET epoch = 2`, "another one": `UPDATE leases SET name = 'other'`, "none": `DELETE FROM leases`,
	} {
		dbtest.Exec(t, m.Pool, sql)
		before := all()
		for _, r := range []outbox.Result{
			dbtest.SentAs(taken, 7), dbtest.Failed(taken, outbox.Rejected), dbtest.Failed(taken, outbox.RateLimited),
		} {
			turns, err := m.Advance(t.Context(), 1,
				[]outbox.Result{r}, []outbox.Lane{dbtest.Chat(1), dbtest.Chat(2)}, dbtest.Bounds)
			if !errors.Is(err, outbox.ErrLeaseLost) || turns != nil {
				t.Errorf("%s: %v, %v", name, turns, err)
			}
		}
		dbtest.Equal(t, name+": something was changed", before, all())
	}
	dbtest.Exec(t, m.Pool, dbtest.TheLease)
	dbtest.Exec(t, m.Pool, `UPDATE leases SET expires_at = now() - interval '1 hour'`)
	m.Finish(t, dbtest.SentAs(taken, 7))
	dbtest.Exec(t, m.Pool, `ALTER TABLE outbox RENAME TO somewhere_else`)
	if _, err := m.Advance(t.Context(), 1, nil, []outbox.Lane{dbtest.Chat(1)}, dbtest.Bounds); err == nil ||
		errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("for another reason: %v", err)
	}
}
