package pgranking_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestEverybody checks that a read with Needs.Everybody returns the people who have a standing in
// the group, with their former usernames.
func TestEverybody(t *testing.T) {
	t.Parallel()
	mona := command.Person{Username: "mona", Name: "@mona"} // only mentioned
	w := newWorld(t, bob, carol, mona, alice)
	w.checkPeople(t)
	w.Play(t, "1", alice, mona)
	w.Play(t, "2", bob, mona)
	w.checkPeople(t, alice, mona, bob)
	dbtest.Exec(t, w.Pool, `UPDATE sightings SET former = '{al,ally}' WHERE username = 'alice'`)
	renamed := alice
	renamed.Former = "al ally"
	w.checkPeople(t, renamed, mona, bob)
}

// TestEverybodyDuringMerge checks that a merged player who still has a standing counts as the
// player who remains.
func TestEverybodyDuringMerge(t *testing.T) {
	t.Parallel()
	mona := command.Person{Username: "mona", Name: "@mona"}
	w := newWorld(t, alice, carol, mona)
	w.Play(t, "1", alice, mona)
	dbtest.Exec(t, w.Pool, `
		UPDATE players SET username = NULL, group_id = NULL, merged_into = (SELECT id FROM players WHERE username = 'carol')
		WHERE username = 'mona'`)
	w.checkPeople(t, alice,
		command.Person{ID: carol.ID, Username: carol.Username, Name: mona.Name, Player: w.ID(t, "Carol")})
}

// checkPeople checks that the club's people are exactly want.
func (w *world) checkPeople(t *testing.T, want ...command.Person) {
	t.Helper()
	for i, p := range want {
		if p.Player != 0 {
			continue
		}
		want[i].Player = ladder.PlayerID(
			dbtest.Value[int64](t, w.Pool, "SELECT id FROM players WHERE display_name = $1", p.Name))
	}
	all, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, Needs: ranking.Needs{Everybody: true}})
	dbtest.Must(t, err)
	byPlayer := func(a, b command.Person) int { return int(a.Player - b.Player) }
	slices.SortFunc(want, byPlayer)
	var got []command.Person
	for _, k := range all.Everybody {
		got = append(got, command.Person{
			ID: k.Player.UserID, Username: k.Player.Username, Name: k.Player.Name, Player: k.Player.ID, Former: k.Former,
		})
	}
	slices.SortFunc(got, byPlayer)
	dbtest.Equal(t, "people", want, got, cmpopts.EquateEmpty())
}
