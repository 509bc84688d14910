package ranking_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"elobot/internal/ranking"
)

// words puts a finding of the club into words.
func words(t *testing.T, f ranking.Finding) string {
	t.Helper()
	if f.Chat != club.ID || f.Title != club.Title || f.Player != "" && f.Ladder != 1 {
		t.Errorf("found elsewhere: %+v", f)
	}
	said := string(f.Problem)
	if f.Number != 0 {
		said += fmt.Sprintf(" %d", f.Number)
	}
	if f.Player != "" {
		said += " " + f.Player
	}
	if f.Stored != "" || f.Want != "" {
		said += fmt.Sprintf(": %s | %s", cmp.Or(f.Stored, "nothing"), cmp.Or(f.Want, "nothing"))
	}
	return said
}

// mustFind verifies everything, and checks what is found.
func (g *game) mustFind(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, f := range verify(t, g.store) {
		got = append(got, words(t, f))
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// TestVerifyAndRepair finds each problem, and sets right what can be.
func TestVerifyAndRepair(t *testing.T) {
	t.Parallel()
	for name := range corruptions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBooks(t)
			right := g.standings(t)
			c := g.corrupt(t, name)
			g.mustFind(t, c.want...)
			if c.beyond || c.err != nil {
				g.mustRepairNothing(t, c.err)
				return
			}
			history, begun := g.history(t), g.nextTransaction(t)
			g.mustRepair(t)
			g.mustBeOneTransaction(t, begun)
			mustAppend(t, history, g.history(t))
			g.mustFind(t, c.left...)
			if diff := gocmp.Diff(right, g.standings(t)); (diff == "") == c.facts {
				t.Errorf("standings (-right +repaired):\n%s", diff)
			}
			g.mustRepairNothing(t, nil)
		})
	}
}

// TestEveryProblemIsFound: there is a corruption for each of the problems.
func TestEveryProblemIsFound(t *testing.T) {
	t.Parallel()
	for _, problem := range []ranking.Problem{
		ranking.MissingNumber, ranking.NumberNotDrawn, ranking.MissingKey, ranking.DuplicateKey, ranking.WrongSides,
		ranking.WrongSets, ranking.MissingEntry, ranking.EntryOfUndone, ranking.WrongEntry, ranking.BrokenChain,
		ranking.WrongElo, ranking.WrongSum, ranking.WrongBest, ranking.WrongStreak, ranking.WrongCounters,
		ranking.CountersDontAdd, ranking.MergedPlayer, ranking.WrongStart,
	} {
		found := false
		for _, c := range corruptions {
			found = found || slices.ContainsFunc(c.want, func(w string) bool { return strings.HasPrefix(w, string(problem)+" ") })
		}
		if !found {
			t.Errorf("nothing tries %s", problem)
		}
	}
}

func TestVerifyTellsNamesakesApart(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, ranking.Person{ID: 11, Name: "Alex"}, ranking.Person{ID: 12, Name: "alex", Username: "second"}, 3, 1)
	g.exec(t, "UPDATE group_players SET streak = 0")
	g.mustFind(t, "wrong_streak Alex (1): 0 | 1", "wrong_streak alex (second): 0 | -1")
}

// TestVerifyOneGroup: what is wrong elsewhere is not found.
func TestVerifyOneGroup(t *testing.T) {
	t.Parallel()
	g := newBooks(t)
	g.exec(t, "UPDATE group_players SET best_elo = 9999")
	for chat, want := range map[ranking.ExternalChatID]int{0: 8, club.ID: 5, pub.ID: 3} {
		var found int
		var last ranking.Progress
		err := ranking.Verify(t.Context(), g.store, chat, func(f ranking.Finding) {
			found++
			if chat != 0 && f.Chat != chat {
				t.Errorf("found in %d: %+v", chat, f)
			}
		}, func(p ranking.Progress) { last = p })
		if err != nil {
			t.Fatal(err)
		}
		if found != want || chat != 0 && last.OfGroups != 1 {
			t.Errorf("found %d problems in %d of %d groups, want %d problems", found, chat, last.OfGroups, want)
		}
	}
	err := ranking.Verify(t.Context(), g.store, -300,
		func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(ranking.Progress) { t.Error("there was progress") })
	if !errors.Is(err, ranking.ErrNoSuchGroup) {
		t.Errorf("error is %v", err)
	}
}

// meanwhile is a ledger that has something done before each look into the books but the first.
type meanwhile struct {
	ranking.Ledger
	do func(context.Context) error
}

func (m meanwhile) Audit(ctx context.Context, fn func(context.Context, ranking.Books) error) error {
	return m.Ledger.Audit(ctx, func(ctx context.Context, books ranking.Books) error {
		return fn(ctx, disturbed{books, m.do})
	})
}

type disturbed struct {
	ranking.Books
	do func(context.Context) error
}

func (d disturbed) Standings(ctx context.Context, ladder ranking.LadderID) ([]ranking.Contender, error) {
	if err := d.do(ctx); err != nil {
		return nil, err
	}
	return d.Books.Standings(ctx, ladder)
}

func (d disturbed) Matches(ctx context.Context, ladder ranking.LadderID, yield func(ranking.PlayedMatch) error) error {
	if err := d.do(ctx); err != nil {
		return err
	}
	return d.Books.Matches(ctx, ladder, yield)
}

func (d disturbed) Loose(ctx context.Context, group ranking.GroupID) (ranking.LooseEnds, error) {
	if err := d.do(ctx); err != nil {
		return ranking.LooseEnds{}, err
	}
	return d.Books.Loose(ctx, group)
}

// TestVerifySeesOneMoment has a writer record and undo all the time, and the audit wait for it again and again.
func TestVerifySeesOneMoment(t *testing.T) {
	t.Parallel()
	g := newBooks(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		for n := 1; ; n++ {
			o := g.origin(&alice)
			err := g.RecordMatch(ctx, o, singles(alice, bob, n%3, 1))
			if err == nil && n%4 == 0 {
				err = g.UndoMatch(ctx, g.origin(&alice), ranking.TakeBack{IsAdmin: admin})
			}
			if err != nil {
				return err
			}
			select {
			case done <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		}
	})
	ledger := meanwhile{g.store, func(ctx context.Context) error {
		for range 2 { // the first may have begun before
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}}
	for range 5 {
		before := g.count(t, "matches")
		var seen int
		err := ranking.Verify(t.Context(), ledger, 0, func(f ranking.Finding) { t.Errorf("found %+v", f) },
			func(p ranking.Progress) { seen = p.Matches })
		if err != nil {
			t.Fatal(err)
		}
		if after := g.count(t, "matches"); seen < before || seen+8 > after {
			t.Errorf("the audit saw %d matches; there were %d before it and %d after it", seen, before, after)
		}
	}
	stop()
	if err := writer.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	verifyClean(t, g.store)
}

// newLongBooks returns a game with a club that has 25,000 matches, which are undone, so that they need no history.
func newLongBooks(t *testing.T) *game {
	t.Helper()
	g := newBooks(t)
	const until = 25_000
	g.exec(t, `
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key,
		                     undone_at, created_at)
		SELECT m.group_id, m.ladder_id, n, 1, 0, 32, now(), 'long:' || n, now(), now() - interval '1 year'
		FROM matches m, generate_series(8, $1) n WHERE m.id = match(1)`, until)
	g.exec(t, `
		INSERT INTO match_players (match_id, player_id, side)
		SELECT m.id, who(name), side FROM matches m, (VALUES ('Alice', 1), ('Bob', 2)) AS p (name, side)
		WHERE m.idempotency_key LIKE 'long:%'`)
	g.exec(t, "UPDATE groups SET last_match_number = $1 WHERE id = club()", until)
	g.exec(t, "ANALYZE")
	return g
}

func TestVerifyTellsItsProgress(t *testing.T) {
	t.Parallel()
	g := newLongBooks(t)
	var got []ranking.Progress
	err := ranking.Verify(t.Context(), g.store, 0, func(f ranking.Finding) { t.Errorf("found %+v", f) },
		func(p ranking.Progress) { got = append(got, p) })
	if err != nil {
		t.Fatal(err)
	}
	want := []ranking.Progress{{0, 2, 10_000}, {0, 2, 20_000}, {1, 2, 25_000}, {2, 2, 25_002}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestVerifyStops(t *testing.T) {
	t.Parallel()
	g := newLongBooks(t)
	ctx, cancel := context.WithCancel(t.Context())
	var last ranking.Progress
	err := ranking.Verify(ctx, g.store, 0, func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(p ranking.Progress) {
		last = p
		cancel()
	})
	if !errors.Is(err, context.Canceled) || last.Matches != 10_000 {
		t.Errorf("after %d matches the error is %v", last.Matches, err)
	}
	if err := ranking.Verify(ctx, g.store, 0, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
