package pgtally_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgtally"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// newHistory returns a world with matches in two months, one of which is undone, and marks for all of them.
func newHistory(t *testing.T) *dbtest.World {
	t.Helper()
	w := dbtest.NewWorldIn(t, pgtest.Borrow(t), dbtest.Alice, dbtest.Bob, dbtest.Carol)
	w.Record(t, "1", dbtest.Alice, dbtest.Bob, 3, 1)
	w.Record(t, "2", dbtest.Bob, dbtest.Carol, 2, 2)
	w.Record(t, "3", dbtest.Bob, dbtest.Alice, 3, 0)
	w.Play(t, "4", dbtest.Carol, dbtest.Alice) // in another month
	w.Undo(t, "5", dbtest.Bob, 2)
	return w
}

// settle counts until nothing is left to be counted.
func settle(t *testing.T, s *pgtally.Store) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for ladder := int64(1); ladder != 0; {
		step, err := s.Recount(t.Context())
		dbtest.Must(t, err)
		ladder = int64(step.Ladder)
	}
}

// mustBeRight compares all tallies with a plain calculation.
func mustBeRight(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if diff := cmp.Diff(plainTallies(readPlain(t, pool, 0)), storedTallies(t, pool, 0)); diff != "" {
		t.Errorf("tallies (-want +got):\n%s", diff)
	}
}

// TestEachAmendmentIsCounted counts after each amendment, one of which changes no rating, and after a merge of two players.
func TestEachAmendmentIsCounted(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorldIn(t, pgtest.Borrow(t), dbtest.Alice, dbtest.Bob, dbtest.Carol)
	s := pgtally.NewStore(w.Pool)
	counted := func() {
		t.Helper()
		settle(t, s)
		mustBeRight(t, w.Pool)
	}
	al := ranking.Person{Username: "al", Name: "al"}
	w.Record(t, "1", dbtest.Alice, dbtest.Bob, 3, 1)
	w.Record(t, "2", al, dbtest.Bob, 3, 1)
	w.Record(t, "3", al, dbtest.Alice, 3, 1)
	w.Record(t, "4", dbtest.Bob, dbtest.Carol, 3, 1)
	counted()
	w.Fix(t, "5", dbtest.Bob, 1, ranking.Score{A: 4, B: 1})
	counted()
	w.Fix(t, "6", dbtest.Bob, 1, ranking.Score{A: 1, B: 1})
	counted()
	w.Undo(t, "7", dbtest.Bob, 1)
	counted()
	w.Restore(t, "8", dbtest.Bob, 1)
	counted()
	renamed := dbtest.Alice
	renamed.Username = "al"
	w.Answer(t, "9", renamed)
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM players WHERE merged_into IS NOT NULL`); n != 1 {
		t.Fatalf("%d players are merged", n)
	}
	counted()
	if n := dbtest.Value[int](t, w.Pool, `
		SELECT count(*) FROM player_months m JOIN players p ON p.id = m.player_id WHERE p.merged_into IS NOT NULL`); n != 0 {
		t.Errorf("the merged player has %d months", n)
	}
}

var errKilled = errors.New("killed")

// killer cancels the context of the nth statement.
type killer struct{ left int }

func (k *killer) next(ctx context.Context) context.Context {
	if k.left--; k.left == 0 {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errKilled)
		return ctx
	}
	return ctx
}

func (k *killer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return k.next(ctx)
}
func (k *killer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (k *killer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return k.next(ctx)
}
func (k *killer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (k *killer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// TestKilledInEachStep ends every step at each of its round trips. What it has not finished is counted later, and once.
func TestKilledInEachStep(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	k := new(killer)
	pool := dbtest.Open(t, w.Pool.Config().ConnString(), func(c *pgxpool.Config) { c.ConnConfig.Tracer = k })
	s := pgtally.NewStore(pool).WithStep(3, 2)
	steps := func() error {
		for more := true; more; {
			var err error
			if more, err = s.Count(t.Context()); err != nil {
				return err
			}
		}
		for {
			if step, err := s.Recount(t.Context()); err != nil || step.Ladder == 0 {
				return err
			}
		}
	}
	dbtest.Exec(t, w.Pool, `INSERT INTO ladder_tallies (ladder_id, recounting) SELECT id, true FROM ladders`)
	kills := 0
	for n := 1; ; n++ {
		k.left = n
		if err := steps(); err == nil {
			break
		}
		kills++
	}
	k.left = 0
	if kills < 8 {
		t.Errorf("only %d kills", kills)
	}
	settle(t, s)
	mustBeRight(t, w.Pool)
}

// TestCountAtOnce: two instances that both believe to lead count each match once.
func TestCountAtOnce(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	one, other := pgtally.NewStore(w.Pool).WithStep(2, 1), pgtally.NewStore(w.Pool).WithStep(3, 2)
	dbtest.Exec(t, w.Pool, `INSERT INTO ladder_tallies (ladder_id, recounting) SELECT id, true FROM ladders`)
	done := make([]<-chan error, 0, 2)
	for _, s := range []*pgtally.Store{one, other} {
		done = append(done, dbtest.Start(func() error {
			for range 20 {
				if _, err := s.Count(t.Context()); err != nil {
					return err
				}
				if _, err := s.Recount(t.Context()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, d := range done {
		if err := dbtest.Receive(t, d); err != nil {
			t.Logf("gave up a step: %v", err) // it would be repeated
		}
	}
	settle(t, one)
	mustBeRight(t, w.Pool)
}

// TestCountUnderLostLease: a former leader counts nothing.
func TestCountUnderLostLease(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	lease := postgres.NewLease(w.Pool, postgres.LeaderLease, "old", time.Minute)
	if got, err := lease.Acquire(t.Context()); err != nil || !got {
		t.Fatal(got, err)
	}
	dbtest.Exec(t, w.Pool, `UPDATE leases SET epoch = epoch + 1`)
	before := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM tally_marks`)
	if _, err := pgtally.NewStore(w.Pool).WithLease(lease).Count(t.Context()); err == nil {
		t.Error("a former leader counts")
	}
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM tally_marks`); n != before || n == 0 {
		t.Errorf("%d marks are left of %d", n, before)
	}
}

// TestTakeoverDuringAStep: a step whose snapshot is older than a takeover counts nothing.
func TestTakeoverDuringAStep(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	lease := postgres.NewLease(w.Pool, postgres.LeaderLease, "old", time.Minute)
	if got, err := lease.Acquire(t.Context()); err != nil || !got {
		t.Fatal(got, err)
	}
	before := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM tally_marks`)
	successor := dbtest.Begin(t, w.Pool)
	take := func(sql string, args ...any) {
		t.Helper()
		dbtest.Exec(t, successor, sql, args...)
	}
	take(`SELECT pg_advisory_xact_lock(hashtextextended('elobot lease ' || $1, 0))`, postgres.LeaderLease)
	counted := dbtest.Start(func() error {
		_, err := pgtally.NewStore(w.Pool).WithLease(lease).Count(t.Context())
		return err
	})
	dbtest.Await(t, w.Pool, dbtest.Blocked)
	take(`UPDATE leases SET epoch = epoch + 1`)
	dbtest.Must(t, successor.Commit(t.Context()))
	if err := dbtest.Receive(t, counted); !errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("the step ends with %v", err)
	}
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM tally_marks`); n != before {
		t.Errorf("%d marks are left of %d", n, before)
	}
}

// TestMarksOfAMonth: if a month is counted again, its matches are not added once more, however few marks a step takes.
func TestMarksOfAMonth(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorldIn(t, pgtest.Borrow(t), dbtest.Alice, dbtest.Bob)
	s := pgtally.NewStore(w.Pool).WithStep(1, 1)
	dbtest.Exec(t, w.Pool, `INSERT INTO tally_marks (ladder_id, player_id, month)
		SELECT l.id, p.id, date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC') FROM ladders l, players p`, dbtest.SentAt)
	w.Record(t, "1", dbtest.Alice, dbtest.Bob, 3, 1)
	settle(t, s)
	mustBeRight(t, w.Pool)
}

// TestWhenPlacesAreDue: places are calculated at the first match after a quiet week, at each amendment, after a recount and on
// each new day while there are matches of the last week.
func TestWhenPlacesAreDue(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorldIn(t, pgtest.Borrow(t), dbtest.Alice, dbtest.Bob)
	s, now := pgtally.NewStore(w.Pool), time.Now()
	place := func(what string, now time.Time, want bool) {
		t.Helper()
		settle(t, s)
		step, err := s.Place(t.Context(), now)
		if got := step.Ladder != 0; err != nil || got != want {
			t.Errorf("%s: places calculated: %t, want %t: %v", what, got, want, err)
		}
	}
	since := func(want string) {
		t.Helper()
		got := dbtest.Value[string](t, w.Pool, `SELECT coalesce(week_since::text, 'never') FROM ladder_tallies`)
		if got != want {
			t.Errorf("the places are from %s, want %s", got, want)
		}
	}
	place("no match", now, false)
	w.Record(t, "1", dbtest.Alice, dbtest.Bob, 3, 1)
	place("first match", now, true)
	since(now.UTC().AddDate(0, 0, -7).Format(time.DateOnly))
	w.Record(t, "2", dbtest.Alice, dbtest.Bob, 3, 1)
	place("second match", now, false)
	w.Undo(t, "3", dbtest.Bob, 1)
	place("undo", now, true)
	place("an hour before midnight", now.UTC().Truncate(24*time.Hour).Add(23*time.Hour), false)
	tomorrow := now.AddDate(0, 0, 1)
	place("tomorrow", tomorrow, true)
	since(tomorrow.UTC().AddDate(0, 0, -7).Format(time.DateOnly))
	place("after a quiet week", now.AddDate(0, 0, 9), true)
	since("never")
	place("later", now.AddDate(0, 0, 99), false)
	dbtest.Must(t, s.StartRecount(t.Context(), 1))
	place("recount", now, true)
}

// TestFailingLadder: where a ladder cannot be counted, the others are.
func TestFailingLadder(t *testing.T) {
	t.Parallel()
	w := newHistory(t)
	s := pgtally.NewStore(w.Pool)
	settle(t, s)
	dbtest.Exec(t, w.Pool, `
		WITH chat AS (INSERT INTO chats (telegram_chat_id, kind) VALUES (-99, 'group') RETURNING id),
		     other AS (INSERT INTO groups (chat_id) SELECT id FROM chat RETURNING id)
		INSERT INTO ladders (group_id, is_default) SELECT id, true FROM other`)
	other := dbtest.Value[ranking.LadderID](t, w.Pool, `SELECT max(id) FROM ladders`)
	chat := dbtest.Value[outbox.ChatID](t, w.Pool, `SELECT id FROM chats WHERE telegram_chat_id = -99`)
	dbtest.Exec(t, w.Pool, `INSERT INTO tally_marks (ladder_id, player_id, month) SELECT id, 1, '2023-11-01' FROM ladders ORDER BY id`)
	dbtest.Exec(t, w.Pool, `INSERT INTO ladder_tallies (ladder_id, recounting, week_due_at) VALUES ($1, true, '-infinity')`, other)
	dbtest.Exec(t, w.Pool, `UPDATE tally_marks SET created_at = now() - interval '1 hour'`)
	dbtest.Exec(t, w.Pool, `ALTER TABLE player_months ADD CHECK (ladder_id <> 1) NOT VALID`)

	c := stats.NewCounter(s, time.Now, slog.New(slog.DiscardHandler))
	var placed []outbox.ChatID
	c.WhenPlaced(func(chat outbox.ChatID) { placed = append(placed, chat) })
	if found, err := s.Survey(t.Context()); err != nil || found.Marks != 2 || found.Recounting != 1 || found.OldestMark < 3_600 || found.OldestMark > 3_700 {
		t.Errorf("before: %+v, %v", found, err)
	}
	if _, err := c.CatchUp(t.Context()); err == nil {
		t.Error("the failure is not reported")
	}
	if marked := dbtest.Values[ranking.LadderID](t, w.Pool, `SELECT ladder_id FROM tally_marks`); !slices.Equal(marked, []ranking.LadderID{1}) {
		t.Errorf("marks are left of %d", marked)
	}
	for more := true; more; {
		var err error
		if more, err = c.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.Survey(t.Context()); err != nil || found.Marks != 1 || found.Recounting != 0 {
		t.Errorf("afterwards: %+v, %v", found, err)
	}
	if !slices.Contains(placed, chat) {
		t.Errorf("places were calculated for %d, not for %d", placed, chat)
	}
}
