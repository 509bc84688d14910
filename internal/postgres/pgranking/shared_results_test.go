package pgranking_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"testing"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// everything has a query for each kind of row that results write. The queries leave out what
// differs from run to run, such as the time of creation.
var everything = map[string]string{
	"groups":           `SELECT concat_ws(' ', id, last_match_number) FROM groups ORDER BY 1`,
	"players":          `SELECT concat_ws(' ', telegram_user_id, username, display_name) FROM players ORDER BY 1`,
	"handled commands": `SELECT concat_ws(' ', key, sender, sent_at, rate_class, trigger, outcome) FROM handled_commands ORDER BY 1`,
	"chats":            `SELECT concat_ws(' ', id, parked_at IS NULL, is_active, round(extract(epoch FROM parked_until - now()), -1)) FROM chats ORDER BY 1`,
	"standings": `SELECT to_jsonb(s) - '{id,player_id,created_at}'::text[] || jsonb_build_object('who', p.display_name) FROM group_players s
		JOIN players p ON p.id = s.player_id ORDER BY season_id, p.display_name`,
	"matches": `SELECT to_jsonb(m) - '{id,created_at}'::text[] FROM matches m ORDER BY idempotency_key`,
	"who played": `SELECT concat_ws(' ', m.idempotency_key, p.display_name, side, place)
		FROM match_players JOIN matches m ON m.id = match_id JOIN players p ON p.id = player_id ORDER BY 1`,
	"history": `SELECT concat_ws(' ', m.idempotency_key, p.display_name, to_jsonb(h) - '{id,match_id,player_id,created_at}'::text[])
		FROM elo_history h JOIN matches m ON m.id = match_id JOIN players p ON p.id = player_id ORDER BY 1`,
	"outbox": `SELECT concat_ws(' ', m.idempotency_key, to_jsonb(o) - '{id,match_id,created_at,expires_at}'::text[],
		    'hours to live', round(extract(epoch FROM expires_at - o.created_at) / 3600))
		FROM outbox o JOIN matches m ON m.id = o.match_id ORDER BY 1`,
}

// TestTogetherAsAlone checks that results of different kinds have the same effect in one
// transaction as in one transaction each.
func TestTogetherAsAlone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	apply := func(write func(w *town, all []ranking.Changes) error) map[string][]string {
		w := newTown(t, 7)
		dbtest.Exec(t, w.Pool, `
			UPDATE chats SET parked_at = now(), parked_until = now() + interval '1 hour', is_active = id % 3 > 0
			WHERE id % 2 = 0`)
		all := w.matchEach(t)
		for i := range all {
			all[i].SentAt = now.Add(-time.Duration(i) * time.Hour)
			all[i].Addressee = ranking.Name{Name: fmt.Sprint("Somebody ", i)}
			all[i].RateEntry = ranking.RateEntry{Bucket: ranking.RateResult, Sender: ranking.SenderID(i + 1), At: all[i].SentAt}
		}
		recorded(&all[1]).Sets = []ladder.Score{{A: 11, B: 7}, {A: 11, B: 9}, {A: 4, B: 11}, {A: 11, B: 0}}
		recorded(&all[2]).Sets = []ladder.Score{{A: 21, B: 19}, {A: 21, B: 3}, {A: 1, B: 21}}
		recorded(&all[2]).RatingRules = ladder.RatingRules{
			K: 24, Provisional: ladder.Provisional{K: 48, Matches: 10}, Margin: true,
		}
		recorded(&all[2]).Players[0].K, recorded(&all[2]).Players[1].K = 48, 24
		all[3].ReplyTo, all[3].Thread, recorded(&all[3]).ReportedBy, all[3].SentAt = 0, 0, 0, time.Time{}
		all[4].RateEntry, all[4].Addressee = ranking.RateEntry{}, ranking.Name{}
		all[6].Addressee = ranking.Name{Player: w.ID(t, "Alice")}
		dbtest.Must(t, write(w, all))
		if got := int(w.Wakes.Load()); got != len(all) {
			t.Errorf("%d lanes were woken, want %d", got, len(all))
		}
		found := make(map[string][]string)
		for name, sql := range everything {
			found[name] = dbtest.Values[string](t, w.Pool, sql)
		}
		return found
	}
	together := apply(func(w *town, all []ranking.Changes) error { return w.Store.ApplyTogether(all...) })
	alone := apply(func(w *town, all []ranking.Changes) error {
		for _, c := range all {
			if err := w.Store.Apply(t.Context(), c); err != nil {
				return err
			}
		}
		return nil
	})
	for name, rows := range alone {
		if len(rows) == 0 {
			t.Errorf("there are no %s", name)
		}
	}
	dbtest.Equal(t, "rows, as if written alone", alone, together)
}

// TestWrittenTogether checks that waiting results are written in one transaction, up to the
// maximum.
func TestWrittenTogether(t *testing.T) {
	t.Parallel()
	w := newTown(t, pgranking.MaxTogether+2)
	mustReceive(t, w.gather(t, w.Store, w.matchEach(t)...))
	sizes := dbtest.Values[int](t, w.Pool, `
		SELECT count(*) FROM matches WHERE idempotency_key NOT LIKE 'first %' GROUP BY xmin::text ORDER BY 1 DESC`)
	dbtest.Equal(t, "results in one transaction", []int{pgranking.MaxTogether, 2}, sizes)
}

// TestTogetherOfOneGroup checks that of several results of one group, only one is written together
// with results of other groups. The next result gets a conflict, because its standings are stale.
func TestTogetherOfOneGroup(t *testing.T) {
	t.Parallel()
	w := newTown(t, 2)
	results := w.gather(t, w.Store, w.match(t, 0, "a"), w.match(t, 0, "b"), w.match(t, 1, "c"))
	mustReceive(t, results, nil, ranking.ErrConflict)
	w.mustRecord(t, "a c")
}

// TestTogetherWithBadOnes checks that a result does not keep the others from being recorded if it
// cannot be recorded or its group is locked. The log says how many results there were, and why they
// were not written together.
func TestTogetherWithBadOnes(t *testing.T) {
	t.Parallel()
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	for name, tc := range map[string]struct {
		spoil func(*ranking.Changes)
		sql   string // run by another session in an open transaction
		want  func(error) bool
		wakes int64
	}{
		"handled":        {func(c *ranking.Changes) { c.Key, recorded(c).Key = "first 2", "first 2" }, "", is(ranking.ErrHandled), 3 + 4},
		"stale":          {func(c *ranking.Changes) { recorded(c).Players[0].After.Version++ }, "", is(ranking.ErrConflict), 3},
		"out of range":   {func(c *ranking.Changes) { recorded(c).A = 1000 }, "", func(err error) bool { return err != nil }, 3},
		"group is taken": {nil, `SELECT FROM groups WHERE id = 4 FOR NO KEY UPDATE`, is(nil), 3 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, 4)
			var log bytes.Buffer
			w.Store.Log = slog.New(slog.NewTextHandler(&log, nil))
			all := w.matchEach(t)
			if tc.spoil != nil {
				tc.spoil(&all[2])
			}
			somebody := dbtest.Begin(t, w.Pool)
			dbtest.Exec(t, somebody, tc.sql)
			results := w.gather(t, w.Store, all...)
			mustReceive(t, []<-chan error{results[0], results[1], results[3]})
			w.mustRecord(t, "k0", "k1", "k3")
			dbtest.Must(t, somebody.Rollback(t.Context()))
			if err := dbtest.Receive(t, results[2]); !tc.want(err) {
				t.Errorf("result 2: %v", err)
			}
			if got := w.Wakes.Load(); got != tc.wakes {
				t.Errorf("%d lanes were woken, want %d", got, tc.wakes)
			}
			fallback := regexp.MustCompile(
				`level=WARN msg="failed to write results together, writing each by itself" results=4 error="\S`)
			if len(fallback.FindAllString(log.String(), -1)) != 1 {
				t.Errorf("the log is:\n%s", log.String())
			}
		})
	}
}

// TestTogetherUnderLostLease checks that waiting results are not written after the lease is lost,
// and each caller gets outbox.ErrLeaseLost.
func TestTogetherUnderLostLease(t *testing.T) {
	t.Parallel()
	w := newTown(t, 3)
	store, _ := w.AsLeader(t)
	dbtest.Exec(t, w.Pool, `UPDATE leases SET epoch = epoch + 1`)
	lost := outbox.ErrLeaseLost
	mustReceive(t, w.gather(t, store, w.matchEach(t)...), lost, lost, lost)
	w.mustRecord(t)
}

// TestGivenUpBeforeWritten checks that a result whose caller has given up is not recorded with the
// others.
func TestGivenUpBeforeWritten(t *testing.T) {
	t.Parallel()
	w := newTown(t, 2)
	resume := w.Store.HoldResults()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Store.Apply(ctx, w.match(t, 0, "given up")); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	c := w.match(t, 1, "k")
	result := dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) })
	w.awaitWaiting(t, w.Store, 1)
	resume()
	mustReceive(t, []<-chan error{result})
	w.mustRecord(t, "k")
}

// TestGivenUpWhileWritten checks that a caller who gives up while the result is being written with
// others still learns the outcome, and the others are not affected.
func TestGivenUpWhileWritten(t *testing.T) {
	t.Parallel()
	w := newTown(t, 2)
	dbtest.Define(t, w.Pool, "wait", `
		CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NEW; END';
		CREATE TRIGGER wait BEFORE INSERT ON matches FOR EACH ROW EXECUTE FUNCTION wait();
		ALTER FUNCTION wait() SET lock_timeout = 0`)
	holder := dbtest.Begin(t, w.Pool)
	dbtest.Exec(t, holder, `SELECT pg_advisory_xact_lock(77)`)
	resume := w.Store.HoldResults()
	ctx, giveUp := context.WithCancel(t.Context())
	givenUp, kept := w.match(t, 0, "given up"), w.match(t, 1, "k")
	first := dbtest.Start(func() error { return w.Store.Apply(ctx, givenUp) })
	second := dbtest.Start(func() error { return w.Store.Apply(t.Context(), kept) })
	w.awaitWaiting(t, w.Store, 2)
	resume()
	dbtest.Await(t, w.Pool, dbtest.Blocked)
	giveUp()
	dbtest.Must(t, holder.Rollback(t.Context()))
	mustReceive(t, []<-chan error{first, second})
	w.mustRecord(t, "given up k")
}

// TestTogetherWithPanic checks that results are written alone if the bot panics when it writes them
// together.
func TestTogetherWithPanic(t *testing.T) {
	t.Parallel()
	w := newTown(t, 2)
	all := w.matchEach(t)
	var once sync.Once
	w.Store.Now = func() time.Time {
		once.Do(func() { panic("no time") })
		return time.Now()
	}
	mustReceive(t, w.gather(t, w.Store, all...))
	w.mustRecord(t, "k0", "k1")
}

// TestLockedGroupsDelayNoOthers checks that even if more groups are locked than there are slots,
// results of other groups are recorded.
func TestLockedGroupsDelayNoOthers(t *testing.T) {
	t.Parallel()
	const held = 5
	w := newTown(t, held+2)
	holder := dbtest.Begin(t, w.Pool)
	dbtest.Exec(t, holder, `SELECT FROM groups WHERE id BETWEEN 2 AND $1 FOR NO KEY UPDATE`, held+1)
	var stuck []<-chan error
	for i := range held {
		c := w.match(t, i, fmt.Sprint("k", i))
		stuck = append(stuck, dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) }))
	}
	dbtest.Await(t, w.Pool, `
		SELECT count(*) > 3 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait)
	defer cancel()
	for i := held; i < held+2; i++ {
		if err := w.Store.Apply(ctx, w.match(t, i, fmt.Sprint("k", i))); err != nil {
			t.Error(err)
		}
	}
	w.mustRecord(t, "k5", "k6")
	dbtest.Must(t, holder.Rollback(t.Context()))
	mustReceive(t, stuck)
}
