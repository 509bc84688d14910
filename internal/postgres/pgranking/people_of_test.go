package pgranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// Alice, mona and Bob have consecutive accounts, with that of Carol between them, who does not play in the group. Then the account of
// somebody who plays is added after many others.
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

// The standings are read while mona still has one, the accounts after she has been merged into Carol.
func TestPeopleOfDuringMerge(t *testing.T) {
	t.Parallel()
	mona := ranking.Person{Username: "mona", Name: "@mona"}
	w := newWorld(t, alice, carol, mona)
	w.Play(t, "1", alice, mona)
	dbtest.Exec(t, w.Pool, `
		UPDATE players SET username = NULL, group_id = NULL, merged_into = (SELECT id FROM players WHERE username = 'carol')
		WHERE username = 'mona'`)
	w.checkPeople(t, alice, ranking.Person{ID: carol.ID, Username: carol.Username, Name: mona.Name})
}

// checkPeople fails the test if the people of the club are others than these.
func (w *world) checkPeople(t *testing.T, want ...ranking.Person) {
	t.Helper()
	for i, p := range want {
		want[i].Player = ranking.PlayerID(dbtest.Value[int64](t, w.Pool, "SELECT id FROM players WHERE display_name = $1", p.Name))
	}
	got, err := w.Store.PeopleOf(t.Context(), club.ID)
	dbtest.Must(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
