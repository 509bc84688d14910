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
		backlogs, err := m.Waiting(t.Context(), dbtest.Bounds)
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

// TestVeryMuchWaitsInAChat measures how long the steps take that summarise 3,000 results in one chat. Each step handles a bounded
// number, so that other chats need not wait.
func TestVeryMuchWaitsInAChat(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 3_000)
	for _, want := range []int{1000, 999, 999, 2} {
		begun := time.Now()
		s := m.MustSummarise(t, outbox.Bounds{MaxWaiting: 1}, dbtest.Chat(1))
		t.Logf("a step of %d results: %v", s.Dropped, time.Since(begun))
		if s.Dropped != want {
			t.Errorf("%d results were summarised, want %d", s.Dropped, want)
		}
	}
}
