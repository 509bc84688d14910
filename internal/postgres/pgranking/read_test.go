package pgranking_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func TestReadNothingKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elsewhere := ranking.Chat{ID: -999, Kind: ranking.Group}
	got, err := w.Store.Read(t.Context(), ranking.Query{
		Key: "k", Chat: elsewhere, KnownChat: true,
		Needs: ranking.Needs{People: []command.Person{alice, {Username: "nobody"}}},
	})
	dbtest.Must(t, err)
	dbtest.Equal(t, "snapshot", &ranking.Snapshot{Whom: ranking.Whom{People: []ranking.Known{{}, {}}}},
		got, cmpopts.EquateEmpty())
}

// TestReadNewPeople checks that each unknown person among the first Needs.New people of a query
// gets an id.
func TestReadNewPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, command.Person{Username: "dave", Name: "dave"})
	people := []command.Person{carol, alice, {Username: "Eve"}, {Username: "DAVE"}, {ID: 7, Name: "Seven"}, bob}
	snap, err := w.Store.Read(t.Context(), ranking.Query{
		Chat: club, Needs: ranking.Needs{People: people, New: 4}, Shown: []command.Person{{ID: 8, Name: "Eight"}},
	})
	dbtest.Must(t, err)
	var got []string
	ids := make(map[ladder.PlayerID]bool)
	for _, k := range slices.Concat(snap.People, snap.Shown) {
		if k.Player == nil {
			got = append(got, "nobody")
			continue
		}
		ids[k.Player.ID] = true
		got = append(got, fmt.Sprintf("%d @%s %s %t", k.Player.UserID, k.Player.Username, k.Player.Name, k.New))
	}
	want := []string{
		"3 @carol Carol true", "1 @alice Alice false", "0 @Eve Eve true", "0 @dave dave false", "nobody", "nobody", "nobody",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != 4 {
		t.Errorf("%d players (-want +got):\n%s", len(ids), diff)
	}
}

// TestReadGivenUpUsername checks that a mention of a username does not mean the account last seen
// with it if the same message shows that account with another username. The mention does mean the
// account if the message is older than the sighting or of unknown age, or if the other username
// comes from an earlier message or from the store.
func TestReadGivenUpUsername(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice)
	id, shown := w.ID(t, "Alice"), command.Person{ID: alice.ID, Username: "al", Name: "Alice"}
	earlier, stored := shown, shown
	earlier.Earlier, stored.Player = true, id
	for name, tc := range map[string]struct {
		sentAt time.Time
		shown  command.Person
		want   ladder.PlayerID
	}{
		"now":                {time.Now(), shown, 0},
		"before":             {time.Unix(1, 0), shown, id},
		"retried":            {time.Time{}, shown, id},
		"an earlier message": {time.Now(), earlier, id},
		"the store":          {time.Now(), stored, id},
	} {
		people := ranking.Needs{People: []command.Person{{Username: "Alice"}, tc.shown}}
		snap, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, SentAt: tc.sentAt, Needs: people})
		dbtest.Must(t, err)
		var got ladder.PlayerID
		if p := snap.People[0].ByUsername; p != nil {
			got = p.ID
		}
		if got != tc.want {
			t.Errorf("%s: the username means player %d, want %d", name, got, tc.want)
		}
	}
}

func TestReadKnownChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.Read(t)
	first := ranking.Ladder{ID: 1, Season: ranking.Season{ID: 1, Number: 1}, Rules: ranking.Rules{
		Start: 1500, PlaceMatches: 3, HideDays: 60, DrawsAllowed: true, RatingRules: ladder.RatingRules{K: 32},
	}}
	want := &ranking.Snapshot{Here: ranking.Here{
		ChatID: 1, Chat: club, Group: 1, Display: ranking.DefaultDisplay(), Ladder: first, Season: 1,
		Ladders: []ranking.GroupLadder{{Ladder: first, Default: true}},
	}}
	dbtest.Equal(t, "snapshot", want, got)
	dbtest.Exec(t, w.Pool, `INSERT INTO handled_commands VALUES ('unused')`)
	dbtest.Exec(t, w.Pool, `UPDATE ladders 
		SET start_elo = 1000, place_matches = 10, hide_days = 0, k_factor = 24,
		    draws_allowed = false, uneven_teams_allowed = true,
		    provisional_k_factor = 48, provisional_matches = 5, margin_of_victory = true`)
	dbtest.Exec(t, w.Pool, dbtest.PadelLadders("true")+`
		UPDATE ladders SET k_factor = 99, archived_at = now() WHERE name = 'padel'`)
	second := first
	second.ID, second.Season.ID, second.K, second.Name, second.Archived = 2, 2, 99, "padel", true
	first = ranking.Ladder{ID: 1, Season: ranking.Season{ID: 1, Number: 1}, Rules: ranking.Rules{
		Start: 1000, PlaceMatches: 10, UnevenTeamsAllowed: true,
		RatingRules: ladder.RatingRules{K: 24, Provisional: ladder.Provisional{K: 48, Matches: 5}, Margin: true},
	}}
	want.Handled, want.Ladder, want.Ladders = true, first,
		[]ranking.GroupLadder{{Ladder: first, Default: true}, {Ladder: second}}
	dbtest.Equal(t, "snapshot", want, w.Read(t))
}

// TestReadOfAnEdit checks that an edit counts as handled if it was handled before, or if its
// message was answered. A refusal of its message is not enough.
func TestReadOfAnEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO handled_commands (key, outcome)
		VALUES ('e', 'refused'), ('refused', 'refused'), ('answered', 'answered')`)
	for _, tc := range []struct {
		key, message string
		want         bool
	}{
		{"new", "", false}, {"new", "new", false}, {"new", "refused", false}, {"new", "answered", true}, {"e", "refused", true}, {"e", "new", true},
	} {
		snap, err := w.Store.Read(t.Context(), ranking.Query{Key: tc.key, Message: tc.message, Chat: club})
		if err != nil || snap.Handled != tc.want {
			t.Errorf("edit %q of %q: handled is %t, error %v", tc.key, tc.message, snap.Handled, err)
		}
	}
}

func TestReadPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, zoe, command.Person{Username: "dave", Name: "dave"})
	a := &ranking.Player{ID: w.ID(t, "Alice"), UserID: 1, Username: "alice", Name: "Alice"}
	b := &ranking.Player{ID: w.ID(t, "Bob"), UserID: 2, Username: "bob", Name: "Bob"}
	z := &ranking.Player{ID: w.ID(t, "Zoe"), UserID: 26, Name: "Zoe"}
	d := &ranking.Player{ID: w.ID(t, "dave"), Username: "dave", Name: "dave"}
	seen := func(username string) *ranking.Sighting {
		return &ranking.Sighting{Username: username, At: dbtest.AsNew(alice).Sighting.At}
	}
	for name, tc := range map[string]struct {
		person command.Person
		want   ranking.Known
	}{
		"seen":                               {alice, ranking.Known{ByID: a, Player: a, Sighting: seen("alice")}},
		"seen without username":              {zoe, ranking.Known{ByID: z, Player: z, Sighting: seen("")}},
		"named in other letters":             {command.Person{Username: "ALiCe"}, ranking.Known{ByUsername: a, Player: a}},
		"named, unclaimed":                   {command.Person{Username: "Dave"}, ranking.Known{Unclaimed: d, Player: d, Gone: true}},
		"seen, to be claimed":                {command.Person{ID: 4, Username: "dave", Name: "Dave"}, ranking.Known{Unclaimed: d, Player: d, Claimed: true}},
		"seen, username is somebody else's":  {command.Person{ID: 5, Username: "bob", Name: "B"}, ranking.Known{}},
		"known, username is somebody else's": {command.Person{ID: 1, Username: "bob", Name: "Alice"}, ranking.Known{ByID: a, Player: a, Sighting: seen("alice")}},
		"known, username is unclaimed":       {command.Person{ID: 1, Username: "dave", Name: "Alice"}, ranking.Known{ByID: a, Unclaimed: d, Player: a, Sighting: seen("alice")}},
		"not known":                          {command.Person{ID: 6, Username: "eve", Name: "Eve"}, ranking.Known{}},
		"named, not known":                   {command.Person{Username: "eve"}, ranking.Known{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The person is read between two others, so that the test detects mixed-up rows.
			got := w.Read(t, bob, tc.person, zoe).People
			want := []ranking.Known{
				{ByID: b, Player: b, Sighting: seen("bob")}, tc.want, {ByID: z, Player: z, Sighting: seen("")},
			}
			dbtest.Equal(t, "snapshot", want, got)
		})
	}
}

func TestReadStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, carol)
	w.Play(t, "1", alice, bob)
	w.Play(t, "2", alice, bob)
	got := w.Read(t, command.Person{Username: "BOB"}, alice, carol).People
	want := []*ladder.Standing{
		{
			ID: got[0].Standing.ID, Player: w.ID(t, "Bob"), Name: "Bob", Elo: 1468, StartElo: 1500, BestElo: 1500,
			Version: 2, Counters: ladder.Counters{Played: 2, Lost: 2}, Streak: -2, LastPlayed: time.Unix(1_700_000_000, 0),
		},
		{
			ID: got[1].Standing.ID, Player: w.ID(t, "Alice"), Name: "Alice", Elo: 1532, StartElo: 1500, BestElo: 1532,
			Version: 2, Counters: ladder.Counters{Played: 2, Won: 2},
			Streak: 2, Longest: 2, LastPlayed: time.Unix(1_700_000_000, 0),
		},
		nil,
	}
	for i := range want {
		dbtest.Equal(t, fmt.Sprintf("standing %d", i), want[i], got[i].Standing)
	}
	other := ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, other, nil))
	snap, err := w.Store.Read(t.Context(), ranking.Query{
		Key: "k", Chat: other, Needs: ranking.Needs{People: []command.Person{alice}},
	})
	dbtest.Must(t, err)
	if k := snap.People[0]; k.Player == nil || k.Standing != nil {
		t.Errorf("in another group: %+v", snap)
	}
}

// TestReadElsewhere checks that a username means no account in a group where no account was seen
// with that username, and an unclaimed player exists only in the group of the mention.
func TestReadElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, command.Person{Username: "dave", Name: "dave"})
	for name, chat := range map[string]ranking.Chat{"another group": annex, "private": {ID: 1, Kind: ranking.Private}} {
		dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, chat, nil))
		people := []command.Person{{Username: "alice"}, {Username: "dave"}, {ID: 4, Username: "dave", Name: "Dave"}, alice}
		snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: chat, Needs: ranking.Needs{People: people}})
		dbtest.Must(t, err)
		a := &ranking.Player{ID: w.ID(t, "Alice"), UserID: 1, Username: "alice", Name: "Alice"}
		dbtest.Equal(t, name, []ranking.Known{{}, {}, {}, {ByID: a, Player: a}}, snap.People)
	}
}
