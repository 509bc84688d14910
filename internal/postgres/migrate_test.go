package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/migrations"
)

var silent = slog.New(slog.DiscardHandler)

// schema returns a line for each object in the schema that the migrations create.
func schema(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return dbtest.Values[string](t, pool, `
		SELECT 'table ' || c.relname || ' ' || c.relkind::text || ' ' || c.relpersistence::text
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
		UNION ALL
		SELECT 'column ' || a.attrelid::regclass || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		       || coalesce((SELECT ' ' || collname FROM pg_collation WHERE oid = a.attcollation), '')
		       || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || ' ' || a.attidentity::text
		       || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' ' || row_number() OVER
		              (PARTITION BY a.attrelid ORDER BY a.attnum)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r'
		UNION ALL
		SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
		FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION ALL
		SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL
		SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL
		SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL
		SELECT 'type ' || typname FROM pg_type
		WHERE typnamespace = 'public'::regnamespace AND typtype <> 'c' AND typcategory <> 'A'
		ORDER BY 1`)
}

// state returns the version of the database, and whether that version is dirty.
func state(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	return strings.Join(dbtest.Values[string](t, pool, `SELECT version || ' ' || dirty FROM schema_migrations`), ", ")
}

func TestMigrationsUpDownUp(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, pool, migrations.FS)
	want := schema(t, pool)
	if len(want) < 100 {
		t.Fatalf("the migrations created only %d objects: %v", len(want), want)
	}
	dbtest.Migrate(t, pool, migrations.FS) // nothing to do
	names, err := fs.Glob(migrations.FS, "*.down.sql")
	dbtest.Must(t, err)
	for i := len(names) - 1; i >= 0; i-- {
		down, err := fs.ReadFile(migrations.FS, names[i])
		dbtest.Must(t, err)
		dbtest.Exec(t, pool, string(down))
	}
	for _, left := range schema(t, pool) {
		if !strings.Contains(left, "schema_migrations") {
			t.Errorf("left after all the way down: %s", left)
		}
	}
	dbtest.Exec(t, pool, "TRUNCATE schema_migrations")
	dbtest.Migrate(t, pool, migrations.FS)
	dbtest.Equal(t, "after up, down, up", want, schema(t, pool))
}

// newStep returns a new database at the newest version, and a function that runs the migration of a
// step there. The direction is "up" or "down".
func newStep(t *testing.T, step string) (pool *pgxpool.Pool, run func(direction string)) {
	t.Helper()
	pool = dbtest.Open(t, pgtest.New(t))
	return pool, func(direction string) {
		t.Helper()
		sql, err := fs.ReadFile(migrations.FS, step+"."+direction+".sql")
		dbtest.Must(t, err)
		dbtest.Exec(t, pool, string(sql))
	}
}

// TestKeysCompareByBytes checks that unique indexes do not depend on the rules of a language, which
// change with the server's C library. The only exceptions are some indexes of names, because these
// ignore case.
func TestKeysCompareByBytes(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000212_keys_by_bytes")
	// collations returns the collation of each column of a unique index, and of each expression.
	collations := func() []string {
		return dbtest.Values[string](t, pool, `
			SELECT DISTINCT coalesce(i.indrelid::regclass || '.' || a.attname, i.indexrelid::regclass::text) || ' ' || c.collname
			FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indcollation::oid[]) AS k (attnum, oid)
			JOIN pg_collation c ON c.oid = k.oid
			LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND a.attnum > 0
			JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = 'public'::regnamespace
			WHERE i.indisunique ORDER BY 1`)
	}
	keys := []string{
		"ensured_messages.object", "handled_commands.key", "leases.name", "matches.idempotency_key", "outbox.supersede_key", "timers.key",
	}
	names := []string{
		"ladders_name_key default", "players.folded C", "players_unclaimed_key default", "sightings_username_key default",
	}
	check := func(when, collation string) {
		t.Helper()
		want := slices.Clone(names)
		for _, key := range keys {
			want = append(want, key+" "+collation)
		}
		slices.Sort(want)
		dbtest.Equal(t, when, want, collations())
	}
	check("after all migrations", "C")
	for _, step := range []struct{ direction, collation string }{{"down", "default"}, {"up", "C"}} {
		run(step.direction)
		check("after the step "+step.direction, step.collation)
	}
}

// TestResultsWithoutScoreDown checks that the down migration turns results without a score into
// 1:0, 0:1 or 0:0, in matches and in fixes. It deletes a fix that would then change nothing.
func TestResultsWithoutScoreDown(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000202_results_without_score")
	dbtest.Exec(t, pool, oneOfEach)
	dbtest.Exec(t, pool, `
		INSERT INTO matches (group_id, ladder_id, season_id, number, winner, k_factor, played_at, idempotency_key)
		SELECT 1, 1, 1, 2 + winner, winner, 32, now(), 'm:-100:' || (2 + winner) FROM generate_series(0, 2) AS winner;
		DELETE FROM match_fixes;
		INSERT INTO match_fixes (match_id, old_winner, new_winner) VALUES (1, 1, 2);
		INSERT INTO match_fixes (match_id, old_winner, new_score_a, new_score_b) VALUES (1, 2, 0, 1)`)
	run("down")
	got := dbtest.Values[string](t, pool, `SELECT concat_ws(' ', number, score_a, score_b) FROM matches ORDER BY number`)
	dbtest.Equal(t, "the matches", []string{"1 3 1", "2 0 0", "3 1 0", "4 0 1"}, got)
	got = dbtest.Values[string](t, pool, `
		SELECT concat_ws(' ', old_score_a, old_score_b, new_score_a, new_score_b) FROM match_fixes`)
	dbtest.Equal(t, "the fixes", []string{"1 0 0 1"}, got)
}

// TestNamelessPeople checks that the up migration renames people named after their own Telegram id
// to “…”, and the down migration restores their names.
func TestNamelessPeople(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000214_nameless")
	dbtest.Exec(t, pool, oneOfEach)
	dbtest.Exec(t, pool, `
		UPDATE players SET telegram_user_id = 7, display_name = 'Player 7' WHERE id = 1;
		UPDATE players SET display_name = 'Player 7' WHERE id = 2;
		UPDATE group_players SET name = display_name FROM players p WHERE p.id = player_id`)
	names := func() []string {
		t.Helper()
		return dbtest.Values[string](t, pool, `
			SELECT concat_ws(', ', p.id, display_name, s.name)
			FROM players p LEFT JOIN group_players s ON s.player_id = p.id WHERE p.id <= 2 ORDER BY p.id`)
	}
	before := names()
	for _, tc := range []struct {
		direction string
		want      []string
	}{{"up", []string{"1, …, …", before[1]}}, {"down", before}} {
		run(tc.direction)
		dbtest.Equal(t, tc.direction, tc.want, names())
	}
}

// TestParkedForGood checks that, after the migration, chats that the previous release had parked
// for good are no longer parked, except chats that the bot has left.
func TestParkedForGood(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000213_parked_until")
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind, parked_at, parked_until, parkings, is_active)
		VALUES (1, 'private', NULL, NULL, 0, true),
		    (2, 'private', now(), now() + interval '1 hour', 2, true), (3, 'private', now(), now(), 1, false)`)
	run("down")
	run("up")
	got := dbtest.Values[string](t, pool, `
		SELECT concat_ws(' ', telegram_chat_id, parked_at IS NOT NULL, parkings, `+postgres.Parked+`)
		FROM chats c ORDER BY telegram_chat_id`)
	dbtest.Equal(t, "chats that were refused, how often, and that are parked",
		[]string{"1 f 0 f", "2 t 0 f", "3 t 0 t"}, got)
}

// TestMigratedHalves checks that the down migration removes half points from the scores of matches
// and fixes, and removes all sets of a match in which a game was drawn. The next up migration
// changes nothing.
func TestMigratedHalves(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000216_halves")
	dbtest.Exec(t, pool, `
		WITH chat AS (INSERT INTO chats (telegram_chat_id, kind) VALUES (-1, 'group') RETURNING id)
		INSERT INTO groups (chat_id) SELECT id FROM chat`)
	dbtest.Exec(t, pool, dbtest.DefaultLadders)
	dbtest.Exec(t, pool, `
		INSERT INTO matches
		    (group_id, ladder_id, season_id, number, score_a, score_b, sets, k_factor, played_at, idempotency_key)
		SELECT group_id, id, season_id, n, (ARRAY[1002, 2, 3])[n], (ARRAY[1000, 1, 0])[n],
		       (ARRAY['{{1,0},{1,0},{1000,1000}}', '{{1,0},{1000,1000},{1000,1000}}',
		              '{{11,7},{11,9},{11,5}}'])[n]::smallint[], 32, now(), n
		FROM ladders, generate_series(1, 3) n`)
	dbtest.Exec(t, pool, `
		INSERT INTO match_fixes (match_id, old_score_a, old_score_b, new_score_a, new_score_b)
		SELECT m.id, a, 1000, 1002, 1000 FROM matches m, (VALUES (1001), (1003)) f (a) WHERE number = 1`)
	state := func() []string {
		t.Helper()
		return dbtest.Values[string](t, pool, `
			SELECT concat_ws(' ', score_a, score_b, sets) FROM matches
			UNION ALL SELECT concat_ws(' ', 'fix', old_score_a, old_score_b, new_score_a, new_score_b)
			FROM match_fixes ORDER BY 1`)
	}
	run("down")
	want := []string{"2 0", "2 1", "3 0 {{11,7},{11,9},{11,5}}", "fix 1 0 2 0", "fix 3 0 2 0"}
	dbtest.Equal(t, "down", want, state())
	run("up")
	dbtest.Equal(t, "up", want, state())
}

// TestWebSalt checks that the up migration gives a salt of its own to each web board that is on,
// and no salt to other groups. The down migration gives each group with a salt a random generation,
// so that no old link becomes valid again.
func TestWebSalt(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000215_web_salt")
	check := func(when, state string, want ...string) {
		t.Helper()
		got := dbtest.Values[string](t, pool, `SELECT concat_ws(' ', `+state+`) FROM groups ORDER BY id`)
		dbtest.Equal(t, when, want, got)
	}
	run("down")
	dbtest.Exec(t, pool, `
		WITH chat AS (INSERT INTO chats (telegram_chat_id, kind)
		    SELECT -n, 'group' FROM generate_series(1, 4) n RETURNING id, telegram_chat_id)
		INSERT INTO groups (chat_id, web_generation) SELECT id, (ARRAY[0, 2, 2, -3])[-telegram_chat_id] FROM chat`)
	run("up")
	check("up", `web_on, count(web_salt) OVER (PARTITION BY web_salt)`, "f 0", "t 1", "t 1", "f 0")
	dbtest.Exec(t, pool, `UPDATE groups SET web_on = false WHERE id = (SELECT min(id) FROM groups WHERE web_on)`)
	run("down")
	check("down", `sign(web_generation), abs(web_generation) > 1000`, "0 f", "-1 t", "1 t", "0 f")
}

// TestKeysOfEphemeralMessages checks that the up migration hashes the keys that have the sender of
// an ephemeral message, as the bot does, without what follows the key of a message's first match.
// Other keys stay.
func TestKeysOfEphemeralMessages(t *testing.T) {
	t.Parallel()
	pool, run := newStep(t, "000230_forget")
	run("down")
	dbtest.Exec(t, pool, `
		INSERT INTO handled_commands (key, outcome)
		SELECT unnest(ARRAY['u:-7:700:5', 'u:-7:700:5#2', 'u:12', 'm:-7:5']), 'recorded';
		WITH chat AS (INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group') RETURNING id)
		INSERT INTO groups (chat_id) SELECT id FROM chat`)
	dbtest.Exec(t, pool, dbtest.DefaultLadders)
	dbtest.Exec(t, pool, `
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		SELECT group_id, id, season_id, 1, 3, 1, 32, now(), 'u:-7:700:5#2' FROM ladders`)
	run("up")
	hashed := fmt.Sprintf("u:%x", sha256.Sum256([]byte("u:-7:700:5")))
	dbtest.Equal(t, "keys of commands", []string{"m:-7:5", hashed, hashed + "#2", "u:12"},
		dbtest.Values[string](t, pool, `SELECT key FROM handled_commands ORDER BY key`))
	dbtest.Equal(t, "keys of matches", []string{hashed + "#2"},
		dbtest.Values[string](t, pool, `SELECT idempotency_key FROM matches`))
}

func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	var instances errgroup.Group
	for range 3 {
		instances.Go(func() error { return postgres.Migrate(t.Context(), pool, migrations.FS, silent) })
	}
	dbtest.Must(t, instances.Wait())
	if got := state(t, pool); got != fmt.Sprintf("%d false", newestStep(t)) {
		t.Errorf("state is %q", got)
	}
}

// gate is the key of the advisory lock for which the second migration of withSecond waits.
const gate = 4242

// withSecond returns two migrations. The second one waits for the advisory lock gate before it
// ends.
func withSecond() fstest.MapFS {
	files := fstest.MapFS{
		"000001_first.up.sql":   &fstest.MapFile{Data: []byte("CREATE TABLE first (id int)")},
		"000001_first.down.sql": &fstest.MapFile{Data: []byte("DROP TABLE first")},
	}
	files["000002_gate.up.sql"] = &fstest.MapFile{Data: []byte(
		"CREATE TABLE half (id int); SELECT pg_advisory_xact_lock(4242); CREATE TABLE done (id int) -- no line end")}
	files["000002_gate.down.sql"] = &fstest.MapFile{Data: []byte("DROP TABLE done; DROP TABLE half;")}
	return files
}

// closeGate keeps the second migration running until open is called.
func closeGate(t *testing.T, pool *pgxpool.Pool) (open func()) {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	dbtest.Must(t, err)
	t.Cleanup(conn.Release)
	dbtest.Exec(t, conn, "SELECT pg_advisory_lock($1)", gate)
	return func() {
		t.Helper()
		dbtest.Exec(t, conn, "SELECT pg_advisory_unlock($1)", gate)
	}
}

const (
	atTheGate = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 4242
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
	atTheMigrationLock = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid <> 4242
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
	killTheOneAtTheGate = `SELECT bool_and(pg_terminate_backend(pid)) FROM pg_locks
		WHERE locktype = 'advisory' AND NOT granted AND objid = 4242
		  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
)

func mustBeAtTwo(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if got := state(t, pool); got != "2 false" {
		t.Errorf("state is %q, want 2 and not dirty", got)
	}
	if !dbtest.Value[bool](t, pool, "SELECT to_regclass('half') IS NOT NULL AND to_regclass('done') IS NOT NULL") {
		t.Error("the second step is incomplete")
	}
}

func TestMigrateKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	pool, files := dbtest.Open(t, pgtest.Empty(t)), withSecond()
	openGate := closeGate(t, pool)
	killed := dbtest.Start(func() error { return postgres.Migrate(t.Context(), pool, files, silent) })
	dbtest.Await(t, pool, "SELECT "+atTheGate)
	if !dbtest.Value[bool](t, pool, killTheOneAtTheGate) {
		t.Fatal("no connection was killed")
	}
	if err := dbtest.Receive(t, killed); err == nil {
		t.Error("a migration whose connection is killed succeeds")
	}
	if got := state(t, pool); got != "2 true" {
		t.Errorf("state after the kill is %q, want 2 and dirty", got)
	}
	if dbtest.Value[bool](t, pool, "SELECT to_regclass('half') IS NOT NULL") {
		t.Error("half a step was committed")
	}
	openGate()
	dbtest.Migrate(t, pool, files)
	mustBeAtTwo(t, pool)
}

// TestMigrateClientKilled checks that, if the client is killed during a step, the server still
// finishes the step. The next instance waits for it.
func TestMigrateClientKilled(t *testing.T) {
	t.Parallel()
	url, files := pgtest.Empty(t), withSecond()
	pool := dbtest.Open(t, url)
	p := dbtest.NewProxy(t, url)
	openGate := closeGate(t, pool)
	killed := dbtest.Start(func() error { return postgres.Migrate(t.Context(), dbtest.Open(t, p.URL), files, silent) })
	dbtest.Await(t, pool, "SELECT "+atTheGate)
	p.Leave() // a killed client cannot send a cancel request either
	if err := dbtest.Receive(t, killed); err == nil {
		t.Error("a migration whose connection is cut succeeds")
	}
	next := dbtest.Start(func() error { return postgres.Migrate(t.Context(), pool, files, silent) })
	dbtest.Await(t, pool, "SELECT "+atTheMigrationLock)
	openGate()
	dbtest.Must(t, dbtest.Receive(t, next))
	mustBeAtTwo(t, pool)
}

// TestMigrateSaysThatItWaits checks that an instance that has waited three seconds for another
// instance's migration logs that it is waiting. The migrating instance logs nothing, however long
// it takes.
func TestMigrateSaysThatItWaits(t *testing.T) {
	t.Parallel()
	pool, files := dbtest.Open(t, pgtest.Empty(t)), withSecond()
	openGate := closeGate(t, pool)
	// begin starts an instance and waits until the condition at holds. The returned pass reports
	// whether the instance's timer is running, and if so, lets it fire.
	begin := func(at string) (pass func() bool, log *bytes.Buffer, done <-chan error) {
		type running struct {
			*time.Timer
			over func()
		}
		timers := make(chan running, 1)
		after := func(d time.Duration, f func()) *time.Timer {
			if d != 3*time.Second {
				t.Errorf("it waits for %v before it says so", d)
			}
			timer := time.NewTimer(time.Hour)
			timers <- running{timer, f}
			return timer
		}
		log = new(bytes.Buffer)
		done = dbtest.Start(func() error {
			return postgres.MigrateAfter(t.Context(), pool, files, slog.New(slog.NewTextHandler(log, nil)), after)
		})
		dbtest.Await(t, pool, "SELECT "+at)
		timer := dbtest.Receive(t, timers)
		return func() bool {
			runs := timer.Stop()
			if runs {
				timer.over()
			}
			return runs
		}, log, done
	}
	pass, workerLog, worker := begin(atTheGate)
	if pass() {
		t.Error("the instance that works waits for the lock that it has")
	}
	pass, waiterLog, waiter := begin(atTheMigrationLock)
	if !pass() || strings.Count(waiterLog.String(), "another instance is migrating the database") != 1 {
		t.Errorf("the waiting instance says %q", waiterLog)
	}
	openGate()
	dbtest.Must(t, dbtest.Receive(t, worker))
	dbtest.Must(t, dbtest.Receive(t, waiter))
	if workerLog.Len() > 0 {
		t.Errorf("the instance that works says %q", workerLog)
	}
	mustBeAtTwo(t, pool)
}

// TestMigrateKilledAfterTheStep checks that a step clears the dirty mark when it commits. So the
// database is complete even if the connection is cut at the first message after the step.
func TestMigrateKilledAfterTheStep(t *testing.T) {
	t.Parallel()
	url, files := pgtest.Empty(t), withSecond()
	pool := dbtest.Open(t, url)
	p := dbtest.NewProxy(t, url)
	var stepSent, cut atomic.Bool
	p.OnMessage(func(kind byte, body []byte) bool {
		if stepSent.Load() {
			cut.Store(true)
			return true
		}
		stepSent.Store(kind == 'Q' && bytes.Contains(body, []byte("pg_advisory_xact_lock")))
		return false
	})
	if err := postgres.Migrate(t.Context(), dbtest.Open(t, p.URL), files, silent); err == nil {
		t.Error("a migration whose connection is cut succeeds")
	}
	if !cut.Load() {
		t.Fatal("the connection was not cut after the step")
	}
	mustBeAtTwo(t, pool)
	dbtest.Migrate(t, pool, files)
	mustBeAtTwo(t, pool)
}

// TestMigrateFailingStep checks that nothing of a broken step is committed, and the step fails
// again until it is fixed.
func TestMigrateFailingStep(t *testing.T) {
	t.Parallel()
	pool, files := dbtest.Open(t, pgtest.Empty(t)), withSecond()
	broken := withSecond()
	broken["000002_gate.up.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE half (id int); SELECT 1/0;")}
	for range 2 {
		if err := postgres.Migrate(t.Context(), pool, broken, silent); err == nil ||
			!strings.Contains(err.Error(), "division by zero") {
			t.Fatalf("error is %v", err)
		}
		if dbtest.Value[bool](t, pool, "SELECT to_regclass('half') IS NOT NULL") {
			t.Error("half a step was committed")
		}
	}
	dbtest.Migrate(t, pool, files)
	mustBeAtTwo(t, pool)
}

func TestMigrateFirstStepAgain(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Exec(t, pool, "CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)")
	dbtest.Exec(t, pool, "INSERT INTO schema_migrations VALUES ($1, true)", dbtest.Steps(t)[0])
	dbtest.Migrate(t, pool, migrations.FS)
	if got := state(t, pool); got != fmt.Sprintf("%d false", newestStep(t)) {
		t.Errorf("state is %q", got)
	}
}

// TestMigrateUnknownVersion checks that, if the database's version is older or newer than all
// files, Migrate fails with ErrTooOld or ErrTooNew and changes nothing, whether the version is
// dirty or not.
func TestMigrateUnknownVersion(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.New(t))
	for version, want := range map[int]error{
		11: postgres.ErrTooOld, 100: postgres.ErrTooOld, 111: postgres.ErrTooOld, 1000: postgres.ErrTooNew,
	} {
		for _, dirty := range []bool{false, true} {
			dbtest.Exec(t, pool, "UPDATE schema_migrations SET version = $1, dirty = $2", version, dirty)
			before := append(schema(t, pool), state(t, pool))
			if err := postgres.Migrate(t.Context(), pool, migrations.FS, silent); !errors.Is(err, want) {
				t.Errorf("version %d: error is %v", version, err)
			}
			dbtest.Equal(t, fmt.Sprintf("version %d: the database was changed", version),
				before, append(schema(t, pool), state(t, pool)))
		}
	}
}

func TestMigrateCanceled(t *testing.T) {
	t.Parallel()
	pool, files := dbtest.Open(t, pgtest.Empty(t)), withSecond()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := postgres.Migrate(over, pool, files, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("before the start: %v", err)
	}
	openGate := closeGate(t, pool)
	working, stopWorking := context.WithCancel(t.Context())
	defer stopWorking()
	worker := dbtest.Start(func() error { return postgres.Migrate(working, pool, files, silent) })
	dbtest.Await(t, pool, "SELECT "+atTheGate)
	waiting, stopWaiting := context.WithCancel(t.Context())
	defer stopWaiting()
	waiter := dbtest.Start(func() error { return postgres.Migrate(waiting, pool, files, silent) })
	dbtest.Await(t, pool, "SELECT "+atTheMigrationLock)
	stopWaiting()
	if err := dbtest.Receive(t, waiter); !errors.Is(err, context.Canceled) {
		t.Errorf("while waiting for another instance: %v", err)
	}
	stopWorking()
	if err := dbtest.Receive(t, worker); !errors.Is(err, context.Canceled) {
		t.Errorf("in the middle of a step: %v", err)
	}
	openGate()
	dbtest.Migrate(t, pool, files)
	mustBeAtTwo(t, pool)
}

func newestStep(t *testing.T) int {
	t.Helper()
	return slices.Max(dbtest.Steps(t))
}
