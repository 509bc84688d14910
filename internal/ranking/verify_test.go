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

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// describe formats a finding, which must be in the club.
func describe(t *testing.T, f ranking.Finding) string {
	t.Helper()
	if f.Chat != club.ID || f.Title != club.Title || f.Player != "" && f.Season != 1 {
		t.Errorf("found outside of the club: %+v", f)
	}
	text := string(f.Problem)
	if f.Number != 0 {
		text += fmt.Sprintf(" %d", f.Number)
	}
	if f.Player != "" {
		text += " " + f.Player
	}
	if f.Stored != "" || f.Want != "" {
		text += fmt.Sprintf(": %s | %s", cmp.Or(f.Stored, "nothing"), cmp.Or(f.Want, "nothing"))
	}
	return text
}

// mustFind verifies all groups, and checks that the findings are exactly want.
func (g *game) mustFind(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, f := range verify(t, g.store) {
		got = append(got, describe(t, f))
	}
	equal(t, "found", want, got, cmpopts.EquateEmpty())
}

// TestVerifyAndRepair checks that a verification finds exactly the expected problems of each
// corruption, and a repair leaves only the problems that it cannot fix.
func TestVerifyAndRepair(t *testing.T) {
	t.Parallel()
	for name, c := range corruptions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAuditGame(t)
			want := g.standings(t)
			g.corrupt(t, name)
			g.mustFind(t, c.want...)
			if c.unrepairable || c.err != nil {
				g.mustRepairNothing(t, c.err)
				return
			}
			history, transaction := g.history(t), g.nextTransaction(t)
			g.mustRepair(t)
			g.mustBeOneTransaction(t, transaction)
			mustAppend(t, history, g.history(t))
			g.mustFind(t, c.remaining...)
			if diff := gocmp.Diff(want, g.standings(t)); (diff == "") == c.changesMatches {
				t.Errorf("standings (-original +repaired):\n%s", diff)
			}
			g.mustRepairNothing(t, nil)
		})
	}
}

// TestEveryProblemIsFound checks that each of these problems is an expected finding of some
// corruption.
func TestEveryProblemIsFound(t *testing.T) {
	t.Parallel()
	for _, problem := range []ranking.Problem{
		ranking.MissingNumber, ranking.NumberNotAssigned, ranking.MissingKey, ranking.DuplicateKey, ranking.WrongSides,
		ranking.WrongParts, ranking.WrongSets, ranking.MissingEntry, ranking.EntryOfUndone, ranking.WrongEntry,
		ranking.WrongElo, ranking.WrongBest, ranking.WrongStreak, ranking.WrongLastPlayed, ranking.WrongCounters,
		ranking.MergedPlayer, ranking.ForeignPlayer, ranking.WrongStart,
	} {
		found := false
		for _, c := range corruptions {
			found = found || slices.ContainsFunc(c.want,
				func(w string) bool { return strings.HasPrefix(w, string(problem)+" ") })
		}
		if !found {
			t.Errorf("no corruption causes %s", problem)
		}
	}
}

func TestVerifyTellsNamesakesApart(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, command.Person{ID: 11, Name: "Alex"},
		command.Person{ID: 12, Name: "alex", Username: "second"}, 3, 1)
	g.exec(t, "UPDATE group_players SET streak = 0")
	g.corrupted = true
	g.mustFind(t, "wrong_streak Alex (player 1): 0 | 1", "wrong_streak alex (player 2): 0 | -1")
}

// TestVerifyOneGroup checks that a verification of one group finds nothing in others. An unknown
// group is an error.
func TestVerifyOneGroup(t *testing.T) {
	t.Parallel()
	g := newAuditGame(t)
	g.exec(t, "UPDATE group_players SET best_elo = 9999")
	g.corrupted = true
	for chat, want := range map[ranking.ExternalChatID]int{0: 8, club.ID: 5, pub.ID: 3} {
		var found int
		var last ranking.Progress
		err := ranking.Verify(t.Context(), g.store, chat, func(f ranking.Finding) {
			found++
			if chat != 0 && f.Chat != chat {
				t.Errorf("found in %d: %+v", chat, f)
			}
		}, func(p ranking.Progress) { last = p })
		must(t, err)
		if found != want || chat != 0 && last.OfGroups != 1 {
			t.Errorf("found %d problems in %d of %d groups, want %d problems", found, chat, last.OfGroups, want)
		}
	}
	err := ranking.Verify(t.Context(), g.store, -300,
		func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(ranking.Progress) { t.Error("progress was called") })
	if !errors.Is(err, ranking.ErrNoSuchGroup) {
		t.Errorf("error is %v", err)
	}
}

// interruptedAudit is an AuditStore that calls do before each read except Groups.
type interruptedAudit struct {
	ranking.AuditStore
	do func(context.Context) error
}

func (m interruptedAudit) Audit(ctx context.Context, fn func(context.Context, ranking.AuditReader) error) error {
	return m.AuditStore.Audit(ctx, func(ctx context.Context, reader ranking.AuditReader) error {
		return fn(ctx, interruptedReader{reader, m.do})
	})
}

type interruptedReader struct {
	ranking.AuditReader
	do func(context.Context) error
}

func (d interruptedReader) MatchHistory(
	ctx context.Context, season ladder.SeasonID, from ladder.Position, others ...ladder.PlayerID,
) (ladder.History, error) {
	if err := d.do(ctx); err != nil {
		return ladder.History{}, err
	}
	return d.AuditReader.MatchHistory(ctx, season, from, others...)
}

func (d interruptedReader) IntegrityIssues(
	ctx context.Context, group ranking.GroupID,
) (ranking.IntegrityIssues, error) {
	if err := d.do(ctx); err != nil {
		return ranking.IntegrityIssues{}, err
	}
	return d.AuditReader.IntegrityIssues(ctx, group)
}

// TestVerifyReadsOneSnapshot checks that matches that are recorded and undone between the reads of
// an audit cause no findings.
func TestVerifyReadsOneSnapshot(t *testing.T) {
	t.Parallel()
	g := newAuditGame(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		for n := 1; ; n++ {
			o := g.origin(&alice)
			err := g.RecordMatch(ctx, o, singles(alice, bob, n%3, 1))
			if err == nil && n%4 == 0 {
				err = g.Do(dbtest.AsAdmin(ctx), g.origin(&alice), ranking.UndoMatch{})
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
	store := interruptedAudit{g.store, func(ctx context.Context) error {
		for range 2 { // the first step may have started before the read
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}}
	for range 2 {
		before := g.count(t, "matches")
		var seen int
		err := ranking.Verify(t.Context(), store, 0, func(f ranking.Finding) { t.Errorf("found %+v", f) },
			func(p ranking.Progress) { seen = p.Matches })
		must(t, err)
		if after := g.count(t, "matches"); seen < before || seen+4 > after {
			t.Errorf("the audit saw %d matches; there were %d before it and %d after it", seen, before, after)
		}
	}
	stop()
	if err := writer.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	g.verifyClean(t)
}

// longAudit is an AuditStore with one group that has the given number of undone matches.
type longAudit struct {
	ranking.AuditReader
	matches int
}

func (l longAudit) Audit(ctx context.Context, fn func(context.Context, ranking.AuditReader) error) error {
	return fn(ctx, l)
}

func (l longAudit) Groups(context.Context, ranking.ExternalChatID) ([]ranking.AuditedGroup, error) {
	return []ranking.AuditedGroup{
		{Chat: club.ID, Title: club.Title, Group: 1, Seasons: []ladder.SeasonID{1}, Names: []string{""}},
	}, nil
}

func (l longAudit) MatchHistory(
	context.Context, ladder.SeasonID, ladder.Position, ...ladder.PlayerID,
) (h ladder.History, err error) {
	for n := range l.matches {
		h.Matches = append(h.Matches, ladder.Match{Number: n + 1, Undone: true})
	}
	return h, nil
}

func (l longAudit) IntegrityIssues(context.Context, ranking.GroupID) (ranking.IntegrityIssues, error) {
	return ranking.IntegrityIssues{}, nil
}

func TestVerifyProgress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		store ranking.AuditStore
		want  []ranking.Progress
	}{
		"many matches": {longAudit{matches: 25_000}, []ranking.Progress{{0, 1, 10_000}, {0, 1, 20_000}, {1, 1, 25_000}}},
		"many groups":  {newAuditGame(t).store, []ranking.Progress{{1, 2, 7}, {2, 2, 9}}},
	} {
		var got []ranking.Progress
		err := ranking.Verify(t.Context(), tc.store, 0, func(f ranking.Finding) { t.Errorf("%s: found %+v", name, f) },
			func(p ranking.Progress) { got = append(got, p) })
		must(t, err)
		equal(t, name+": progress", tc.want, got)
	}
}

// TestVerifyStops checks that Verify stops when its context ends, within a long ladder and between
// groups.
func TestVerifyStops(t *testing.T) {
	t.Parallel()
	for after, store := range map[int]ranking.AuditStore{10_000: longAudit{matches: 25_000}, 7: newAuditGame(t).store} {
		ctx, cancel := context.WithCancel(t.Context())
		var last ranking.Progress
		err := ranking.Verify(ctx, store, 0, func(f ranking.Finding) { t.Errorf("found %+v", f) }, func(p ranking.Progress) {
			last = p
			cancel()
		})
		if !errors.Is(err, context.Canceled) || last.Matches != after {
			t.Errorf("after %d matches the error is %v, want it after %d", last.Matches, err, after)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ranking.Verify(ctx, newGame(t).store, 0, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
