package dbtest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// Ignore does nothing. It is the committed function for stores in tests without a dispatcher.
func Ignore(outbox.Lane) {}

// The chat in which most tests play, and people who play there. Zoe has no username.
var (
	Club  = ranking.Chat{ID: -100, Kind: ranking.Group, Title: "Club"}
	Alice = command.Person{ID: 1, Username: "alice", Name: "Alice"}
	Bob   = command.Person{ID: 2, Username: "bob", Name: "Bob"}
	Carol = command.Person{ID: 3, Username: "carol", Name: "Carol"}
	Zoe   = command.Person{ID: 26, Name: "Zoe"}
)

// AsNew returns the change that inserts a person. If the person has a user id, the change also
// records that the person was seen in the chat.
func AsNew(p command.Person) ranking.PlayerChange {
	change := ranking.PlayerChange{Player: ranking.Player{UserID: p.ID, Username: p.Username, Name: p.Name}}
	if p.ID != 0 {
		change.Sighting = &ranking.Sighting{Username: p.Username, At: time.Unix(1_600_000_000, 0)}
	}
	return change
}

// World is a migrated database with a store.
type World struct {
	Pool  *pgxpool.Pool
	Store *pgranking.Store
	// Wakes counts how often the store has called its committed function since NewWorld returned.
	Wakes atomic.Int64
	// Messages counts how often the store has called its committed function with a lane of
	// messages.
	Messages atomic.Int64
}

// NewWorld returns a world with the club, whose players are the given people.
func NewWorld(t *testing.T, people ...command.Person) *World {
	t.Helper()
	return NewWorldIn(t, pgtest.Borrow(t), people...)
}

// NewWorldIn is like NewWorld, in a given database.
func NewWorldIn(t *testing.T, d *pgtest.Database, people ...command.Person) *World {
	t.Helper()
	w := &World{Pool: d.Pool}
	w.Store = pgranking.NewStore(w.Pool, func(l outbox.Lane) {
		if w.Wakes.Add(1); l.Kind == outbox.Messages {
			w.Messages.Add(1)
		}
	})
	changes := make([]ranking.PlayerChange, len(people))
	for i, p := range people {
		changes[i] = AsNew(p)
	}
	w.Upsert(t, changes...)
	w.Wakes.Store(0)
	return w
}

// Upsert inserts or updates a chat and people. It looks up people whose player id is 0, and inserts
// them if they are not players yet.
func Upsert(ctx context.Context, store ranking.Store, chat ranking.Chat, changes []ranking.PlayerChange) error {
	q := ranking.Query{Chat: chat}
	for _, c := range changes {
		if c.Player.ID == 0 {
			q.People = append(q.People, command.Person{ID: c.Player.UserID, Username: c.Player.Username, Name: c.Player.Name})
		}
	}
	q.New = len(q.People)
	snap, err := store.Read(ctx, q)
	if err != nil {
		return err
	}
	seen := ranking.Seen{
		Chat: &chat, NewChat: snap.NewChat, NewGroup: snap.NewGroup, Group: snap.Group, Ladder: snap.Ladder,
	}
	added := snap.People
	for _, c := range changes {
		if c.Player.ID == 0 {
			c.Player.ID, c.New, added = added[0].Player.ID, added[0].New, added[1:]
		}
		seen.People = append(seen.People, c)
	}
	nothing := ranking.Decision{Presence: ranking.NoChange}
	return store.Apply(ctx, ranking.Changes{Decision: nothing, Seen: seen, Keyless: true, Chat: snap.ChatID})
}

// Upsert inserts or updates people, and the club.
func (w *World) Upsert(t *testing.T, changes ...ranking.PlayerChange) {
	t.Helper()
	Must(t, Upsert(t.Context(), w.Store, Club, changes))
}

// Read reads the club's facts about these people.
func (w *World) Read(t *testing.T, people ...command.Person) *ranking.Snapshot {
	t.Helper()
	snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "unused", Chat: Club, Needs: ranking.Needs{People: people}})
	Must(t, err)
	return snap
}

// Match returns the changes that record a match in which the first person of the snapshot beats the
// second. key is its idempotency key. The winner gains 16 points and the loser loses 16.
func Match(snap *ranking.Snapshot, key string) ranking.Changes {
	m := &ranking.NewMatch{
		Key: key, Group: snap.Group, Ladder: snap.Ladder.ID, Season: snap.Ladder.Season.ID,
		Played: ladder.Played{
			RatingRules: snap.Ladder.RatingRules, Result: ladder.Result{Score: ladder.Score{A: 3, B: 1}},
			PlayedAt: time.Unix(1_700_000_000, 0),
		},
		ReportedBy: snap.People[0].Player.ID,
		Card:       ranking.MatchRecorded{Sides: [2]ranking.Side{{Score: 3}, {Score: 1}}},
	}
	for i, k := range snap.People[:2] {
		before := ladder.Standing{Player: k.Player.ID, Name: k.Player.Name, Elo: 1500, StartElo: 1500, BestElo: 1500}
		if k.Standing != nil {
			before = *k.Standing
		}
		after := before
		after.Played++
		after.LastPlayed = m.PlayedAt
		if i == 0 {
			after.Elo, after.Won, after.Streak = before.Elo+16, before.Won+1, max(before.Streak, 0)+1
			after.Longest = max(before.Longest, after.Streak)
		} else {
			after.Elo, after.Lost, after.Streak = before.Elo-16, before.Lost+1, min(before.Streak, 0)-1
		}
		after.BestElo = max(after.BestElo, after.Elo)
		m.Players = append(m.Players, ladder.MatchPlayer{Side: i + 1, K: m.K, Before: before, After: after})
	}
	return ranking.Changes{
		Decision: ranking.Decision{Effect: ranking.NewMatches{m}},
		Key:      key, Outcome: ranking.OutcomeRecorded, Chat: snap.ChatID, ReplyTo: 7, Thread: 8,
	}
}

// InLock calls do in a transaction that locks the club's group.
func InLock(ctx context.Context, store ranking.Store, do func(ranking.Locked, *ranking.Snapshot) error) error {
	locked, snap, err := store.Lock(ctx, ranking.Query{Chat: Club, KnownChat: true})
	if err != nil {
		return err
	}
	defer locked.Release(ctx)
	return do(locked, snap)
}

// Play records that a beats b, in a match with the given idempotency key.
func (w *World) Play(t *testing.T, key string, a, b command.Person) {
	t.Helper()
	Must(t, w.Store.Apply(t.Context(), Match(w.Read(t, a, b), key)))
}

// tables lists the tables that World.Contents reads.
var tables = []string{
	"chats", "chat_aliases", "groups", "ladders", "players", "sightings", "group_players", "matches", "match_players",
	"match_fixes", "match_messages", "elo_history", "handled_commands", "outbox", "prompts", "timers", "dead_letters",
}

// Contents returns all rows of the main tables as text, by table.
func (w *World) Contents(t *testing.T) map[string][]string {
	t.Helper()
	selects := make([]string, len(tables))
	for i, table := range tables {
		selects[i] = fmt.Sprintf("SELECT ARRAY['%s', r::text] FROM %[1]s r", table)
	}
	all := make(map[string][]string)
	for _, row := range Values[[]string](t, w.Pool, strings.Join(selects, " UNION ALL ")+" ORDER BY 1") {
		all[row[0]] = append(all[row[0]], row[1])
	}
	return all
}

// DefaultLadders adds the default ladder, with its first season, to each group that has none.
const DefaultLadders = `
	WITH l AS (
	    INSERT INTO ladders (group_id, is_default, season_id)
	    SELECT id, true, nextval('seasons_id_seq') FROM groups g
	    WHERE NOT EXISTS (SELECT FROM ladders WHERE group_id = g.id AND is_default) ORDER BY id RETURNING *)
	INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE
	SELECT season_id, group_id, id, 1 FROM l;`

// PadelLadders returns a statement that adds the ladder padel, with its first season, to the groups
// that meet a condition.
func PadelLadders(groups string) string {
	return `
	WITH l AS (
	    INSERT INTO ladders (group_id, is_default, name, season_id)
	    SELECT id, false, 'padel', nextval('seasons_id_seq') FROM groups WHERE ` + groups + ` ORDER BY id RETURNING *)
	INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE
	SELECT season_id, group_id, id, 1 FROM l;`
}

// Upgraded is the supergroup that the club becomes.
var Upgraded = ranking.Chat{ID: -1_000_100, Kind: ranking.Supergroup, Title: "Club+"}

// ID returns the id of the player with this display name.
func (w *World) ID(t *testing.T, name string) ladder.PlayerID {
	t.Helper()
	return Value[ladder.PlayerID](t, w.Pool, `SELECT id FROM players WHERE display_name = $1`, name)
}

// Ladder returns the id of the default ladder of a chat, 0 for none.
func Ladder(t *testing.T, pool *pgxpool.Pool, chat ranking.ExternalChatID) ladder.ID {
	t.Helper()
	ids := Values[ladder.ID](t, pool, `
		SELECT l.id FROM ladders l JOIN groups g ON g.id = l.group_id AND l.is_default WHERE g.chat_id = coalesce(
		    (SELECT id FROM chats WHERE telegram_chat_id = $1),
		    (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $1))`, chat)
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}
