package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestMeetAtOnce lets two instances look up an unknown person before either records a match of that person.
func TestMeetAtOnce(t *testing.T) {
	t.Parallel()
	seen, named := ranking.Person{ID: 71, Username: "new", Name: "New"}, ranking.Person{Username: "NEW"}
	for name, tc := range map[string]struct {
		chats     [2]ranking.Chat
		as        [2]ranking.Person
		want      []string
		conflicts int64
	}{
		"seen in one group":         {[2]ranking.Chat{club, club}, [2]ranking.Person{seen, seen}, []string{"71 @new New: 2"}, 1},
		"seen in two groups":        {[2]ranking.Chat{club, annex}, [2]ranking.Person{seen, seen}, []string{"71 @new New: 2"}, 1},
		"named in one group":        {[2]ranking.Chat{club, club}, [2]ranking.Person{named, named}, []string{"0 @NEW NEW: 2"}, 1},
		"named in two groups":       {[2]ranking.Chat{club, annex}, [2]ranking.Person{named, named}, []string{"0 @NEW NEW: 1", "0 @NEW NEW: 1"}, 0},
		"seen here, named there":    {[2]ranking.Chat{club, annex}, [2]ranking.Person{seen, named}, []string{"0 @NEW NEW: 1", "71 @new New: 1"}, 0},
		"seen and named in a group": {[2]ranking.Chat{club, club}, [2]ranking.Person{seen, named}, []string{"71 @new New: 2"}, -1},
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
			if tc.conflicts < 0 { // without a conflict, the mention may have come first
				o := ranking.Origin{Key: "seen", Chat: club, SentAt: time.Unix(1_700_000_000, 0), Shown: []ranking.Person{seen}}
				dbtest.Must(t, dbtest.Service(w.Store).MembersSeen(t.Context(), o))
				tc.conflicts = conflicts.Load()
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

func (s *together) UpsertChatAndPlayers(
	ctx context.Context, q ranking.Query, chat *ranking.Chat, changes []ranking.PlayerChange,
) (ranking.Snapshot, error) {
	snap, err := s.Store.UpsertChatAndPlayers(ctx, q, chat, changes)
	if errors.Is(err, ranking.ErrConflict) {
		s.conflicts.Add(1)
	}
	return snap, err
}
