package pgranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
)

func TestReadNothingKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elsewhere := ranking.Chat{ID: -999, Kind: ranking.Group}
	got, err := w.Store.Read(t.Context(), ranking.Query{
		Key: "k", Chat: elsewhere, People: []ranking.Person{alice, {Username: "nobody"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ranking.Snapshot{People: []ranking.Known{{}, {}}}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadKnownChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.Read(t)
	want := ranking.Snapshot{
		ChatID: 1, Chat: club, Group: 1,
		Ladder: ranking.Ladder{ID: 1, StartElo: 1500, K: 32, DrawsAllowed: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dbtest.Exec(t, w.Pool, `INSERT INTO handled_commands VALUES ('unused')`)
	dbtest.Exec(t, w.Pool, `UPDATE ladders SET start_elo = 1000, k_factor = 24, draws_allowed = false`)
	dbtest.Exec(t, w.Pool, `INSERT INTO ladders (group_id, is_default, k_factor) VALUES (1, false, 99)`)
	want.Handled = true
	want.Ladder = ranking.Ladder{ID: 1, StartElo: 1000, K: 24}
	if diff := cmp.Diff(want, w.Read(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, zoe, ranking.Person{Username: "dave", Name: "dave"})
	a := &ranking.Player{ID: w.ID(t, "Alice"), UserID: 1, Username: "alice", Name: "Alice"}
	b := &ranking.Player{ID: w.ID(t, "Bob"), UserID: 2, Username: "bob", Name: "Bob"}
	z := &ranking.Player{ID: w.ID(t, "Zoe"), UserID: 26, Name: "Zoe"}
	d := &ranking.Player{ID: w.ID(t, "dave"), Username: "dave", Name: "dave"}
	for name, tc := range map[string]struct {
		person ranking.Person
		want   ranking.Known
	}{
		"seen":                               {alice, ranking.Known{ByID: a, ByUsername: a, Player: a}},
		"seen without username":              {zoe, ranking.Known{ByID: z, Player: z}},
		"named in other letters":             {ranking.Person{Username: "ALiCe"}, ranking.Known{ByUsername: a, Player: a}},
		"named, unclaimed":                   {ranking.Person{Username: "Dave"}, ranking.Known{ByUsername: d, Player: d}},
		"seen, to be claimed":                {ranking.Person{ID: 4, Username: "dave", Name: "Dave"}, ranking.Known{ByUsername: d, Player: d}},
		"seen, username is somebody else's":  {ranking.Person{ID: 5, Username: "bob", Name: "B"}, ranking.Known{ByUsername: b}},
		"known, username is somebody else's": {ranking.Person{ID: 1, Username: "bob", Name: "Alice"}, ranking.Known{ByID: a, ByUsername: b, Player: a}},
		"known, username is unclaimed":       {ranking.Person{ID: 1, Username: "dave", Name: "Alice"}, ranking.Known{ByID: a, ByUsername: d, Player: a}},
		"not known":                          {ranking.Person{ID: 6, Username: "eve", Name: "Eve"}, ranking.Known{}},
		"named, not known":                   {ranking.Person{Username: "eve"}, ranking.Known{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// with a neighbor on either side, so that a mix-up shows
			got := w.Read(t, bob, tc.person, zoe).People
			want := []ranking.Known{{ByID: b, ByUsername: b, Player: b}, tc.want, {ByID: z, Player: z}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, carol)
	w.Play(t, "1", alice, bob)
	w.Play(t, "2", alice, bob)
	got := w.Read(t, ranking.Person{Username: "BOB"}, alice, carol).People
	want := []*ranking.Standing{
		{
			ID: got[0].Standing.ID, Player: w.ID(t, "Bob"), Name: "Bob", Elo: 1468, StartElo: 1500, BestElo: 1500,
			Version: 2, Played: 2, Lost: 2, Streak: -2,
		},
		{
			ID: got[1].Standing.ID, Player: w.ID(t, "Alice"), Name: "Alice", Elo: 1532, StartElo: 1500, BestElo: 1532,
			Version: 2, Played: 2, Won: 2, Streak: 2,
		},
		nil,
	}
	for i := range want {
		if diff := cmp.Diff(want[i], got[i].Standing); diff != "" {
			t.Errorf("standing %d (-want +got):\n%s", i, diff)
		}
	}
	other := ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
	if err := w.Store.UpsertChatAndPlayers(t.Context(), other, nil); err != nil {
		t.Fatal(err)
	}
	snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: other, People: []ranking.Person{alice}})
	if err != nil {
		t.Fatal(err)
	}
	if k := snap.People[0]; k.Player == nil || k.Standing != nil {
		t.Errorf("in another group: %+v", snap)
	}
}

// TestReadNamesakes has three players called Alex in the ladder, who joined one after the other, and one who is not
// in it.
func TestReadNamesakes(t *testing.T) {
	t.Parallel()
	alex := func(id ranking.UserID, name string) ranking.Person { return ranking.Person{ID: id, Name: name} }
	people := []ranking.Person{alex(11, "Alex"), alex(12, "ALEX"), alex(13, "alex"), alex(14, "Alex")}
	w := newWorld(t, append(people, bob)...)
	for _, p := range people[:3] {
		w.Play(t, p.Name, p, bob)
	}
	snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: club, People: append(people, bob)})
	if err != nil {
		t.Fatal(err)
	}
	type counts struct{ Namesakes, Earlier int }
	var got []counts
	for _, k := range snap.People {
		got = append(got, counts{k.Namesakes, k.Earlier})
	}
	if diff := cmp.Diff([]counts{{2, 0}, {2, 1}, {2, 2}, {3, 3}, {0, 0}}, got); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	page, err := pgstats.NewStore(w.Pool, w.Pool).Ranking(t.Context(), club.ID, nil, 20)
	if err != nil {
		t.Fatal(err)
	}
	ranked := make(map[string]string)
	for _, r := range page.Rows {
		ranked[r.Name.Name] = r.Name.Mark
	}
	if diff := cmp.Diff(map[string]string{"Alex": "1", "ALEX": "2", "alex": "3", "Bob": ""}, ranked); diff != "" {
		t.Errorf("ranking (-want +got):\n%s", diff)
	}
}
