package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

func TestMain(m *testing.M) {
	// These tests mostly wait for the database. A value on the command line takes precedence.
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set the number of tests at the same time:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(pgtest.Main{M: m, Session: postgres.Planning})
}

// maxWait bounds every wait of a test; no wait takes that long unless something is wrong.
const maxWait = time.Minute

// open returns a pool of a few connections, whose configuration adjust may change.
func open(t *testing.T, url string, adjust ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	for _, a := range adjust {
		a(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// ignore is for stores without a dispatcher.
func ignore(outbox.Lane) {}

func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func value[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func values[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) []T {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// begin begins a transaction that does not outlive the test.
func begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	})
	return tx
}

// await polls until the condition, a query that yields a boolean, holds.
func await(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	deadline := time.After(maxWait)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !value[bool](t, pool, sql, args...) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("condition never held: %s", sql)
		}
	}
}

// receive waits for a value from another goroutine.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(maxWait):
		t.Fatal("received nothing")
		panic("unreachable")
	}
}

// start runs f in a goroutine and returns the channel of its error.
func start(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// The chat that most tests play in, and who is there. Zoe has no username.
var (
	club  = ranking.Chat{ID: -100, Kind: ranking.Group, Title: "Club"}
	alice = ranking.Person{ID: 1, Username: "alice", Name: "Alice"}
	bob   = ranking.Person{ID: 2, Username: "bob", Name: "Bob"}
	carol = ranking.Person{ID: 3, Username: "carol", Name: "Carol"}
	zoe   = ranking.Person{ID: 26, Name: "Zoe"}
)

// aliceBeatsBob is a report that needs no more than those two.
var aliceBeatsBob = ranking.Report{
	A: []ranking.Person{alice}, B: []ranking.Person{bob}, Scores: []ranking.Score{{A: 3, B: 1}},
}

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

// recorded returns the new match among the changes.
func recorded(c *ranking.Changes) *ranking.NewMatch { return c.Effect.(*ranking.NewMatch) }

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

func TestOpenWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	url := pgtest.Empty(t)
	pool, err := postgres.Open(t.Context(), url, maxWait, log)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if got := value[string](t, pool, "SHOW application_name"); got != "elobot" {
		t.Errorf("application_name is %q", got)
	}
	if got := value[string](t, pool, "SHOW lock_timeout"); got != "1500ms" { // several fit into one attempt
		t.Errorf("lock_timeout is %q", got)
	}
	for name, tc := range map[string]struct {
		url     string
		maxWait time.Duration
	}{
		"malformed":        {"postgres://user:secret@host:nonsense/x", maxWait},
		"no such database": {rename(t, url, "/there_is_no_such_database"), maxWait},
		"nobody there":     {closedPort(t), 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			pool, err := postgres.Open(t.Context(), tc.url, tc.maxWait, log)
			if err == nil {
				pool.Close()
				t.Fatal("no error")
			}
			if tc.maxWait == maxWait && time.Since(begun) > maxWait/2 {
				t.Errorf("retried a permanent failure for %s", time.Since(begun))
			}
		})
	}
}

// TestOpenRetries starts the server, from the client's point of view, after the first attempt.
func TestOpenRetries(t *testing.T) {
	t.Parallel()
	p := newProxy(t, pgtest.Empty(t))
	p.refuse.Store(true)
	logged := make(chan struct{}, 1)
	log := slog.New(onLog(func() {
		p.refuse.Store(false)
		logged <- struct{}{}
	}))
	pool, err := postgres.Open(t.Context(), p.url, maxWait, log)
	if err != nil {
		t.Fatal(err)
	}
	pool.Close()
	receive(t, logged)
}

// onLog is a handler that calls a function for each record.
type onLog func()

func (f onLog) Enabled(context.Context, slog.Level) bool  { return true }
func (f onLog) Handle(context.Context, slog.Record) error { f(); return nil }
func (f onLog) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f onLog) WithGroup(string) slog.Handler             { return f }
