package pgoutbox_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
)

func TestNoTurnScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	dbtest.Exec(t, plain, `
		INSERT INTO outbox (chat_id, kind, payload) SELECT n, 'k', '{}' FROM generate_series(101, 132) n;
		INSERT INTO outbox (chat_id, kind, payload, action, match_id, supersede_key)
		    SELECT ladder_id, 'match_recorded', '{}', 'edit', id, 'card:' || id
		    FROM matches WHERE ladder_id BETWEEN 81 AND 96 AND number = 7;
		INSERT INTO outbox (chat_id, kind, payload, action, edited_message_id, supersede_key)
		    SELECT n, 'ranking_page', '{}', 'page', 7, 'page:7' FROM generate_series(41, 56) n;
		INSERT INTO outbox (chat_id, kind, payload, action, object)
		    SELECT n, 'board', '{}', 'ensure', 'board:' || n FROM generate_series(61, 76) n;
		INSERT INTO outbox (chat_id, kind, payload) SELECT n % 2 + 141, 'match_recorded', '{}' FROM generate_series(1, 300) n;
		INSERT INTO boards (chat_id, ladder_id)
		    SELECT g.chat_id, l.id FROM ladders l JOIN groups g ON g.id = l.group_id WHERE g.chat_id > 60;
		INSERT INTO outbox (chat_id, kind, payload, action, match_id, deferred_at)
		    SELECT ladder_id, 'of_tomorrow', '{}', 'edit', id, now()
		    FROM matches WHERE ladder_id BETWEEN 21 AND 24 AND number = 7;
		INSERT INTO outbox (chat_id, kind, payload, action, edited_message_id, deferred_at)
		    SELECT n, 'of_tomorrow', '{}', 'page', 7, now() FROM generate_series(25, 28) n;
		INSERT INTO outbox (chat_id, kind, payload) SELECT n, 'k', '{}' FROM generate_series(161, 176) n;
		UPDATE chats SET parked_at = now() - interval '1 hour', parked_until = now() WHERE id BETWEEN 161 AND 176;
		INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
		    SELECT 'update', n, '', 'why', 1, now() FROM generate_series(1, 3000) n;
		INSERT INTO update_attempts SELECT n, 1 FROM generate_series(1, 3000) n;
		ANALYZE outbox, dead_letters, update_attempts, boards;`)
	queue := pgoutbox.NewStore(pool)
	var messages []outbox.Message
	take := func(from, to outbox.ChatID, lane func(outbox.ChatID) outbox.Lane) func(context.Context) error {
		return func(ctx context.Context) error {
			var lanes []outbox.Lane
			for id := from; id <= to; id++ {
				lanes = append(lanes, lane(id), dbtest.Answers(id))
			}
			turns, err := queue.Advance(ctx, 1, nil, lanes, dbtest.Bounds)
			taken := 0
			for _, turn := range turns {
				if turn.Message != nil {
					messages = append(messages, *turn.Message)
					taken++
				}
			}
			if want := int(to - from + 1); taken != want {
				t.Errorf("%d messages were taken, want %d", taken, want)
			}
			return err
		}
	}
	finish := func(want func(i int, m outbox.Message) outbox.Result) func(context.Context) error {
		return func(ctx context.Context) error {
			var results []outbox.Result
			for i, m := range messages {
				results = append(results, want(i, m))
			}
			messages = nil
			_, err := queue.Advance(ctx, 1, results, nil, dbtest.Bounds)
			return err
		}
	}
	classes := []outbox.FailureKind{
		outbox.RateLimited, outbox.Unreachable, outbox.Ambiguous, outbox.Unauthorized, outbox.Migrated, outbox.Forbidden,
		outbox.Failed, outbox.Rejected, outbox.Obsolete,
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "take", Run: take(101, 132, dbtest.Chat), Want: 3 + 2},
		{Name: "take again", Run: func(ctx context.Context) error { messages = nil; return take(101, 132, dbtest.Chat)(ctx) }, Want: 3 + 2},
		{Name: "failures", Run: finish(func(i int, m outbox.Message) outbox.Result { return dbtest.Failed(m, classes[i%len(classes)]) }), Want: 3 + 3},
		{Name: "tries", Run: take(161, 176, dbtest.Chat), Want: 3 + 2},
		{Name: "tried", Run: finish(func(i int, m outbox.Message) outbox.Result {
			if i%2 == 0 {
				return dbtest.Failed(m, outbox.Forbidden)
			}
			return dbtest.SentAs(m, int64(i+1))
		}), Want: 3 + 3},
		{Name: "take of edits", Run: take(81, 96, dbtest.Chat), Want: 3 + 2},
		{Name: "edited", Run: finish(func(_ int, m outbox.Message) outbox.Result { return dbtest.SentAs(m, m.Target) }), Want: 3 + 2},
		{Name: "take of objects", Run: take(61, 76, dbtest.Boards), Want: 3 + 2},
		{Name: "ensured", Run: finish(func(i int, m outbox.Message) outbox.Result {
			r := dbtest.SentAs(m, int64(i+1))
			r.Pin, r.Ended = []outbox.Pin{outbox.Pinned, outbox.PinRefused}[i%2], i%4 == 3
			return r
		}), Want: 3 + 4},
		{Name: "boards", Run: func(ctx context.Context) error {
			_, err := queue.QueueBoards(ctx, []outbox.ChatID{61, 62, 63})
			return err
		}, Want: 1},
		{Name: "take of pages", Run: take(41, 56, dbtest.Pages), Want: 3 + 2},
		{Name: "pages", Run: finish(func(_ int, m outbox.Message) outbox.Result { return dbtest.SentAs(m, m.Target) }), Want: 3 + 1},
		// Three hundred notices wait in each of these lanes.
		{Name: "take of long lanes", Run: take(2, 5, dbtest.Chat), Want: 3 + 2},
		{Name: "sent together", Run: finish(func(_ int, m outbox.Message) outbox.Result { return dbtest.SentAs(m, 9) }), Want: 3 + 1},
		{Name: "summarize", Run: func(ctx context.Context) error {
			_, err := queue.Summarize(ctx, 1, []outbox.Lane{
				dbtest.Chat(6), dbtest.Chat(141), dbtest.Chat(142), dbtest.Pages(41),
			}, outbox.Bounds{MaxWaiting: 100})
			return err
		}, Want: 2 + 1},
		{Name: "take of summaries", Run: take(141, 142, dbtest.Chat), Want: 3 + 2},
		{Name: "sent summaries", Run: finish(func(_ int, m outbox.Message) outbox.Result { return dbtest.SentAs(m, 9) }), Want: 3 + 2},
		{Name: "resume", Run: func(ctx context.Context) error { return queue.Resume(ctx, 1) }, Want: 3},
		{Name: "waiting", Run: func(ctx context.Context) error {
			_, err := queue.Waiting(ctx, dbtest.Bounds)
			return err
		}, Want: 1},
		{Name: "recent", Run: func(ctx context.Context) error {
			_, err := queue.Recent(ctx, time.Nanosecond)
			return err
		}, Want: 1},
	})
	// The survey and the purges may read a whole index, but must not scan a table.
	if _, err := queue.Survey(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Purge(t.Context(), pool, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range rec.Take() {
		if s.SQL == "begin" || s.SQL == "commit" {
			continue
		}
		for kind, plan := range dbtest.Plans(t, plain, s) {
			for _, scan := range dbtest.TableScan.FindAllStringSubmatch(plan, -1) {
				if scan[1] != "outbox_id_seq" {
					t.Errorf("%s is scanned for %s:\n%s\n%s", scan[1], kind, s.SQL, plan)
				}
			}
		}
	}
}

var blocksRead = regexp.MustCompile(`shared hit=(\d+)`)

// blocks returns how many blocks a statement reads from the server's cache. It rolls back the
// changes of the statement, and reports a scan of the outbox as an error.
func blocks(t *testing.T, pool *pgxpool.Pool, s dbtest.Statement) (n int) {
	t.Helper()
	tx := dbtest.Begin(t, pool)
	rows, err := tx.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) "+s.SQL, s.Args...)
	dbtest.Must(t, err)
	var lines []string
	for rows.Next() {
		var line string
		dbtest.Must(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	dbtest.Must(t, tx.Rollback(t.Context()))
	plan := strings.Join(lines, "\n")
	if tables := dbtest.Scanned(plan); slices.Contains(tables, "outbox") {
		t.Errorf("it scans %v:\n%s", tables, plan)
	}
	found := blocksRead.FindStringSubmatch(plan)
	if found == nil {
		t.Fatalf("no blocks in the plan:\n%s", plan)
	}
	if _, err := fmt.Sscan(found[1], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWaitingCostsByLanes checks that, if ten times as many notices wait in the same lanes, Waiting
// and Recent each read at most twice as many blocks.
func TestWaitingCostsByLanes(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	queue := pgoutbox.NewStore(pool)
	dbtest.Exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) SELECT n, 'private' FROM generate_series(1, 10) n`)
	rec.Take()
	if _, err := queue.Waiting(t.Context(), outbox.Bounds{MaxWaiting: 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Recent(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	looks := rec.Take()
	read := func(notices int) (all []int) {
		dbtest.Exec(t, pool, `
			INSERT INTO outbox (chat_id, kind, payload)
			SELECT 1 + n % 10, 'k', '{}' FROM generate_series(1, $1::int) n`, notices)
		dbtest.Exec(t, pool, `VACUUM ANALYZE outbox`)
		for _, look := range looks {
			all = append(all, blocks(t, pool, look))
		}
		return all
	}
	few, many := read(500), read(4500)
	for i := range looks {
		if many[i] > 2*few[i] {
			t.Errorf("reading waiting lanes takes %d blocks for 500 notices and %d for 5,000", few[i], many[i])
		}
	}
	if backlogs, err := queue.Waiting(t.Context(), outbox.Bounds{MaxWaiting: 10}); err != nil || len(backlogs) != 10 {
		t.Errorf("%d lanes wait (%v)", len(backlogs), err)
	}
}

// TestTakeCostsByBounds checks that, if six times as many notices wait in a lane, taking from it
// and summarizing it read at most twice as many blocks. Even the smaller number exceeds what a
// message can hold and what Summarize reads in one call.
func TestTakeCostsByBounds(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	dbtest.Exec(t, pool, dbtest.TheLease)
	dbtest.Exec(t, pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group')`)
	m := mailIn(pool)
	m.results(t, 2000)
	rec.Take()
	m.Take(t, 1)
	statements := rec.Take()[3:] // the first three are about the lease and the commit
	m.MustSummarize(t, dbtest.Bounds, dbtest.Chat(1))
	statements = append(statements, rec.Take()[2:]...)
	read := func() (all []int) {
		dbtest.Exec(t, pool, `
			UPDATE outbox SET state = 'planned', batch = NULL, finished_at = NULL, attempts = 0, kind = 'match_recorded'`)
		dbtest.Exec(t, pool, `VACUUM FULL outbox`)
		dbtest.Exec(t, pool, `VACUUM ANALYZE outbox`)
		for _, s := range statements {
			all = append(all, blocks(t, pool, s))
		}
		return all
	}
	few := read()
	m.results(t, 10_000)
	for i, many := range read() {
		if many > 2*few[i] {
			t.Errorf("it reads %d blocks where 2,000 wait and %d where 12,000 do: %s", few[i], many, statements[i].SQL)
		}
	}
}
