package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// lock is a lock that a command takes. Another session runs the statement take to get the lock
// before the command, or to find out whether it is free.
type lock struct{ name, take string }

func group(chat ranking.Chat) lock {
	return lock{chat.Title, fmt.Sprintf(`SELECT FROM groups WHERE chat_id = (
		SELECT id FROM chats WHERE telegram_chat_id = %d) FOR NO KEY UPDATE`, chat.ID)}
}

func player(name string) lock {
	return lock{name, fmt.Sprintf(`SELECT FROM players WHERE display_name = '%s' FOR NO KEY UPDATE`, name)}
}

func standing(name string) lock {
	return lock{name + "'s standing", fmt.Sprintf(`SELECT FROM group_players WHERE name = '%s' FOR NO KEY UPDATE`, name)}
}

// mustLockInOrder runs a command once for each of its locks, and makes the command wait for that
// lock. Meanwhile the command must hold all earlier locks in the order, and no later ones. Then the
// command is canceled, and must fail. Locks that are taken by an INSERT are not checked.
func (w *world) mustLockInOrder(t *testing.T, command func() error, order ...lock) {
	t.Helper()
	for at, step := range order {
		holder := dbtest.Begin(t, w.Pool)
		dbtest.Exec(t, holder, step.take)
		waiting := dbtest.Start(command)
		dbtest.Await(t, w.Pool, dbtest.Blocked)
		for i, other := range order {
			if i == at || strings.HasPrefix(other.take, "INSERT") { // an INSERT cannot be tried without effect
				continue
			}
			_, err := w.Pool.Exec(t.Context(), other.take+" NOWAIT")
			if held := err != nil; held != (i < at) {
				t.Errorf("waiting for %s, it holds %s: %t", step.name, other.name, held)
			}
		}
		dbtest.Exec(t, w.Pool, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
		if err := dbtest.Receive(t, waiting); !errors.Is(err, ranking.ErrTimeout) {
			t.Errorf("waiting for %s it is canceled: %v", step.name, err)
		}
		dbtest.Must(t, holder.Rollback(t.Context()))
	}
}

func TestMergeLockOrder(t *testing.T) {
	t.Parallel()
	w, _, _ := newMerge(t)
	merge := func() error { return askAsRenamed(t.Context(), dbtest.Service(w.Store)) }
	w.mustLockInOrder(t, merge, group(club), player("al"), standing("al"), standing("Bob"))
	// The merge does not wait for the lock of another group of the remaining player.
	holder := dbtest.Begin(t, w.Pool)
	dbtest.Exec(t, holder, group(attic).take)
	w.Answer(t, "m", renamed)
}

func TestAmendmentLockOrder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"undo", "fix"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAmendable(t)
			command := func() error { return commands[name](t.Context(), dbtest.Service(w.Store)) }
			// Standings are locked in the order in which the players joined the ladder.
			w.mustLockInOrder(t, command, group(club), standing("Alice"), standing("Carol"), standing("Bob"))
			w.Undo(t, "u", alice, 2)
		})
	}
}

// deadlocks counts the deadlocks that services log.
type deadlocks struct {
	slog.Handler
	n *atomic.Int64
}

func (d deadlocks) Enabled(context.Context, slog.Level) bool { return true }

func (d deadlocks) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), "deadlock") {
			d.n.Add(1)
		}
		return true
	})
	return nil
}

// TestMergeAmongRecordings checks that merging two players while others record matches of both in
// two groups loses no match and causes no deadlock.
func TestMergeAmongRecordings(t *testing.T) {
	t.Parallel()
	const each = 8 // reports in total before the merge begins, and by each reporter after it
	w := newWorld(t, alice, bob)
	dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, annex, nil))
	w.Record(t, "first", al, bob, 3, 1)
	// A command that shows Alice with her old username makes al another player again, until she is
	// seen with her new username.
	pairs := [][2]command.Person{{al, bob}, {bob, alice}, {carol, al}, {alice, al}}
	var n, reported atomic.Int64
	begun, merged := make(chan struct{}), make(chan struct{})
	s := ranking.NewService(w.Store, nil, dbtest.Admins{}, slog.New(deadlocks{n: &n}),
		ranking.Settings{ResultsPerMinute: -1})
	var work errgroup.Group
	for i, chat := range []ranking.Chat{club, annex} {
		for _, reporter := range []command.Person{bob, carol} {
			work.Go(func() error {
				for j, left := 0, each; left > 0; j++ {
					o := in(chat, fmt.Sprint(i, reporter.Name, j), reporter)
					pair := pairs[(i+j)%len(pairs)]
					if err := s.Do(t.Context(), o,
						dbtest.Reported(dbtest.Singles(pair[0], pair[1], ladder.Score{A: 1 + j%3, B: 2}))); err != nil {
						return err
					}
					if reported.Add(1) == each {
						close(begun)
					}
					select {
					case <-merged:
						left--
					default:
					}
				}
				return nil
			})
		}
	}
	work.Go(func() error {
		<-begun
		defer close(merged)
		return s.Do(t.Context(), dbtest.By("m", renamed), ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}})
	})
	dbtest.Must(t, work.Wait())
	for _, chat := range []ranking.Chat{club, annex} {
		dbtest.Must(t, s.Do(t.Context(), in(chat, fmt.Sprint("last in ", chat.Title), renamed),
			ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}}))
	}
	matches := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`)
	// A report is refused if it loses every attempt against the others, or if its two players have
	// become one.
	refused := dbtest.Value[int](t, w.Pool, `
		SELECT count(*) FROM outbox WHERE payload->>'code' IN ('same_player', 'too_many_at_once') AND key <> 'm'`)
	if matches+refused != 1+int(reported.Load()) || n.Load() != 0 {
		t.Errorf("%d matches of %d, %d refused, %d deadlocks",
			matches, 1+reported.Load(), refused, n.Load())
	}
	w.mustReplay(t)
	if dbtest.Value[bool](t, w.Pool, `SELECT NOT EXISTS (SELECT FROM matches WHERE undone_at IS NOT NULL)`) {
		t.Error("no match of al against Alice is undone")
	}
	if got := dbtest.Values[string](t, w.Pool, `
		SELECT 'standing of ' || display_name FROM group_players JOIN players p ON p.id = player_id
		WHERE p.telegram_user_id IS NULL AND named_id IS DISTINCT FROM player_id
		UNION ALL
		SELECT 'match of ' || display_name
		FROM match_players JOIN players p ON p.id = player_id JOIN matches m ON m.id = match_id
		WHERE p.telegram_user_id IS NULL AND undone_at IS NULL`); len(got) != 0 {
		t.Errorf("rows of al that are left: %v", got)
	}
}

// mustReplay compares the ratings of all ladders with a replay by plainladder.
func (w *world) mustReplay(t *testing.T) {
	t.Helper()
	var counted []plainladder.Match // of all ladders: each player's name contains the ladder
	for _, m := range dbtest.Values[[]int](t, w.Pool, `
		SELECT ARRAY[m.ladder_id, a.player_id, b.player_id, m.score_a, m.score_b] FROM matches m
		JOIN match_players a ON a.match_id = m.id AND a.side = 1 JOIN match_players b ON b.match_id = m.id AND b.side = 2
		WHERE undone_at IS NULL ORDER BY m.ladder_id, m.number`) {
		counted = append(counted, plainladder.Match{
			A: []string{fmt.Sprint(m[0], m[1])}, B: []string{fmt.Sprint(m[0], m[2])}, ScoreA: m[3], ScoreB: m[4],
		})
	}
	ratings := make(map[string]int)
	for who, p := range plainladder.Play(nil, counted).Standings {
		ratings[who] = p.Elo
	}
	got := make(map[string]int)
	for _, s := range dbtest.Values[[]int](t, w.Pool, `
		SELECT ARRAY[season_id, player_id, elo] FROM group_players WHERE named_id IS DISTINCT FROM player_id`) {
		got[fmt.Sprint(s[0], s[1])] = s[2]
	}
	dbtest.Equal(t, "ratings by ladder and player, as replayed", ratings, got)
}
