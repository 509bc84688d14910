package postgres_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// ignore is for stores without a dispatcher.
func ignore(outbox.Lane) {}

// The chat that most tests play in, and who is there. Zoe has no username.
var (
	club  = ranking.Chat{ID: -100, Kind: ranking.Group, Title: "Club"}
	alice = ranking.Person{ID: 1, Username: "alice", Name: "Alice"}
	bob   = ranking.Person{ID: 2, Username: "bob", Name: "Bob"}
	carol = ranking.Person{ID: 3, Username: "carol", Name: "Carol"}
	zoe   = ranking.Person{ID: 26, Name: "Zoe"}
)

// asNew is the change that inserts a person.
func asNew(p ranking.Person) ranking.PlayerChange {
	return ranking.PlayerChange{Player: ranking.Player{UserID: p.ID, Username: p.Username, Name: p.Name}}
}

// world is a migrated database with a store.
type world struct {
	url   string
	pool  *pgxpool.Pool
	store *postgres.Store
	wakes atomic.Int64 // how often the store has called committed
}

func newWorld(t *testing.T, people ...ranking.Person) *world {
	t.Helper()
	return newWorldIn(t, pgtest.Borrow(t), people...)
}

func newWorldIn(t *testing.T, d *pgtest.Database, people ...ranking.Person) *world {
	t.Helper()
	w := &world{url: d.URL, pool: d.Pool}
	w.store = postgres.NewStore(w.pool, func(outbox.Lane) { w.wakes.Add(1) })
	changes := make([]ranking.PlayerChange, len(people))
	for i, p := range people {
		changes[i] = asNew(p)
	}
	w.introduce(t, changes...)
	return w
}

func (w *world) introduce(t *testing.T, changes ...ranking.PlayerChange) {
	t.Helper()
	if err := w.store.UpsertChatAndPlayers(t.Context(), club, changes); err != nil {
		t.Fatal(err)
	}
}

func (w *world) read(t *testing.T, people ...ranking.Person) ranking.Snapshot {
	t.Helper()
	snap, err := w.store.Read(t.Context(), ranking.Query{Key: "unused", Chat: club, People: people})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// match returns the changes by which the first person of the snapshot beats the second, 16 points either way.
func match(snap ranking.Snapshot, key string) ranking.Changes {
	m := &ranking.NewMatch{
		Group: snap.Group, Ladder: snap.Ladder.ID, Result: ranking.Result{Score: ranking.Score{A: 3, B: 1}}, K: snap.Ladder.K,
		ReportedBy: snap.People[0].Player.ID, PlayedAt: time.Unix(1_700_000_000, 0),
	}
	for i, k := range snap.People[:2] {
		before := ranking.Standing{Player: k.Player.ID, Name: k.Player.Name, Elo: 1500, StartElo: 1500, BestElo: 1500}
		if k.Standing != nil {
			before = *k.Standing
		}
		after := before
		after.Played++
		if i == 0 {
			after.Elo, after.Won, after.Streak = before.Elo+16, before.Won+1, max(before.Streak, 0)+1
		} else {
			after.Elo, after.Lost, after.Streak = before.Elo-16, before.Lost+1, min(before.Streak, 0)-1
		}
		after.BestElo = max(after.BestElo, after.Elo)
		m.Players = append(m.Players, ranking.MatchPlayer{Side: i + 1, Before: before, After: after})
	}
	return ranking.Changes{
		Key: key, Chat: snap.ChatID, Effect: m, ReplyTo: 7, Thread: 8,
		Notice: ranking.MatchRecorded{Sides: [2]ranking.Side{{Score: 3}, {Score: 1}}},
	}
}

// play records that a beats b.
func (w *world) play(t *testing.T, key string, a, b ranking.Person) {
	t.Helper()
	if err := w.store.Apply(t.Context(), match(w.read(t, a, b), key)); err != nil {
		t.Fatal(err)
	}
}

// tables are the tables that commands write to.
var tables = []string{
	"chats", "chat_aliases", "groups", "ladders", "players", "group_players", "matches", "match_players", "match_fixes",
	"match_messages", "elo_history", "handled_commands", "outbox", "dead_letters",
}

// contents returns all rows of all tables.
func (w *world) contents(t *testing.T) map[string][]string {
	t.Helper()
	selects := make([]string, len(tables))
	for i, table := range tables {
		selects[i] = fmt.Sprintf("SELECT ARRAY['%s', r::text] FROM %[1]s r", table)
	}
	all := make(map[string][]string)
	for _, row := range values[[]string](t, w.pool, strings.Join(selects, " UNION ALL ")+" ORDER BY 1") {
		all[row[0]] = append(all[row[0]], row[1])
	}
	return all
}

// upgraded is the club as a supergroup.
var upgraded = ranking.Chat{ID: -1_000_100, Kind: ranking.Supergroup, Title: "Club+"}

// id returns the id of the player of that name.
func (w *world) id(t *testing.T, name string) ranking.PlayerID {
	t.Helper()
	return value[ranking.PlayerID](t, w.pool, `SELECT id FROM players WHERE display_name = $1`, name)
}
