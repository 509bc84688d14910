package pgranking_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// known returns all players, in the order of their ids.
func (w *world) known(t *testing.T) []string {
	t.Helper()
	return dbtest.Values[string](t, w.Pool, `
		SELECT coalesce(telegram_user_id, 0) || ' @' || coalesce(username, '') || ' ' || display_name FROM players ORDER BY id`)
}

func TestUpsertChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	private := ranking.Chat{ID: 5, Kind: ranking.Private}
	renamed := ranking.Chat{ID: club.ID, Kind: ranking.Supergroup, Title: "Club 2"}
	for _, c := range []ranking.Chat{private, renamed, renamed, private} {
		dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, c, nil))
	}
	got := dbtest.Values[string](t, w.Pool, `
		SELECT c.telegram_chat_id || ' ' || c.kind || ' ' || c.title || ' ' || count(g.id) || ' ' || count(l.id)
		FROM chats c LEFT JOIN groups g ON g.chat_id = c.id LEFT JOIN ladders l ON l.group_id = g.id
		GROUP BY c.id ORDER BY c.id`)
	if diff := cmp.Diff([]string{"-100 supergroup Club 2 1 1", "5 private  0 0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUpsertPeople(t *testing.T) {
	t.Parallel()
	player := func(id ranking.PlayerID, user ranking.UserID, username, name string) ranking.PlayerChange {
		return ranking.PlayerChange{Player: ranking.Player{ID: id, UserID: user, Username: username, Name: name}}
	}
	// there are: 1 Alice @alice, 2 Bob @bob, 3 dave unclaimed
	for name, tc := range map[string]struct {
		changes []ranking.PlayerChange
		want    []string
		err     error
	}{
		"claim": {
			[]ranking.PlayerChange{player(3, 4, "Dave", "David")},
			[]string{"1 @alice Alice", "2 @bob Bob", "4 @Dave David"}, nil,
		},
		"rename": {
			[]ranking.PlayerChange{player(2, 2, "robert", "Robert")},
			[]string{"1 @alice Alice", "2 @robert Robert", "0 @dave dave"}, nil,
		},
		"username is given up": {
			[]ranking.PlayerChange{player(2, 2, "", "Bob")},
			[]string{"1 @alice Alice", "2 @ Bob", "0 @dave dave"}, nil,
		},
		"the username of another account": {
			[]ranking.PlayerChange{player(0, 5, "bob", "Bobby")},
			[]string{"1 @alice Alice", "2 @bob Bob", "0 @dave dave", "5 @bob Bobby"}, nil,
		},
		"unclaimed twice":    {[]ranking.PlayerChange{player(0, 0, "DAVE", "DAVE")}, nil, ranking.ErrConflict},
		"user is there":      {[]ranking.PlayerChange{player(0, 2, "", "Bob")}, nil, ranking.ErrConflict},
		"claimed by another": {[]ranking.PlayerChange{player(2, 9, "bob", "Nine")}, nil, ranking.ErrConflict},
		"unclaimed again":    {[]ranking.PlayerChange{player(2, 0, "bob", "Bob")}, nil, ranking.ErrConflict},
		"one of two fails":   {[]ranking.PlayerChange{player(1, 1, "alice", "New"), player(0, 2, "", "Bob")}, nil, ranking.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Upsert(t, dbtest.AsNew(alice))
			w.Upsert(t, dbtest.AsNew(bob))
			w.Upsert(t, dbtest.AsNew(ranking.Person{Username: "dave", Name: "dave"}))
			before := w.known(t)
			if err := dbtest.Upsert(t.Context(), w.Store, club, tc.changes); !errors.Is(err, tc.err) {
				t.Fatalf("error is %v, want %v", err, tc.err)
			}
			if tc.err != nil {
				tc.want = before
			}
			if diff := cmp.Diff(tc.want, w.known(t)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpsertIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	k := w.Read(t, bob).People[0]
	change := ranking.PlayerChange{Player: *k.Player, Standing: k.Standing.ID}
	change.Player.Name = "Robert"
	w.Upsert(t, change)
	once := w.Contents(t)
	w.Upsert(t, change)
	if diff := cmp.Diff(once, w.Contents(t)); diff != "" {
		t.Errorf("the second time changes (-once +twice):\n%s", diff)
	}
	if got := w.Read(t, bob).People[0].Standing.Name; got != "Robert" {
		t.Errorf("the name in the ladder is %q", got)
	}
}

// TestUpsertAtOnce lets two instances insert the same new person: one waits for the other, and gets a conflict.
func TestUpsertAtOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	for name, change := range map[string]ranking.PlayerChange{
		"seen":  dbtest.AsNew(ranking.Person{ID: 71, Name: "New"}),
		"named": dbtest.AsNew(ranking.Person{Username: "named", Name: "named"}),
	} {
		store := pgranking.NewStore(pool, dbtest.Ignore)
		dbtest.Must(t, dbtest.Upsert(t.Context(), store, club, nil))
		tx := dbtest.Begin(t, pool)
		p := change.Player
		_, err := tx.Exec(t.Context(), `INSERT INTO players (telegram_user_id, group_id, username, display_name)
			VALUES (nullif($1::bigint, 0), CASE WHEN $1 = 0 THEN 1 END, nullif($2, ''), $3)`, p.UserID, p.Username, p.Name)
		dbtest.Must(t, err)
		second := dbtest.Start(func() error { return dbtest.Upsert(t.Context(), store, club, []ranking.PlayerChange{change}) })
		dbtest.Await(t, pool, dbtest.Blocked)
		dbtest.Must(t, tx.Commit(t.Context()))
		if err := dbtest.Receive(t, second); !errors.Is(err, ranking.ErrConflict) {
			t.Errorf("%s: error is %v, want a conflict", name, err)
		}
		// after reading again, only the chat is left to upsert
		if err := dbtest.Upsert(t.Context(), store, club, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSightings shows accounts with usernames, one after the other, each in the second given.
func TestSightings(t *testing.T) {
	t.Parallel()
	type step struct {
		who      ranking.Person
		username string
		second   int
	}
	for name, tc := range map[string]struct {
		steps []step
		want  []string
	}{
		"two":              {[]step{{alice, "alice", 1}, {bob, "bob", 2}}, []string{"Alice alice 1", "Bob bob 2"}},
		"none":             {[]step{{alice, "", 1}, {bob, "", 2}}, []string{"Alice - 1", "Bob - 2"}},
		"another one":      {[]step{{alice, "alice", 1}, {alice, "al", 2}}, []string{"Alice al 2"}},
		"given up":         {[]step{{alice, "alice", 1}, {alice, "", 2}}, []string{"Alice - 2"}},
		"taken over":       {[]step{{alice, "al", 1}, {bob, "AL", 2}}, []string{"Alice - 1", "Bob AL 2"}},
		"given back":       {[]step{{alice, "al", 1}, {bob, "al", 2}, {alice, "al", 3}}, []string{"Alice al 3", "Bob - 2"}},
		"swapped":          {[]step{{alice, "a", 1}, {bob, "b", 1}, {alice, "b", 2}, {bob, "a", 2}}, []string{"Alice b 2", "Bob a 2"}},
		"late":             {[]step{{alice, "new", 2}, {alice, "old", 1}}, []string{"Alice new 2"}},
		"late, taken over": {[]step{{bob, "al", 2}, {alice, "al", 1}}, []string{"Bob al 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, p := range []ranking.Person{alice, bob} {
				w.Upsert(t, ranking.PlayerChange{Player: dbtest.AsNew(p).Player})
			}
			for _, s := range tc.steps {
				change := ranking.PlayerChange{
					Player:   *w.Read(t, s.who).People[0].Player,
					Sighting: &ranking.Sighting{Username: s.username, At: time.Unix(int64(s.second), 0)},
				}
				for range 2 { // idempotent
					w.Upsert(t, change)
				}
			}
			got := dbtest.Values[string](t, w.Pool, `
				SELECT concat_ws(' ', p.display_name, coalesce(s.username, '-'), extract(epoch FROM s.seen_at)::int)
				FROM sightings s JOIN players p ON p.id = s.player_id ORDER BY 1`)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
