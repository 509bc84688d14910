package pgranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestPeopleOf reads a group in which nobody plays, one whose players have been added one after the other, with one among them who
// does not play in the group, and one with a player who has been added after many strangers.
func TestPeopleOf(t *testing.T) {
	t.Parallel()
	mona := ranking.Person{Username: "mona", Name: "@mona"} // only mentioned
	w := newWorld(t, bob, carol, mona, alice)
	w.checkPeople(t)
	w.Play(t, "1", alice, mona)
	w.Play(t, "2", bob, mona)
	w.checkPeople(t, alice, mona, bob)

	dbtest.Exec(t, w.Pool, `INSERT INTO players (telegram_user_id, display_name) SELECT n, 'Stranger' FROM generate_series(1000, 1099) AS n`)
	w.Upsert(t, dbtest.AsNew(zoe))
	w.Play(t, "3", zoe, mona)
	w.checkPeople(t, alice, mona, bob, zoe)
}

// checkPeople fails the test if the people of the club are others than these.
func (w *world) checkPeople(t *testing.T, want ...ranking.Person) {
	t.Helper()
	for i, p := range want {
		want[i].Player = ranking.PlayerID(dbtest.Value[int64](t, w.Pool, "SELECT id FROM players WHERE display_name = $1", p.Name))
	}
	got, err := w.Store.PeopleOf(t.Context(), club.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
