package pgranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestPeopleOf: those who are ranked in the group, in the order in which they came.
func TestPeopleOf(t *testing.T) {
	t.Parallel()
	mona := ranking.Person{Username: "mona", Name: "@mona"} // only mentioned
	w := newWorld(t, bob, carol, mona, alice)
	w.checkPeople(t)
	w.Play(t, "1", alice, mona)
	w.Play(t, "2", bob, mona)
	w.checkPeople(t, alice, mona, bob)
}

// TestPeopleOfDuringMerge: mona, who has just been merged into Carol, still has a standing.
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
