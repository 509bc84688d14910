package pgoutbox_test

import (
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// TestManyChatsWait measures how long the start takes when 10,000 notices wait in 1,000 chats.
func TestManyChatsWait(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `INSERT INTO chats (telegram_chat_id, kind) SELECT -1000 - n, 'group' FROM generate_series(1, 998) n`)
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload) SELECT 1 + n % 1000, 'k', '{"n": 1}' FROM generate_series(1, 10000) n`)
	measure := func(what string, f func()) {
		begun := time.Now()
		f()
		t.Logf("%s: %v", what, time.Since(begun))
	}
	var lanes []outbox.Lane
	measure("looking for what waits", func() {
		backlogs, err := m.Waiting(t.Context())
		if err != nil || len(backlogs) != 1_000 {
			t.Fatalf("%d lanes wait (%v)", len(backlogs), err)
		}
		for _, b := range backlogs[:32] {
			lanes = append(lanes, b.Lane)
		}
	})
	measure("looking for recent requests", func() {
		if requests, err := m.Recent(t.Context(), time.Minute); err != nil || len(requests) != 0 {
			t.Fatalf("%d requests (%v)", len(requests), err)
		}
	})
	measure("counting", func() {
		if s, err := m.Survey(t.Context(), 20); err != nil || s.Waiting != 10_000 {
			t.Fatalf("%d wait (%v)", s.Waiting, err)
		}
	})
	var results []outbox.Result
	measure("taking from 32 lanes", func() {
		for _, turn := range m.MustAdvance(t, dbtest.Bounds, nil, lanes...) {
			results = append(results, dbtest.SentAs(*turn.Message, 7))
		}
	})
	measure("finishing them", func() { m.Finish(t, results...) })
	if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`); n != 320 {
		t.Errorf("%d are sent", n)
	}
}

// TestVeryMuchWaitsInAChat measures how long the steps take that reduce 3,000 results in one chat to their number.
// Each step handles a bounded number, so that other chats need not wait.
func TestVeryMuchWaitsInAChat(t *testing.T) {
	t.Parallel()
	const all = 3_000
	m := newEmptyMail(t)
	dbtest.Exec(t, m.Pool, `
		INSERT INTO outbox (chat_id, kind, payload) SELECT 1, 'match_recorded', '{}' FROM generate_series(1, $1) n`, all)
	var results []outbox.Result
	took := make([]time.Duration, 0, 3)
	for range cap(took) {
		begun := time.Now()
		turn := m.MustAdvance(t, outbox.Bounds{Merge: 64, MaxWaiting: 1000}, results, dbtest.Chat(1))[0]
		took = append(took, time.Since(begun))
		if turn.Message == nil || turn.Message.Count != 500 || len(turn.Message.Items) != 5 || !turn.Message.More {
			t.Fatalf("took %+v", turn)
		}
		results = []outbox.Result{dbtest.SentAs(*turn.Message, 7)}
	}
	t.Logf("steps about 500 results each: %v", took)
	if n := dbtest.Value[int](t, m.Pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`); n != 500*(len(took)-1) {
		t.Errorf("%d are sent", n)
	}
}
