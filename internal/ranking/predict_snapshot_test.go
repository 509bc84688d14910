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

// noUpsertsStore is a store whose Apply fails with ErrConflict if the changes contain people. The service then upserts
// them separately.
type noUpsertsStore struct{ ranking.Store }

func (u noUpsertsStore) Apply(ctx context.Context, c ranking.Changes) error {
	if len(c.People) > 0 {
		return fmt.Errorf("apply: %w", ranking.ErrConflict)
	}
	return u.Store.Apply(ctx, c)
}

// forgetfulStore is a store that knows a chat only after UpsertChatAndPlayers, so that every command calls it.
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

// countingStore is a store that counts the commands whose upserts are applied with their effect.
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

// The other chats that send commands.
var (
	otherClub = ranking.Chat{ID: -200, Kind: ranking.Supergroup, Title: "Other Club"}
	inPrivate = ranking.Chat{ID: 1, Kind: ranking.Private}
)

// scene is a game of its own. Two scenes get the same commands and are compared.
type scene struct {
	*game
	database    *pgtest.Database
	tb          rapid.TB
	chat        ranking.Chat
	redelivered bool
	wrap        func(ranking.Store) ranking.Store
}

// newScene returns a scene in which the chats are known. wrap wraps its store.
func newScene(t *testing.T, under func(ranking.Store) ranking.Store) *scene {
	t.Helper()
	s := &scene{database: pgtest.Borrow(t), wrap: under}
	s.begin(t)
	return s
}

// begin empties the database except for the chats, and creates a new service.
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
	o.Chat, o.Retried = s.chat, s.redelivered
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

// contents returns the contents of all tables, with people's accounts instead of ids.
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
		// expires_at depends on the time of writing, so it may differ slightly
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

// TestDeferredUpsertsMakeNoDifference handles the same commands in two ways: with upserts applied together with the
// effect, where the snapshot can be predicted; and with upserts stored before and read back, as after a conflict.
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
		kept int // how many commands apply their upserts with their effect
	}{
		"new reporter and opponent": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, zoe, bob)
		}, 2},
		"mentioned, then seen": {func(s *scene) {
			s.match(alice, alice, named("dave"))
			s.match(someone(4, "Dave", "David"), named("dave"), alice)
			s.showRanking(alice)
		}, 2},
		"mentioned, then seen without a username, then merged": {func(s *scene) {
			s.match(alice, alice, named("zoe"))
			s.match(zoe, zoe, bob)
			s.match(someone(zoe.ID, "zoe", "Zoe"), alice, named("ZOE")) // merges them
		}, 3},
		"another name": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(1, "alice", "Alicia"), bob)
			s.match(bob, someone(1, "alice", "Al"), bob)
		}, 3},
		"another name, first shown in another group": {func(s *scene) {
			s.match(alice, alice, bob)
			elsewhere(s, func() { s.join(someone(2, "bob", "Robert")) })
			s.match(alice, alice, named("bob"))
			s.match(alice, alice, named("BOB"))
		}, 3},
		"the name of another player, first shown in another group": {func(s *scene) {
			s.match(alice, alice, bob)
			s.join(carol)
			elsewhere(s, func() { s.join(someone(2, "bob", "Carol")) })
			s.match(alice, alice, named("bob"))
		}, 4},
		"two new people with the same name": {func(s *scene) {
			s.match(someone(5, "", "Alex"), someone(5, "", "Alex"), someone(6, "", "ALEX"))
			s.match(someone(7, "alex", "Alex"), someone(5, "", "Alex"), someone(6, "", "ALEX"))
		}, 2},
		"a new person with the name of a player": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(5, "", "Bob"), alice)
			s.match(alice, someone(5, "", "Bob"), someone(6, "", "Eve"))
			s.match(alice, someone(5, "", "bob"), named("alice"))
		}, 4},
		"a player takes the name of another one": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, carol, zoe)
			s.match(alice, someone(26, "", "Bob"), alice)
			s.match(alice, alice, bob)
			s.match(alice, someone(26, "", "Zoe"), bob)
			s.match(alice, alice, bob)
		}, 3},
		"a player takes the name of their opponent": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(alice, someone(1, "alice", "Bob"), bob)
			s.match(bob, bob, someone(1, "alice", "Alice"))
		}, 1},
		"a player takes the former name of their opponent": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(bob, someone(1, "alice", "Al"), someone(2, "bob", "Alice"))
			s.match(bob, someone(2, "bob", "Bob"), someone(1, "alice", "Alice"))
			s.match(bob, someone(1, "alice", "Bob"), someone(2, "bob", "Alice"))
		}, 1},
		"a new person has the former name of their opponent": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(bob, someone(1, "alice", "Al"), someone(5, "", "Alice"))
			s.match(bob, someone(6, "", "Al"), someone(1, "alice", "Alice"))
		}, 1},
		"two players take the same name": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, someone(1, "alice", "Same"), someone(2, "bob", "same"))
			s.showRanking(carol)
		}, 1},
		"a username passes to a new person": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(carol, carol, someone(5, "bob", "Bobby"))
			s.match(carol, carol, named("bob"))
			s.match(carol, carol, someone(2, "", "Bob"))
		}, 1},
		"a username passes to a known player": {func(s *scene) {
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "bob", "Alex"), someone(1, "bob", "Alex"), someone(2, "", "Alex"))
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), carol)
		}, 2},
		"swapped usernames": {func(s *scene) {
			s.match(someone(1, "alice", "Alex"), someone(1, "alice", "Alex"), someone(2, "bob", "Alex"))
			s.match(someone(1, "bob", "Alex"), someone(1, "bob", "Alex"), someone(2, "alice", "Alex"))
			s.match(someone(1, "alice", "A"), someone(1, "alice", "A"), someone(2, "bob", "B"))
		}, 1},
		"mentioned by a former username": {func(s *scene) {
			s.match(alice, alice, bob)
			s.match(someone(1, "al", "Alice"), named("alice"), bob)
			s.match(someone(1, "alicia", "Alicia"), someone(1, "alicia", "Alicia"), named("al"))
		}, 3},
		"a username in another case": {func(s *scene) {
			s.match(alice, alice, named("Dave"))
			s.match(someone(1, "ALICE", "Alice"), named("alice"), named("DAVE"))
			s.match(someone(4, "dAVE", "Dave"), named("dave"), alice)
		}, 3},
		"a username that distinguishes namesakes": {func(s *scene) {
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
			s.draw(alice, zoe, named("dave")) // nobody is stored
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
		"redelivered commands": {func(s *scene) {
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
			t.Errorf("%s: deferred upserts make a difference (-stored before +deferred):\n%s", name, diff)
		}
		if kept != tc.kept {
			t.Errorf("%s: %d commands deferred their upserts, want %d", name, kept, tc.kept)
		}
		verifyClean(t, short.store)
	}
}

// TestAnyDeferredUpsertsMakeNoDifference sends random commands of a few people with random names and usernames.
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
			t.Fatalf("deferred upserts make a difference (-stored before +deferred):\n%s", diff)
		}
	})
	if kept == 0 || kept > upserts {
		t.Errorf("%d commands deferred their upserts, %d did not", kept, upserts)
	}
}
