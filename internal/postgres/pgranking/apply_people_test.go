package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestMeetAtOnce checks that when two instances look up an unknown person before either records a
// match with that person, an account is added once, and an unclaimed player once in each group. If
// one instance sees the account in the group where the other reads its username, only the account
// remains.
func TestMeetAtOnce(t *testing.T) {
	t.Parallel()
	seen, named := command.Person{ID: 71, Username: "new", Name: "New"}, command.Person{Username: "NEW"}
	for name, tc := range map[string]struct {
		chats     [2]ranking.Chat
		as        [2]command.Person
		want      []string
		conflicts int64
	}{
		"seen in one group":         {[2]ranking.Chat{club, club}, [2]command.Person{seen, seen}, []string{"71 @new New: 2"}, 1},
		"seen in two groups":        {[2]ranking.Chat{club, annex}, [2]command.Person{seen, seen}, []string{"71 @new New: 2"}, 1},
		"named in one group":        {[2]ranking.Chat{club, club}, [2]command.Person{named, named}, []string{"0 @NEW NEW: 2"}, 1},
		"named in two groups":       {[2]ranking.Chat{club, annex}, [2]command.Person{named, named}, []string{"0 @NEW NEW: 1", "0 @NEW NEW: 1"}, 0},
		"seen here, named there":    {[2]ranking.Chat{club, annex}, [2]command.Person{seen, named}, []string{"0 @NEW NEW: 1", "71 @new New: 1"}, 0},
		"seen and named in a group": {[2]ranking.Chat{club, club}, [2]command.Person{seen, named}, []string{"71 @new New: 2"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, annex, nil))
			var looking sync.WaitGroup
			var conflicts atomic.Int64
			looking.Add(2)
			results := make(chan error, 2)
			for i := range 2 {
				store := pgranking.NewStore(w.Pool, dbtest.Ignore)
				s := dbtest.Service(&together{Store: store, looking: &looking, conflicts: &conflicts})
				go func() {
					results <- s.Do(t.Context(), in(tc.chats[i], fmt.Sprint(i), alice),
						dbtest.Reported(dbtest.Singles(alice, tc.as[i], won)))
				}()
			}
			for range 2 {
				if err := dbtest.Receive(t, results); err != nil {
					t.Error(err)
				}
			}
			got := dbtest.Values[string](t, w.Pool, `
				SELECT concat(coalesce(p.telegram_user_id, 0), ' @', p.username, ' ', p.display_name, ': ', count(*))
				FROM match_players mp JOIN players p ON p.id = mp.player_id WHERE p.id > 2 GROUP BY p.id ORDER BY 1`)
			if diff := cmp.Diff(tc.want, got); diff != "" || conflicts.Load() != tc.conflicts {
				t.Errorf("players and their matches, after %d conflicts (-want +got):\n%s", conflicts.Load(), diff)
			}
		})
	}
}

var won = ladder.Score{A: 3, B: 1}

// together is a store whose first Read returns only after the other stores have read too. It counts
// conflicts.
type together struct {
	ranking.Store
	once      sync.Once
	looking   *sync.WaitGroup
	conflicts *atomic.Int64
}

func (s *together) Read(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
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
