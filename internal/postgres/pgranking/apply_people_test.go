package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestReserved reads people of whom some are needed and unknown.
func TestReserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	people := []ranking.Person{
		carol, alice, {Username: "BOB"}, {Username: "dave"}, {ID: 5, Username: "bob", Name: "Eve"}, zoe,
	}
	read := func() (ids []ranking.PlayerID) {
		snap, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, People: people, ReserveFirst: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range snap.People {
			ids = append(ids, k.Reserved)
		}
		return ids
	}
	// Alice and Bob are 1 and 2; the people seen now are not those who had their usernames
	for _, want := range [][]ranking.PlayerID{{3, 0, 0, 4, 5, 0}, {6, 0, 0, 7, 8, 0}} {
		if diff := cmp.Diff(want, read()); diff != "" {
			t.Errorf("reserved ids (-want +got):\n%s", diff)
		}
	}
}

// TestApplyPeople stores a new player and a changed name with a match, or nothing at all.
func TestApplyPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	snap, err := w.Store.Read(t.Context(), ranking.Query{Chat: club, People: []ranking.Person{alice, carol}, ReserveFirst: 2})
	if err != nil {
		t.Fatal(err)
	}
	known, added := snap.People[0], &snap.People[1]
	al := ranking.PlayerChange{Player: *known.Player, Standing: known.Standing.ID}
	al.Player.Name = "Al"
	newcomer := dbtest.AsNew(carol)
	newcomer.Reserved = added.Reserved
	added.Player = &ranking.Player{ID: added.Reserved, UserID: carol.ID, Username: carol.Username, Name: carol.Name}
	before := w.Contents(t)
	for name, tc := range map[string]struct {
		key    string
		people []ranking.PlayerChange
		want   error
	}{
		"handled":         {"1", []ranking.PlayerChange{newcomer, al}, ranking.ErrHandled},
		"is there by now": {"2", []ranking.PlayerChange{newcomer, al, dbtest.AsNew(bob)}, ranking.ErrConflict},
	} {
		c := dbtest.Match(snap, tc.key)
		c.People = tc.people
		if err := w.Store.Apply(t.Context(), c); !errors.Is(err, tc.want) {
			t.Errorf("%s: error is %v, want %v", name, err, tc.want)
		}
		if diff := cmp.Diff(before, w.Contents(t)); diff != "" {
			t.Errorf("%s: something is kept (-before +after):\n%s", name, diff)
		}
	}
	c := dbtest.Match(snap, "2")
	c.People = []ranking.PlayerChange{newcomer, al}
	if err := w.Store.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 @alice Al", "2 @bob Bob", "3 @carol Carol"}, w.known(t)); diff != "" {
		t.Errorf("players (-want +got):\n%s", diff)
	}
	ladder := dbtest.Values[string](t, w.Pool, `SELECT player_id || ' ' || name || ' ' || elo FROM group_players ORDER BY id`)
	if diff := cmp.Diff([]string{"1 Al 1532", "2 Bob 1484", "3 Carol 1484"}, ladder); diff != "" {
		t.Errorf("standings (-want +got):\n%s", diff)
	}
}

// TestApplyPeopleLockOrder records a match with new names of its players.
func TestApplyPeopleLockOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	al, bobby := alice, bob
	al.Name, bobby.Name = "Al", "Bobby"
	command := func() error {
		return dbtest.Service(w.Store).RecordMatch(t.Context(), dbtest.By("2", carol), dbtest.Singles(bobby, al, won))
	}
	w.mustLockInOrder(t, command, group(club), player("Alice"), standing("Alice"), player("Bob"), standing("Bob"))
}

// TestMeetAtOnce lets two instances look up an unknown person before either records a match of that person.
func TestMeetAtOnce(t *testing.T) {
	t.Parallel()
	seen, named := ranking.Person{ID: 71, Username: "new", Name: "New"}, ranking.Person{Username: "NEW"}
	for name, tc := range map[string]struct {
		chats [2]ranking.Chat
		as    [2]ranking.Person
		want  string
	}{
		"seen in one group":      {[2]ranking.Chat{club, club}, [2]ranking.Person{seen, seen}, "71 @new New"},
		"seen in two groups":     {[2]ranking.Chat{club, annex}, [2]ranking.Person{seen, seen}, "71 @new New"},
		"named in one group":     {[2]ranking.Chat{club, club}, [2]ranking.Person{named, named}, "0 @NEW NEW"},
		"named in two groups":    {[2]ranking.Chat{club, annex}, [2]ranking.Person{named, named}, "0 @NEW NEW"},
		"seen in one, named too": {[2]ranking.Chat{club, annex}, [2]ranking.Person{seen, named}, "71 @new New"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			if err := w.Store.UpsertChatAndPlayers(t.Context(), annex, nil); err != nil {
				t.Fatal(err)
			}
			var looking sync.WaitGroup
			var conflicts atomic.Int64
			looking.Add(2)
			results := make(chan error, 2)
			for i := range 2 {
				s := dbtest.Service(&together{Store: w.Store, looking: &looking, conflicts: &conflicts})
				go func() {
					results <- s.RecordMatch(t.Context(), in(tc.chats[i], fmt.Sprint(i), alice), dbtest.Singles(alice, tc.as[i], won))
				}()
			}
			for range 2 {
				if err := dbtest.Receive(t, results); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff([]string{"1 @alice Alice", "2 @bob Bob", tc.want}, w.known(t)); diff != "" {
				t.Errorf("players (-want +got):\n%s", diff)
			}
			played := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM match_players mp JOIN players p ON p.id = mp.player_id
				WHERE lower(p.username) = 'new'`)
			if played != 2 || conflicts.Load() != 1 {
				t.Errorf("the player has %d matches, after %d conflicts", played, conflicts.Load())
			}
		})
	}
}

var won = ranking.Score{A: 3, B: 1}

// together is a store whose first Read returns when the first Reads of all others have.
type together struct {
	ranking.Store
	once      sync.Once
	looking   *sync.WaitGroup
	conflicts *atomic.Int64
}

func (s *together) Read(ctx context.Context, q ranking.Query) (ranking.Snapshot, error) {
	snap, err := s.Store.Read(ctx, q)
	s.once.Do(func() {
		s.looking.Done()
		s.looking.Wait()
	})
	return snap, err
}

func (s *together) Apply(ctx context.Context, c ranking.Changes) error {
	err := s.Store.Apply(ctx, c)
	if errors.Is(err, ranking.ErrConflict) {
		s.conflicts.Add(1)
	}
	return err
}
