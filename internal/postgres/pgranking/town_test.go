package pgranking_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// town is a world of several groups, in each of which Alice and Bob have played one match.
type town struct {
	*world
	chats []ranking.Chat
}

func newTown(t *testing.T, groups int) *town {
	t.Helper()
	town := &town{world: newWorld(t, alice, bob)}
	for i := range groups {
		chat := ranking.Chat{ID: ranking.ExternalChatID(-1000 - i), Kind: ranking.Group, Title: fmt.Sprint("Club ", i)}
		town.chats = append(town.chats, chat)
		dbtest.Must(t, dbtest.Upsert(t.Context(), town.Store, chat, nil))
		dbtest.Must(t, town.Store.Apply(t.Context(), town.match(t, i, fmt.Sprint("first ", i))))
	}
	town.Wakes.Store(0)
	return town
}

// match returns the changes by which Alice beats Bob in a group.
func (w *town) match(t *testing.T, group int, key string) ranking.Changes {
	t.Helper()
	snap, err := w.Store.Read(t.Context(), ranking.Query{
		Key: key, Chat: w.chats[group], Needs: ranking.Needs{People: []command.Person{alice, bob}},
	})
	dbtest.Must(t, err)
	return dbtest.Match(snap, key)
}

// matchEach returns the changes by which Alice beats Bob in each group, with the keys k0, k1 and so
// on.
func (w *town) matchEach(t *testing.T) (all []ranking.Changes) {
	t.Helper()
	for i := range w.chats {
		all = append(all, w.match(t, i, fmt.Sprint("k", i)))
	}
	return all
}

// gather applies changes that have to wait for a slot. Once all of them wait, it frees a slot and
// returns the channels of their outcomes.
func (w *town) gather(t *testing.T, store *pgranking.Store, all ...ranking.Changes) []<-chan error {
	t.Helper()
	resume := store.HoldResults()
	results := make([]<-chan error, len(all))
	for i, c := range all {
		results[i] = dbtest.Start(func() error { return store.Apply(t.Context(), c) })
		w.awaitWaiting(t, store, i+1)
	}
	resume()
	return results
}

func (w *town) awaitWaiting(t *testing.T, store *pgranking.Store, n int) {
	t.Helper()
	deadline := time.After(dbtest.MaxWait)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for store.WaitingResults() != n {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d results wait, want %d", store.WaitingResults(), n)
		}
	}
}

// mustRecord checks which matches were recorded after newTown. Each element of want has the keys of
// the matches of one transaction, in order.
func (w *town) mustRecord(t *testing.T, want ...string) {
	t.Helper()
	w.mustYield(t, `
		SELECT string_agg(idempotency_key, ' ' ORDER BY idempotency_key) FROM matches
		WHERE idempotency_key NOT LIKE 'first %' GROUP BY xmin::text ORDER BY 1`, want...)
}

// mustReceive receives the outcomes of results, and compares them with want. Outcomes for which
// want has no element must be nil.
func mustReceive(t *testing.T, results []<-chan error, want ...error) {
	t.Helper()
	for i, r := range results {
		var target error
		if i < len(want) {
			target = want[i]
		}
		if err := dbtest.Receive(t, r); !errors.Is(err, target) {
			t.Errorf("result %d: %v, want %v", i, err, target)
		}
	}
}
