package pgranking_test

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// known returns all players in the order of their ids.
func (w *world) known(t *testing.T) []string {
	t.Helper()
	return dbtest.Values[string](t, w.Pool, `
		SELECT coalesce(telegram_user_id, 0) || ' @' || coalesce(username, '') || ' ' || display_name
		FROM players ORDER BY id`)
}

// seenIn returns the Seen of a command that has read snap and changes these people.
func seenIn(snap *ranking.Snapshot, people ...ranking.PlayerChange) ranking.Seen {
	return ranking.Seen{Group: snap.Group, Ladder: snap.Ladder, People: people}
}

// asNew returns the change that inserts a person with a new id.
func asNew(t *testing.T, w *world, p command.Person) ranking.PlayerChange {
	t.Helper()
	c := dbtest.AsNew(p)
	c.New, c.Player.ID = true, dbtest.Value[ladder.PlayerID](t, w.Pool, `SELECT nextval('players_id_seq')`)
	return c
}

// see reads the club and then stores what a message there shows about people.
func (w *world) see(t *testing.T, people ...ranking.PlayerChange) error {
	t.Helper()
	snap := w.Read(t)
	return w.Store.Apply(t.Context(), ranking.Changes{
		Decision: ranking.Decision{Presence: ranking.NoChange}, Seen: seenIn(snap, people...),
		Keyless: true, Chat: snap.ChatID,
	})
}

func TestSeenChat(t *testing.T) {
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
	dbtest.Equal(t, "chats", []string{"-100 supergroup Club 2 1 1", "5 private  0 0"}, got)
}

// TestNewChat checks that a read of a new chat returns what a read returns after the chat is
// stored. A stored chat without a group gets one.
func TestNewChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO chats (telegram_chat_id, kind, title, language) VALUES (-300, 'group', 'Old', 'de')`)
	for _, chat := range []ranking.Chat{
		{ID: -200, Kind: ranking.Group, Title: "Annex", Language: "fr"}, {ID: -300, Kind: ranking.Supergroup, Title: "Attic", Language: "fr"},
		{ID: 5, Kind: ranking.Private},
	} {
		read := func() *ranking.Snapshot {
			t.Helper()
			snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "k", Chat: chat})
			dbtest.Must(t, err)
			return snap
		}
		before := read()
		if before.NewChat == (chat.ID == -300) || before.NewGroup != chat.IsGroup() {
			t.Errorf("%s: read %+v", chat.Title, before)
		}
		seen := seenIn(before)
		seen.Chat, seen.NewChat, seen.NewGroup = &chat, before.NewChat, before.NewGroup
		dbtest.Must(t, w.Store.Apply(t.Context(), ranking.Changes{Seen: seen, Key: chat.Title, Chat: before.ChatID}))
		want := before
		want.NewChat, want.NewGroup, want.Chat = false, false, chat
		want.Chat.Language = ""
		dbtest.Equal(t, chat.Title, want, read())
	}
}

func TestSeenPeople(t *testing.T) {
	t.Parallel()
	player := func(id ladder.PlayerID, user ladder.UserID, username, name string) ranking.PlayerChange {
		return ranking.PlayerChange{
			Player: ranking.Player{ID: id, UserID: user, Username: username, Name: name}, New: id == 99,
		}
	}
	sighted := func(c ranking.PlayerChange, username string) ranking.PlayerChange {
		c.Sighting = &ranking.Sighting{Username: username, At: time.Unix(1_700_000_000, 0)}
		return c
	}
	// The players are Alice (1, @alice), Bob (2, @bob), and the unclaimed dave (3).
	for name, tc := range map[string]struct {
		changes []ranking.PlayerChange
		want    []string
		err     error
	}{
		"claim": {
			[]ranking.PlayerChange{sighted(player(3, 4, "Dave", "David"), "Dave")},
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
		"username is given up, and another one's": {
			[]ranking.PlayerChange{player(99, 0, "BOB", "BOB"), sighted(player(2, 2, "", "Bob"), "")},
			[]string{"1 @alice Alice", "2 @ Bob", "0 @dave dave", "0 @BOB BOB"}, nil,
		},
		"the username of another account": {
			[]ranking.PlayerChange{sighted(player(99, 5, "bob", "Bobby"), "bob")},
			[]string{"1 @alice Alice", "2 @bob Bob", "0 @dave dave", "5 @bob Bobby"}, nil,
		},
		"unclaimed twice":                   {[]ranking.PlayerChange{player(99, 0, "DAVE", "DAVE")}, nil, ranking.ErrConflict},
		"unclaimed, an account's username":  {[]ranking.PlayerChange{player(99, 0, "BOB", "BOB")}, nil, ranking.ErrConflict},
		"an account, unclaimed's username":  {[]ranking.PlayerChange{sighted(player(2, 2, "Dave", "Bob"), "Dave")}, nil, ranking.ErrConflict},
		"new account, unclaimed's username": {[]ranking.PlayerChange{sighted(player(99, 5, "Dave", "D"), "Dave")}, nil, ranking.ErrConflict},
		"user is there":                     {[]ranking.PlayerChange{player(99, 2, "", "Bob")}, nil, ranking.ErrConflict},
		"claimed by another":                {[]ranking.PlayerChange{player(2, 9, "bob", "Nine")}, nil, ranking.ErrConflict},
		"unclaimed again":                   {[]ranking.PlayerChange{player(2, 0, "bob", "Bob")}, nil, ranking.ErrConflict},
		"one of two fails":                  {[]ranking.PlayerChange{player(1, 1, "alice", "New"), player(99, 2, "", "Bob")}, nil, ranking.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Upsert(t, dbtest.AsNew(alice))
			w.Upsert(t, dbtest.AsNew(bob))
			w.Upsert(t, dbtest.AsNew(command.Person{Username: "dave", Name: "dave"}))
			before := w.known(t)
			if err := w.see(t, tc.changes...); !errors.Is(err, tc.err) {
				t.Fatalf("error is %v, want %v", err, tc.err)
			}
			if tc.err != nil {
				tc.want = before
			}
			dbtest.Equal(t, "players", tc.want, w.known(t))
		})
	}
}

func TestSeeingIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	k := w.Read(t, bob).People[0]
	change := ranking.PlayerChange{Player: *k.Player, Standing: k.Standing.ID}
	change.Player.Name = "Robert"
	dbtest.Must(t, w.see(t, change))
	once := w.Contents(t)
	dbtest.Must(t, w.see(t, change))
	dbtest.Equal(t, "the second time changes", once, w.Contents(t))
	if got := w.Read(t, bob).People[0].Standing.Name; got != "Robert" {
		t.Errorf("the name in the ladder is %q", got)
	}
}

// TestAddedAtOnce checks that when two instances insert the same row, the second waits for the
// first and gets a conflict. After another read, the second succeeds.
func TestAddedAtOnce(t *testing.T) {
	t.Parallel()
	moved := dbtest.AsNew(bob)
	moved.Player.ID, moved.Sighting.Username = 2, "x"
	for name, tc := range map[string]struct {
		before, first string
		second        func(*testing.T, *world) error
	}{
		"account": {"", `INSERT INTO players (telegram_user_id, display_name) VALUES (71, 'New')`, func(t *testing.T, w *world) error {
			t.Helper()
			return w.see(t, asNew(t, w, command.Person{ID: 71, Name: "New"}))
		}},
		"unclaimed": {"", `INSERT INTO players (group_id, username, display_name) VALUES (1, 'named', 'named')`, func(t *testing.T, w *world) error {
			t.Helper()
			return w.see(t, asNew(t, w, command.Person{Username: "NAMED", Name: "named"}))
		}},
		"username": {
			"", `INSERT INTO sightings VALUES (1, (SELECT id FROM players WHERE username = 'zora'), 'x', now())`,
			func(t *testing.T, w *world) error {
				t.Helper()
				return w.see(t, moved)
			},
		},
		"chat": {"", `INSERT INTO chats (telegram_chat_id, kind) VALUES (-200, 'group')`, func(t *testing.T, w *world) error {
			t.Helper()
			return dbtest.Upsert(t.Context(), w.Store, annex, nil)
		}},
		"group": {
			`INSERT INTO chats (telegram_chat_id, kind) VALUES (-200, 'group')`, `INSERT INTO groups (chat_id) SELECT max(id) FROM chats`,
			func(t *testing.T, w *world) error {
				t.Helper()
				return dbtest.Upsert(t.Context(), w.Store, annex, nil)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Upsert(t, dbtest.AsNew(alice))
			w.Upsert(t, dbtest.AsNew(bob))
			dbtest.Exec(t, w.Pool, `
				INSERT INTO players (telegram_user_id, username, display_name) VALUES (72, 'zora', 'Zora');`+tc.before)
			tx := dbtest.Begin(t, w.Pool)
			dbtest.Exec(t, tx, tc.first)
			second := dbtest.Start(func() error { return tc.second(t, w) })
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			dbtest.Must(t, tx.Commit(t.Context()))
			if err := dbtest.Receive(t, second); !errors.Is(err, ranking.ErrConflict) {
				t.Errorf("error is %v, want a conflict", err)
			}
			change := []ranking.PlayerChange{
				dbtest.AsNew(command.Person{ID: 71, Name: "New"}), dbtest.AsNew(command.Person{Username: "NAMED", Name: "named"}),
			}
			for _, chat := range []ranking.Chat{club, annex} {
				if err := dbtest.Upsert(t.Context(), w.Store, chat, change); err != nil {
					t.Errorf("read again, %s: %v", chat.Title, err)
				}
			}
		})
	}
}

// TestMentionOverwritesNothing checks that a mention does not overwrite what another message has
// shown about the player since the read. The ladder shows the player's newer name.
func TestMentionOverwritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "m1", alice, bob, 3, 1)
	read := w.Read(t, bob).People[0]
	renamed := *read.Player
	renamed.Username, renamed.Name = "robert", "Robert"
	w.Upsert(t, ranking.PlayerChange{Player: renamed})
	dbtest.Must(t, w.see(t, ranking.PlayerChange{Player: *read.Player, Mentioned: true, Standing: read.Standing.ID}))
	again := w.Read(t, bob).People[0]
	if *again.Player != renamed || again.Standing.Name != "Robert" {
		t.Errorf("the player is %+v, and is called %s", again.Player, again.Standing.Name)
	}
}

// TestSightings checks that a username means the account that was last seen with it. The dates of
// the messages decide, not the order in which they are handled.
func TestSightings(t *testing.T) {
	t.Parallel()
	type step struct {
		who      command.Person
		username string
		second   int
	}
	for name, tc := range map[string]struct {
		steps []step
		want  []string
	}{
		"two":              {[]step{{alice, "alice", 1}, {bob, "bob", 2}}, []string{"Alice alice 1", "Bob bob 2"}},
		"none":             {[]step{{alice, "", 1}, {bob, "", 2}}, []string{"Alice - 1", "Bob - 2"}},
		"another one":      {[]step{{alice, "alice", 1}, {alice, "Al", 2}}, []string{"Alice Al 2 alice"}},
		"given up":         {[]step{{alice, "alice", 1}, {alice, "", 2}}, []string{"Alice - 2 alice"}},
		"taken over":       {[]step{{alice, "al", 1}, {bob, "AL", 2}}, []string{"Alice - 1 al", "Bob AL 2"}},
		"given back":       {[]step{{alice, "al", 1}, {bob, "al", 2}, {alice, "al", 3}}, []string{"Alice al 3", "Bob - 2 al"}},
		"swapped":          {[]step{{alice, "a", 1}, {bob, "b", 1}, {alice, "b", 2}, {bob, "a", 2}}, []string{"Alice b 2 a", "Bob a 2 b"}},
		"back and forth":   {[]step{{alice, "a", 1}, {alice, "b", 2}, {alice, "c", 3}, {alice, "a", 4}}, []string{"Alice a 4 b c"}},
		"late":             {[]step{{alice, "new", 2}, {alice, "old", 1}}, []string{"Alice new 2"}},
		"late, taken over": {[]step{{bob, "al", 2}, {alice, "al", 1}}, []string{"Bob al 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, p := range []command.Person{alice, bob} {
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
				SELECT concat_ws(' ', p.display_name, coalesce(s.username, '-'),
				       extract(epoch FROM s.seen_at)::int, nullif(array_to_string(s.former, ' '), ''))
				FROM sightings s JOIN players p ON p.id = s.player_id ORDER BY 1`)
			dbtest.Equal(t, "players", tc.want, got)
		})
	}
}
