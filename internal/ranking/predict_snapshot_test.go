package ranking_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/ranking"
)

// unlucky is a store where whoever keeps people with an effect loses, and so comes again the long way.
type noUpsertsStore struct{ ranking.Store }

func (u noUpsertsStore) Apply(ctx context.Context, c ranking.Changes) error {
	if len(c.People) > 0 {
		return fmt.Errorf("apply: %w", ranking.ErrConflict)
	}
	return u.Store.Apply(ctx, c)
}

// forgetful is a store that knows no chat before it is introduced, so that every command introduces it, and its people
// with it.
type forgetfulStore struct {
	ranking.Store
	upserted *bool // since a command was applied
	upserts  *int
}

func (f forgetfulStore) Read(ctx context.Context, q ranking.Query) (ranking.Snapshot, error) {
	snap, err := f.Store.Read(ctx, q)
	if !*f.upserted {
		snap.ChatID = 0
	}
	return snap, err
}

func (f forgetfulStore) UpsertChatAndPlayers(ctx context.Context, chat ranking.Chat, changes []ranking.PlayerChange) error {
	*f.upserted = true
	if len(changes) > 0 {
		*f.upserts++
	}
	return f.Store.UpsertChatAndPlayers(ctx, chat, changes)
}

func (f forgetfulStore) Apply(ctx context.Context, c ranking.Changes) error {
	*f.upserted = false
	return f.Store.Apply(ctx, c)
}

// counting is a store that counts how many commands keep people with their effect.
type countingStore struct {
	ranking.Store
	kept *int
}

func (c countingStore) Apply(ctx context.Context, changes ranking.Changes) error {
	if len(changes.People) > 0 {
		*c.kept++
	}
	return c.Store.Apply(ctx, changes)
}

// The chats that the commands come from.
var (
	otherClub = ranking.Chat{ID: -200, Kind: ranking.Supergroup, Title: "Other Club"}
	inPrivate = ranking.Chat{ID: 1, Kind: ranking.Private}
)

// scene is where the same commands are sent as in another one.
type scene struct {
	*game
	database    *pgtest.Database
	tb          rapid.TB
	chat        ranking.Chat
	redelivered bool
	wrap        func(ranking.Store) ranking.Store
}

// newScene returns a scene in which the clubs are known.
func newScene(t *testing.T, under func(ranking.Store) ranking.Store) *scene {
	t.Helper()
	s := &scene{database: pgtest.Borrow(t), wrap: under}
	s.begin(t)
	return s
}

// begin empties the database but for the chats, and has a service that has met nobody.
func (s *scene) begin(tb rapid.TB) {
	tb.Helper()
	if err := s.database.Empty(context.Background()); err != nil {
		tb.Fatal(err)
	}
	s.game = newGameOn(s.database)
	s.Service = newService(s.wrap(s.store))
	s.tb, s.chat, s.redelivered = tb, club, false
	for _, chat := range []ranking.Chat{club, otherClub, inPrivate} {
		if err := s.store.UpsertChatAndPlayers(context.Background(), chat, nil); err != nil {
			tb.Fatal(err)
		}
	}
}

func (s *scene) send(sender ranking.Person, command func(context.Context, ranking.Origin) error) {
	s.tb.Helper()
	o := s.origin(&sender)
	o.Chat, o.Redelivered = s.chat, s.redelivered
	if err := command(context.Background(), o); err != nil {
		s.tb.Fatalf("%s: %v", o.Key, err)
	}
}

func (s *scene) match(sender, winner, loser ranking.Person) {
	s.tb.Helper()
	s.send(sender, func(ctx context.Context, o ranking.Origin) error {
		return s.RecordMatch(ctx, o, singles(winner, loser, 3, 1))
	})
}

func (s *scene) draw(sender, a, b ranking.Person) {
	s.tb.Helper()
	s.send(sender, func(ctx context.Context, o ranking.Origin) error { return s.RecordMatch(ctx, o, singles(a, b, 2, 2)) })
}

func (s *scene) allowNoDraws() {
	s.tb.Helper()
	if _, err := s.pool.Exec(context.Background(), `UPDATE ladders SET draws_allowed = false`); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *scene) join(p ranking.Person) {
	s.tb.Helper()
	s.send(p, s.Join)
}

func (s *scene) showRanking(p ranking.Person) {
	s.tb.Helper()
	s.send(p, s.ShowRanking)
}

func (s *scene) showMe(p ranking.Person) {
	s.tb.Helper()
	s.send(p, s.ShowMe)
}

func (s *scene) ask(p ranking.Person) {
	s.tb.Helper()
	s.send(p, func(ctx context.Context, o ranking.Origin) error {
		return s.Answer(ctx, o, ranking.Refusal{Code: ranking.NoDraws})
	})
}

// contents returns what is stored and told, with people by what they are known as in place of ids.
func (s *scene) contents(tb rapid.TB) map[string][]string {
	tb.Helper()
	const person = `(SELECT concat_ws(' ', p.telegram_user_id, '@' || p.username, p.display_name)
		FROM players p WHERE p.id = r.%s)`
	of := func(column string) string { return fmt.Sprintf(person, column) }
	all := make(map[string][]string)
	for table, sql := range map[string]string{
		"players": `SELECT concat_ws(' ', r.telegram_user_id, '@' || r.username, r.display_name,
				'into: ' || ` + of("merged_into") + `)
			FROM players r ORDER BY 1`,
		"group_players": `SELECT to_jsonb(r) - '{id, player_id, ladder_id, created_at}'::text[] ||
				jsonb_build_object('player', ` + of("player_id") + `, 'chat', c.title)
			FROM group_players r JOIN ladders l ON l.id = r.ladder_id JOIN groups g ON g.id = l.group_id
			JOIN chats c ON c.id = g.chat_id ORDER BY r.id`,
		"matches": `SELECT to_jsonb(r) - '{id, group_id, ladder_id, reported_by, undone_by, undone_at, created_at}'::text[] ||
				jsonb_build_object('reported_by', ` + of("reported_by") + `, 'undone', r.undone_at IS NOT NULL)
			FROM matches r ORDER BY r.idempotency_key`,
		"match_players": `SELECT m.idempotency_key || ' ' || r.side || ' ' || r.place || ' ' || ` + of("player_id") + `
			FROM match_players r JOIN matches m ON m.id = r.match_id ORDER BY 1`,
		"elo_history": `SELECT concat_ws(' ', m.idempotency_key, ` + of("player_id") + `, r.elo_before, r.elo_after,
				r.best_before, r.streak_before, r.reason, r.superseded_at IS NOT NULL)
			FROM elo_history r JOIN matches m ON m.id = r.match_id ORDER BY 1`,
		"handled_commands": `SELECT to_jsonb(r) - 'handled_at' FROM handled_commands r ORDER BY key`,
		// a deadline counts from the moment of writing: that of an answer, less its age, comes out at about the same
		"outbox": `SELECT to_jsonb(r) - '{id, chat_id, match_id, created_at, supersede_key}'::text[] ||
				jsonb_build_object('chat', c.title, 'expires_at', CASE WHEN r.action <> 'edit' THEN date_trunc('minute', r.expires_at) END)
			FROM outbox r JOIN chats c ON c.id = r.chat_id ORDER BY r.id`,
	} {
		found, err := s.pool.Query(context.Background(), `SELECT q::text FROM (`+sql+`) AS q`)
		if err != nil {
			tb.Fatalf("%s: %v", table, err)
		}
		if all[table], err = pgx.CollectRows(found, pgx.RowTo[string]); err != nil {
			tb.Fatalf("%s: %v", table, err)
		}
	}
	return all
}

func someone(id ranking.UserID, username, name string) ranking.Person {
	return ranking.Person{ID: id, Username: username, Name: name}
}

func named(username string) ranking.Person { return ranking.Person{Username: username} }

// TestPeopleComeToTheSame has the same commands handled in two ways: with what they show of their people kept with their
// effect, where it is clear what that comes to; and with it kept before, and looked at again, as it is after a conflict.
func TestDeferredUpsertsMakeNoDifference(t *testing.T) {
	t.Parallel()
	kept := 0
	short := newScene(t, func(s ranking.Store) ranking.Store { return countingStore{s, &kept} })
	long := newScene(t, func(s ranking.Store) ranking.Store { return noUpsertsStore{s} })
	elsewhere := func(s *scene, do func()) {
		s.chat = otherClub
		do()
		s.chat = club
	}
	for name, tc := range map[string]struct {
		play func(*scene)
		kept int // how many commands keep their people with their effect
	}{
		"new reporter and opponent": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, zoe, bob)
		}, 2},
		"named, then seen": {func(s *scene) {
			s.match(alice, alice, named("dave"))
			s.match(someone(4, "Dave", "David"), named("dave"), alice)
			s.showRanking(alice)
		}, 2},
		"named, then seen by all but a username of their own": {func(s *scene) {
			s.match(alice, alice, named("zoe"))
			s.match(zoe, zoe, bob)
			s.match(someone(zoe.ID, "zoe", "Zoe"), alice, named("ZOE")) // which makes them one
		}, 3},
		"another name": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(1, "alice", "Alicia"), bob)
			s.match(bob, someone(1, "alice", "Al"), bob)
		}, 3},
		"another name of somebody who has been shown under it elsewhere": {func(s *scene) {
			s.match(alice, alice, bob)
			elsewhere(s, func() { s.join(someone(2, "bob", "Robert")) })
			s.match(alice, alice, named("bob"))
			s.match(alice, alice, named("BOB"))
		}, 3},
		"a name that somebody has and that another one has been shown under elsewhere": {func(s *scene) {
			s.match(alice, alice, bob)
			s.join(carol)
			elsewhere(s, func() { s.join(someone(2, "bob", "Carol")) })
			s.match(alice, alice, named("bob"))
		}, 4},
		"two who come with one name": {func(s *scene) {
			s.match(someone(5, "", "Alex"), someone(5, "", "Alex"), someone(6, "", "ALEX"))
			s.match(someone(7, "alex", "Alex"), someone(5, "", "Alex"), someone(6, "", "ALEX"))
		}, 2},
		"a name that somebody has": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(5, "", "Bob"), alice)
			s.match(alice, someone(5, "", "Bob"), someone(6, "", "Eve"))
			s.match(alice, someone(5, "", "bob"), named("alice"))
		}, 4},
		"a name that somebody takes who is there": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, carol, zoe)
			s.match(alice, someone(26, "", "Bob"), alice)
			s.match(alice, alice, bob)
			s.match(alice, someone(26, "", "Zoe"), bob)
			s.match(alice, alice, bob)
		}, 3},
		"a name that somebody takes who plays with its owner": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(1, "alice", "Bob"), bob)
			s.match(bob, bob, someone(1, "alice", "Alice"))
		}, 1},
		"a name that is given up and taken": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(bob, someone(1, "alice", "Al"), someone(2, "bob", "Alice"))
			s.match(bob, someone(2, "bob", "Bob"), someone(1, "alice", "Alice"))
			s.match(bob, someone(1, "alice", "Bob"), someone(2, "bob", "Alice"))
		}, 1},
		"a name that is given up and brought by somebody new": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(bob, someone(1, "alice", "Al"), someone(5, "", "Alice"))
			s.match(bob, someone(6, "", "Al"), someone(1, "alice", "Alice"))
		}, 1},
		"two who take one name": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, someone(1, "alice", "Same"), someone(2, "bob", "same"))
			s.showRanking(carol)
		}, 1},
		"a username that passes to somebody new": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, carol, someone(5, "bob", "Bobby"))
			s.match(carol, carol, named("bob"))
			s.match(carol, carol, someone(2, "", "Bob"))
		}, 1},
		"a username that passes to somebody who is there": {func(s *scene) {
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "bob", "Alex"), someone(1, "bob", "Alex"), someone(2, "", "Alex"))
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), carol)
		}, 2},
		"usernames that are swapped": {func(s *scene) {
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "bob", "Alex"), someone(1, "bob", "Alex"), someone(2, "alice", "Alex"))
			s.match(someone(1, "alice", "A"), someone(1, "alice", "A"), someone(2, "bob", "B"))
		}, 1},
		"named by the username that they had": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(someone(1, "al", "Alice"), named("alice"), bob)
			s.match(someone(1, "alicia", "Alicia"), someone(1, "alicia", "Alicia"), named("al"))
		}, 3},
		"a username in other letters": {func(s *scene) {
			s.match(alice, alice, named("Dave"))
			s.match(someone(1, "ALICE", "Alice"), named("alice"), named("DAVE"))
			s.match(someone(4, "dAVE", "Dave"), named("dave"), alice)
		}, 3},
		"a username by which namesakes are told apart": {func(s *scene) {
			s.match(someone(5, "", "Alex"), someone(5, "", "Alex"), someone(6, "", "Alex"))
			s.match(alice, someone(5, "alex_5", "Alex"), alice)
			s.match(alice, someone(5, "alex_5", "Alex"), someone(6, "alex_6", "Alex"))
		}, 3},
		"joins": {func(s *scene) {
			s.join(alice)
			s.join(someone(1, "alice", "Al"))
			s.join(someone(5, "", "Al"))
			s.match(bob, bob, named("dave"))
			s.join(someone(4, "dave", "bob"))
		}, 5},
		"a refused result": {func(s *scene) {
			s.match(alice, alice, bob)
			s.allowNoDraws()
			s.draw(someone(1, "alice", "Al"), someone(1, "alice", "Al"), someone(2, "bobby", "Bob"))
			s.draw(alice, zoe, named("dave")) // of whom nobody is kept
			league := ranking.Person{Username: "league", Doubtful: true}
			s.match(someone(2, "bob", "Bobby"), someone(2, "bob", "Bobby"), league)
			s.showRanking(alice)
		}, 4},
		"questions": {func(s *scene) {
			s.match(alice, alice, named("bob"))
			s.ask(bob)
			s.ask(zoe)
			s.ask(someone(1, "alice", "Al"))
			s.showMe(someone(1, "alice", "Ali"))
			s.showMe(someone(1, "ali", "Bob"))
			s.showRanking(someone(1, "alice", "Alice"))
			s.showRanking(someone(1, "ali", "Bob"))
			s.showRanking(someone(1, "alice", "Bob"))
			s.match(carol, carol, zoe)
			elsewhere(s, func() { s.showRanking(someone(1, "al", "Al")) })
		}, 4},
		"commands of long ago": {func(s *scene) {
			s.match(alice, alice, bob)
			s.redelivered = true
			s.match(someone(1, "old", "Old"), someone(1, "old", "Old"), named("bob"))
			s.match(zoe, zoe, named("dave"))
			s.match(alice, alice, someone(5, "eve", "Bob"))
			s.match(alice, alice, someone(6, "bob", "Carla"))
			s.match(alice, alice, someone(7, "carol", "carla"))
			s.join(someone(8, "", "Alice"))
			s.showRanking(someone(1, "old", "Old"))
			s.showMe(someone(9, "old", "Old"))
		}, 1},
		"private chats": {func(s *scene) {
			s.match(alice, alice, named("bob"))
			s.chat = inPrivate
			s.showMe(someone(1, "al", "Al"))
			s.showMe(someone(9, "", "Nobody"))
			s.showMe(bob)
			s.ask(someone(2, "bobby", "Bobby"))
			s.chat = club
			s.match(alice, alice, named("bobby"))
		}, 3},
	} {
		kept = 0
		short.begin(t)
		long.begin(t)
		tc.play(short)
		tc.play(long)
		if diff := cmp.Diff(long.contents(t), short.contents(t)); diff != "" {
			t.Errorf("%s: kept with the effect, there is something else (-before it +with it):\n%s", name, diff)
		}
		if kept != tc.kept {
			t.Errorf("%s: %d commands keep their people with their effect, want %d", name, kept, tc.kept)
		}
		verifyClean(t, short.store)
	}
}

// TestAnyPeopleComeToTheSame has a few people go by any names and usernames, and send anything.
func TestAnyDeferredUpsertsMakeNoDifference(t *testing.T) {
	t.Parallel()
	var upserted bool
	kept, upserts := 0, 0
	short := newScene(t, func(s ranking.Store) ranking.Store { return countingStore{s, &kept} })
	long := newScene(t, func(s ranking.Store) ranking.Store { return forgetfulStore{s, &upserted, &upserts} })
	rapid.Check(t, func(t *rapid.T) {
		short.begin(t)
		long.begin(t)
		seen := rapid.Custom(func(t *rapid.T) ranking.Person {
			return someone(
				rapid.SampledFrom([]ranking.UserID{1, 2, 3, 4}).Draw(t, "id"),
				rapid.SampledFrom([]string{"", "a", "A", "b", "c"}).Draw(t, "username"),
				rapid.SampledFrom([]string{"A", "Alex", "ALEX", "Bob"}).Draw(t, "name"))
		})
		person := rapid.OneOf(seen, rapid.Map(rapid.SampledFrom([]string{"a", "A", "b", "c"}), named))
		for range rapid.IntRange(1, 8).Draw(t, "commands") {
			chat := rapid.SampledFrom([]ranking.Chat{club, club, club, otherClub}).Draw(t, "chat")
			redelivered := rapid.IntRange(0, 5).Draw(t, "again") == 5
			sender, a, b := seen.Draw(t, "sender"), person.Draw(t, "a"), person.Draw(t, "b")
			command := rapid.SampledFrom([]func(*scene){
				func(s *scene) { s.match(sender, a, b) },
				func(s *scene) { s.match(sender, a, b) },
				func(s *scene) { s.match(sender, a, b) },
				func(s *scene) { s.join(sender) },
				func(s *scene) { s.showRanking(sender) },
				func(s *scene) { s.showMe(sender) },
			}).Draw(t, "command")
			for _, s := range []*scene{short, long} {
				s.tb, s.chat, s.redelivered = t, chat, redelivered
				command(s)
			}
		}
		if diff := cmp.Diff(long.contents(t), short.contents(t)); diff != "" {
			t.Fatalf("kept with the effect, there is something else (-before it +with it):\n%s", diff)
		}
	})
	if kept == 0 || kept > upserts {
		t.Errorf("%d commands keep people with their effect, %d before it", kept, upserts)
	}
}
