package dbtest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
)

// Statement is an SQL statement with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// Recorder is a tracer that records statements. Set it as the Tracer in the configuration of a
// pool.
type Recorder struct {
	mu   sync.Mutex
	sent []Statement
}

func (r *Recorder) add(sql string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, Statement{sql, args})
}

// Take returns the statements that were recorded since the last call of Take.
func (r *Recorder) Take() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *Recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	r.add(d.SQL, d.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *Recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (r *Recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, q := range d.Batch.QueuedQueries {
		r.add(q.SQL, q.Arguments)
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (r *Recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (r *Recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Plans returns the server's plans for a statement, by description: the plan for its arguments, and
// the generic plan for any arguments.
func Plans(t *testing.T, pool *pgxpool.Pool, s Statement) map[string]string {
	t.Helper()
	specific := strings.Join(Values[string](t, pool, "EXPLAIN "+s.SQL, s.Args...), "\n")
	return map[string]string{"these arguments": specific, "any arguments": genericPlan(t, pool, s)}
}

func genericPlan(t *testing.T, pool *pgxpool.Pool, s Statement) string {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	Must(t, err)
	defer conn.Release()
	execute := "EXPLAIN EXECUTE any_arguments"
	if n := len(s.Args); n > 0 {
		execute += "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
	}
	for _, sql := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE any_arguments AS " + s.SQL} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	rows, err := conn.Query(t.Context(), execute)
	Must(t, err)
	generic, err := pgx.CollectRows(rows, pgx.RowTo[string])
	Must(t, err)
	Exec(t, conn, "DEALLOCATE any_arguments; RESET plan_cache_mode")
	return strings.Join(generic, "\n")
}

var (
	// TableScan matches the scan of a whole table in a plan. Its capture group is the table's name.
	TableScan = regexp.MustCompile(`Seq Scan on (\w+)`)
	indexScan = regexp.MustCompile(`Index (?:Only )?Scan (?:Backward )?using \w+ on (\w+)`)
)

// Scanned returns the names of the tables that a plan reads completely, either directly or through
// a whole index. An index scan directly below a LIMIT does not count. A name may occur several
// times.
func Scanned(plan string) (tables []string) {
	lines := slices.DeleteFunc(strings.Split(plan, "\n"), func(l string) bool { return strings.Contains(l, "Buffers:") })
	lines = append(lines, "")
	for i, line := range lines {
		m := TableScan.FindStringSubmatch(line)
		if index := indexScan.FindStringSubmatch(line); index != nil &&
			!strings.Contains(lines[max(0, i-1)], "Limit") && !strings.Contains(lines[i+1], "Index Cond") {
			m = index
		}
		if m != nil && m[1] != "waiting" && m[1] != "ladder" { // these are names of CTEs
			tables = append(tables, m[1])
		}
	}
	return tables
}

// years fills the database as several years of use would. There are 160 groups with 60 players and
// 50 matches each, 3,840 groups with one player and no matches, and 16,000 private chats. 3,000
// notices wait in ten chats. Each group has had another id. One player in seven is unclaimed. In
// match n of a ladder, player n+1 of the ladder beats player n+2 and reports the match.
const years = `
	INSERT INTO chats (telegram_chat_id, kind, title) SELECT -n, 'group', 'Club ' || n FROM generate_series(1, 160) n;
	INSERT INTO groups (chat_id, last_match_number) SELECT id, 50 FROM chats;
	` + DefaultLadders + `
	INSERT INTO chats (telegram_chat_id, kind) SELECT n, 'private' FROM generate_series(1, 16000) n;
	INSERT INTO chats (telegram_chat_id, kind) SELECT -n, 'group' FROM generate_series(161, 4000) n;
	INSERT INTO groups (chat_id) SELECT id FROM chats WHERE telegram_chat_id < -160;
	INSERT INTO chat_aliases SELECT telegram_chat_id - 1000000, id FROM chats WHERE telegram_chat_id < 0;
	INSERT INTO players (telegram_user_id, username, display_name)
	    SELECT n, 'user_' || n, 'Name ' || n % 3000 FROM generate_series(1, 16000) n;
	INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, played, won, lost, last_played_at)
	    SELECT l.id, 1 + (l.id * 37 + n * 331) % 16000, 'Name ' || n % 50, 1400 + (n * 7 + l.id) % 200, 1500, 1700,
	           2 + n % 6, 1 + n % 6, 1, now()
	    FROM ladders l, generate_series(1, 60) n;
	INSERT INTO matches
	    (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, reported_by, played_at, idempotency_key)
	    SELECT l.group_id, l.id, l.id, n, 3, 1, 32, 1 + (l.id * 37 + (n + 1) * 331) % 16000, now(),
	           'm:-' || l.id || ':' || n
	    FROM ladders l, generate_series(1, 50) n;
	INSERT INTO match_players SELECT m.id, 1 + (m.ladder_id * 37 + (m.number + side) * 331) % 16000, side, 1
	    FROM matches m, generate_series(1, 2) side;
	INSERT INTO elo_history
	    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
	    SELECT match_id, player_id, 1500, 1548 - 32 * side, 32, 1700, 0, 0, 'match' FROM match_players;
	INSERT INTO match_messages SELECT -ladder_id, number, id FROM matches WHERE number <= 40;
	INSERT INTO match_fixes (match_id, old_score_a, old_score_b, new_score_a, new_score_b)
	    SELECT id, 1, 3, 3, 1 FROM matches WHERE number % 10 = 0;
	UPDATE players p SET telegram_user_id = NULL, group_id = coalesce((
	    SELECT l.group_id FROM group_players s JOIN ladders l ON l.season_id = s.season_id
	        WHERE s.player_id = p.id LIMIT 1), 1)
	    WHERE id % 7 = 3;
	INSERT INTO sightings SELECT l.group_id, s.player_id, p.username, now() FROM group_players s
	    JOIN ladders l ON l.season_id = s.season_id JOIN players p ON p.id = s.player_id
	    WHERE p.telegram_user_id IS NOT NULL;
	INSERT INTO handled_commands (key, outcome) SELECT idempotency_key, 'recorded' FROM matches;
	INSERT INTO outbox (chat_id, kind, payload, state, finished_at)
	    SELECT 1 + n % 160, 'k', '{}', 'sent', now() FROM generate_series(1, 15000) n;
	INSERT INTO outbox (chat_id, kind, payload) SELECT 1 + n % 10, 'k', '{}' FROM generate_series(1, 3000) n;
	INSERT INTO leases SELECT 'other ' || n, 'x', 1, now() FROM generate_series(1, 2000) n;
	INSERT INTO ensured_messages SELECT n, 'board', 5, '' FROM generate_series(1, 5000) n;
	INSERT INTO prompts (id, chat_id, kind, match_id, delivered_at, telegram_message_id, closed_at, closed_as)
	    SELECT n, 1 + n % 4000, 'undo', n, now(), n, CASE WHEN n > 100 THEN now() END,
	           CASE WHEN n > 100 THEN 'answered' END
	    FROM generate_series(1, 8000) n;
	INSERT INTO timers
	    SELECT 't:prompt:' || n, 1 + n % 4000, now() + n * interval '1 hour' FROM generate_series(1, 8000) n;
	` + DefaultLadders + `
	INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
	    SELECT id, 1 + id * 37 % 16000, 'Name', 1500, 1500, 1500 FROM ladders WHERE id > 160`

// filled holds the URL of the database that fill has filled with years. The URL is empty before
// that.
var filled struct {
	mu  sync.Mutex
	url string
}

// NewYears returns two pools for a new database that contains several years of use. The first pool
// records its statements with rec.
func NewYears(t *testing.T, rec *Recorder) (recorded, plain *pgxpool.Pool) {
	t.Helper()
	url := pgtest.Copy(t, fill(t))
	return Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.Tracer = rec }), Open(t, url)
}

func fill(t *testing.T) string {
	t.Helper()
	filled.mu.Lock()
	defer filled.mu.Unlock()
	if filled.url == "" {
		url := pgtest.NewLasting(t)
		pool := Open(t, url)
		FillFast(t, pool, years)
		Exec(t, pool, TheLease)
		Exec(t, pool, "VACUUM ANALYZE "+strings.Join(tables, ", ")+", leases, ensured_messages")
		pool.Close() // a database with connections cannot be a template
		filled.url = url
	}
	return filled.url
}

// FillFast runs SQL that inserts very many rows. It checks the foreign keys all at once afterward,
// which halves the time.
func FillFast(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	const foreignKeys = `
		SELECT string_agg(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname), '; '),
		       string_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s',
		           conrelid::regclass, conname, pg_get_constraintdef(oid)), '; ')
		FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`
	var without, with string
	Must(t, pool.QueryRow(t.Context(), foreignKeys).Scan(&without, &with))
	Exec(t, pool, without+";"+sql+";"+with)
}

// Explained is a command for MustNotScan.
type Explained struct {
	Name string
	Run  func(ctx context.Context) error
	Want int // how many statements Run must send, or -1 for any number
}

// MustNotScan runs the commands, one after the other, and checks the plans of the statements that
// rec has recorded. The plans must use indexes in the database of plain, and also in a new
// database: sessions may keep a plan for small tables while the tables grow.
func MustNotScan(t *testing.T, plain *pgxpool.Pool, rec *Recorder, commands []Explained) {
	t.Helper()
	empty := Open(t, pgtest.New(t), LikeCommands)
	for _, c := range commands {
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		sent := rec.Take()
		if len(sent) != c.Want && c.Want >= 0 {
			t.Errorf("%s: recorded %d statements, want %d", c.Name, len(sent), c.Want)
		}
		for _, s := range sent {
			switch strings.ToLower(strings.Fields(s.SQL)[0]) {
			case "begin", "commit", "rollback":
				continue
			}
			plans := Plans(t, plain, s)
			plans["a new database"] = genericPlan(t, empty, s)
			for kind, plan := range plans {
				if tables := Scanned(plan); len(tables) > 0 {
					t.Errorf("%s scans %v for %s:\n%s\n%s", c.Name, tables, kind, s.SQL, plan)
				}
			}
		}
	}
}
