package ranking_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

var (
	club  = ranking.Chat{ID: -100, Kind: ranking.Group, Title: "Club"}
	alice = command.Person{ID: 1, Username: "alice", Name: "Alice"}
	bob   = command.Person{ID: 2, Username: "bob", Name: "Bob"}
	carol = command.Person{ID: 3, Username: "carol", Name: "Carol"}
	zoe   = command.Person{ID: 26, Name: "Zoe"}
)

// singles returns a report of a match between two people.
func singles(a, b command.Person, scoreA, scoreB int) command.Match {
	return command.Match{A: []command.Person{a}, B: []command.Person{b}, Scores: []ladder.Score{{A: scoreA, B: scoreB}}}
}

// origin returns the origin of a command with a new key.
func (g *game) origin(sender *command.Person) ranking.Origin {
	g.keys++
	return from(sender, fmt.Sprintf("m:%d", g.keys))
}

func from(sender *command.Person, key string) ranking.Origin {
	return ranking.Origin{
		Key: key, Chat: club, Sender: sender, SentAt: time.Unix(1_700_000_000, 0),
		Place: ranking.Place{ReplyTo: 7, Thread: 8},
	}
}

func (g *game) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	dbtest.Exec(t, g.pool, sql, args...)
}

func rows[T any](t *testing.T, g *game, sql string, args ...any) []T {
	t.Helper()
	found, err := g.pool.Query(t.Context(), sql, args...)
	must(t, err)
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[T])
	must(t, err)
	return all
}

func (g *game) count(t *testing.T, table string) int {
	t.Helper()
	return dbtest.Value[int](t, g.pool, "SELECT count(*) FROM "+table)
}

var must, equal = dbtest.Must, dbtest.Equal

// has checks the number of rows. rows is a table, optionally with a WHERE clause.
func (g *game) has(t *testing.T, want int, rows string) {
	t.Helper()
	if n := g.count(t, rows); n != want {
		t.Errorf("%d of %s, want %d", n, rows, want)
	}
}

// record reports a match and returns the answer.
func (g *game) record(t *testing.T, sender *command.Person, a, b command.Person, scoreA, scoreB int) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.RecordMatch(t.Context(), o, singles(a, b, scoreA, scoreB)))
	return g.notice(t, o.Key)
}

// doubt sends a report that the bot must ask about.
func (g *game) doubt(t *testing.T, o ranking.Origin, q command.Report) {
	t.Helper()
	must(t, g.Do(t.Context(), o, ranking.ReadReport{Parsed: &ranking.Parsed{Ambiguous: &q}}))
}

// isForWizard has a person reply to a wizard with words that answer nothing, and reports whether
// the bot takes the reply as a command. The bot does so if the wizard is open and asks that person.
func (g *game) isForWizard(t *testing.T, sender *command.Person, ref ranking.PromptRef) bool {
	t.Helper()
	o := saying(g.origin(sender), "match", "")
	must(t, g.Do(t.Context(), o, ranking.ReplyToWizard{Wizard: ref}))
	notices := g.count(t, fmt.Sprintf("outbox WHERE key = '%s'", o.Key))
	if keys := g.count(t,
		fmt.Sprintf("handled_commands WHERE key = '%s' AND outcome = 'refused'", o.Key)); keys != notices {
		t.Errorf("the reply %s leaves %d keys and %d notices", o.Key, keys, notices)
	}
	return notices == 1
}

// notice returns the newest reply to the command with the key.
func (g *game) notice(t *testing.T, key string) ranking.Notice {
	t.Helper()
	return g.answer(t, key, "reply_to = 7 AND thread_id = 8")
}

// answer returns the newest notice that was committed with the command's key and meets an SQL
// condition.
func (g *game) answer(t *testing.T, key, which string) ranking.Notice {
	t.Helper()
	var kind string
	var payload []byte
	err := g.pool.QueryRow(t.Context(), `
		SELECT kind, payload FROM outbox
		WHERE xmin = (SELECT xmin FROM handled_commands WHERE key = $1) AND `+which+`
		ORDER BY id DESC LIMIT 1`, key).Scan(&kind, &payload)
	if err != nil {
		t.Fatalf("no answer was committed with the key %s: %v", key, err)
	}
	if notice.Type(kind) == nil {
		t.Fatalf("unknown kind of notice %q", kind)
	}
	n := reflect.New(notice.Type(kind))
	g.decode(t, payload, n.Interface())
	return n.Elem().Interface()
}

// notices returns the stored notices that meet an SQL condition, oldest first.
func notices[T ranking.Notice](t *testing.T, g *game, which string, args ...any) []T {
	t.Helper()
	var all []T
	for _, payload := range texts(t, g, `SELECT payload::text FROM outbox WHERE `+which+` ORDER BY id`, args...) {
		var n T
		g.decode(t, []byte(payload), &n)
		all = append(all, n)
	}
	return all
}

// decode decodes a stored notice into n, and fills in the names of the players.
func (g *game) decode(t *testing.T, payload []byte, n any) {
	t.Helper()
	var fields map[string]any
	must(t, json.Unmarshal(payload, &fields))
	g.namePlayers(t, fields)
	named, err := json.Marshal(fields)
	must(t, err)
	must(t, json.Unmarshal(named, n))
}

// namePlayers replaces the ids of players with their names, at any depth.
func (g *game) namePlayers(t *testing.T, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			g.namePlayers(t, v)
		}
	case map[string]any:
		if id, ok := value["player"].(float64); ok {
			delete(value, "player")
			value["name"] = texts(t, g, `
				SELECT coalesce((SELECT s.name FROM group_players s WHERE s.player_id = p.id ORDER BY s.id LIMIT 1), p.display_name)
				FROM players one JOIN players p ON p.id = coalesce(one.merged_into, one.id) WHERE one.id = $1`, int64(id))[0]
		}
		for _, v := range value {
			g.namePlayers(t, v)
		}
	}
}

// untagged is an option that ignores tags, because tags have tests of their own.
var untagged = cmpopts.IgnoreTypes(ranking.MatchTag(""))

func checkNotice(t *testing.T, got, want ranking.Notice) {
	t.Helper()
	equal(t, "notice", want, got, cmpopts.EquateEmpty(), untagged)
}

type logRecords struct {
	slog.Handler
	mu  sync.Mutex
	all []map[string]any
}

func (r *logRecords) Enabled(context.Context, slog.Level) bool { return true }

func (r *logRecords) Handle(_ context.Context, record slog.Record) error {
	attrs := map[string]any{"level": record.Level, "msg": record.Message}
	record.Attrs(func(a slog.Attr) bool {
		attrs[a.Key] = a.Value.Resolve().Any()
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, attrs)
	return nil
}

func verify(t testing.TB, store *pgranking.Store) (found []ranking.Finding) {
	t.Helper()
	err := ranking.Verify(context.WithoutCancel(t.Context()), store, 0,
		func(f ranking.Finding) { found = append(found, f) }, func(ranking.Progress) {})
	must(t, err)
	return found
}
