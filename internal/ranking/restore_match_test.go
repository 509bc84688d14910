package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

func (g *game) restore(t *testing.T, sender *command.Person, a ranking.Amendment) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), o, ranking.RestoreMatch{Amendment: a}))
	return g.notice(t, o.Key)
}

func TestRestoreMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 1, 3) // Bob 1516, Alice 1484
	g.record(t, &carol, carol, bob, 3, 0) // Carol 1517, Bob 1499
	before := g.standingTable(t, club.ID, byName)
	g.undo(t, &alice, matchNumber(1)) // Carol 1516, Bob 1484, Alice 1500
	sides := [2]ranking.Side{side(3, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)}
	checkNotice(t, g.restore(t, &alice, matchNumber(1)), ranking.MatchRestored{
		Number: 1, Sides: sides, By: ranking.Reporter{Name: &ranking.Name{Name: "Alice"}},
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{
			change("Alice", 1500, 1484), change("Bob", 1484, 1499), change("Carol", 1516, 1517),
		}},
	})
	equal(t, "the standings", before, g.standingTable(t, club.ID, byName))
	equal(t, "the card", []ranking.MatchRecorded{{Number: 1, Sides: sides, Changes: 2}},
		g.cards(t, 1), cmpopts.EquateEmpty(), untagged)
	checkNotice(t, g.restore(t, &alice, matchNumber(1)), ranking.Refusal{Code: ranking.NotUndone, Number: 1})
	checkNotice(t, g.restore(t, &alice, ranking.Amendment{}), ranking.Refusal{Code: ranking.NotUndone, Number: 1})
	g.verifyClean(t)

	// A restored match can be amended like any other.
	if n, ok := g.fix(t, &alice, ranking.Amendment{}, ladder.Score{A: 3, B: 1}).(ranking.MatchFixed); !ok ||
		n.Number != 1 {
		t.Errorf("the fix is answered with %+v", n)
	}
	if n, ok := g.undo(t, &alice, ranking.Amendment{}).(ranking.MatchUndone); !ok || n.Number != 1 {
		t.Errorf("the second undo is answered with %+v", n)
	}
	if n, ok := g.restore(t, nil, matchNumber(1)).(ranking.MatchRestored); !ok ||
		n.By.Name != nil || n.Sides[0].Players[0].Name.Name != "Alice" || n.Sides[0].Score != 3 {
		t.Errorf("the restore by an anonymous admin is answered with %+v", n)
	}
	want := plainladder.Play(nil, []plainladder.Match{
		{A: []string{"Alice"}, B: []string{"Bob"}, ScoreA: 3, ScoreB: 1}, {A: []string{"Carol"}, B: []string{"Bob"}, ScoreA: 3},
	}).Standings
	equal(t, "the standings", want, g.standingTable(t, club.ID, byName))
}

// TestWhoMayRestore checks that within a day, the person who undid a match and admins can restore
// it. In this test, Bob undid match 2 of Alice and Bob, and an anonymous admin undid match 1 at the
// same time.
func TestWhoMayRestore(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		sender *command.Person
		number int // 0 if the command names no match
		after  time.Duration
		admin  bool
		want   ranking.Refusal // zero if the restore is allowed
	}{
		"who undid it":                  {&bob, 2, 0, false, ranking.Refusal{}},
		"who undid it, just in time":    {&bob, 2, day, false, ranking.Refusal{}},
		"who undid it, too late":        {&bob, 2, day + time.Second, false, ranking.Refusal{Code: ranking.UndoneLongAgo, Number: 2, Minutes: 1440}},
		"by another clock":              {&bob, 2, -time.Hour, false, ranking.Refusal{}},
		"the other player":              {&alice, 2, 0, false, ranking.Refusal{Code: ranking.NotUndoneByYou, Number: 2}},
		"nobody that is known":          {&command.Person{ID: 99, Name: "X"}, 2, 0, false, ranking.Refusal{Code: ranking.NotUndoneByYou, Number: 2}},
		"what an anonymous admin undid": {&bob, 1, 0, false, ranking.Refusal{Code: ranking.NotUndoneByYou, Number: 1}},
		"an admin":                      {&alice, 2, day, true, ranking.Refusal{}},
		"an admin, too late":            {&alice, 2, day + time.Second, true, ranking.Refusal{Code: ranking.UndoneLongAgo, Number: 2, Minutes: 1440}},
		"an anonymous admin":            {nil, 1, day, true, ranking.Refusal{}},
		"an anonymous admin, too late":  {nil, 1, day + time.Second, true, ranking.Refusal{Code: ranking.UndoneLongAgo, Number: 1, Minutes: 1440}},
		"the last one":                  {&bob, 0, day, false, ranking.Refusal{}},
		"the last one, too late":        {&bob, 0, day + time.Second, false, ranking.Refusal{Code: ranking.NothingToRestore, Minutes: 1440}},
		"who undid nothing":             {&alice, 0, 0, true, ranking.Refusal{Code: ranking.NotUndone, Number: 3}},
		"who played nothing lately":     {&alice, 0, day + time.Second, true, ranking.Refusal{Code: ranking.NothingToRestore, Minutes: 1440}},
		"the last one, anonymously":     {nil, 0, 0, true, ranking.Refusal{Code: ranking.WhichUndone}},
		"no such match":                 {&bob, 9, 0, true, ranking.Refusal{Code: ranking.NoSuchMatch, Number: 9}},
		"a match that counts":           {&bob, 3, 0, true, ranking.Refusal{Code: ranking.NotUndone, Number: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			for range 3 {
				g.record(t, &alice, alice, bob, 3, 1)
			}
			g.undo(t, nil, matchNumber(1))
			g.undo(t, &bob, matchNumber(2))
			o := g.origin(tc.sender)
			o.SentAt = o.SentAt.Add(tc.after)
			ctx := t.Context()
			if tc.admin {
				ctx = asAdmin(t)
			}
			must(t, g.Do(ctx, o, ranking.RestoreMatch{Amendment: matchNumber(tc.number)}))
			switch n := g.notice(t, o.Key).(type) {
			case ranking.Refusal:
				checkNotice(t, n, tc.want)
			case ranking.MatchRestored:
				if tc.want.Code != "" {
					t.Errorf("it is restored, want %+v", tc.want)
				}
			}
			restored := 0
			if tc.want.Code == "" {
				restored = 1
			}
			g.has(t, 2-restored, "matches WHERE undone_at IS NOT NULL")
		})
	}
}

// TestLastUndone checks that a restore without a number means the match that the sender undid last.
// A restore in reply to a card means the match on the card.
func TestLastUndone(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for i := range 3 {
		g.record(t, &alice, alice, bob, 3, 1)
		o := g.at(&bob, 10-i) // the first match is undone last
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(i + 1)}))
	}
	g.exec(t, `INSERT INTO match_messages SELECT -100, 500 + number, id FROM matches`)
	card := ranking.Amendment{Match: ranking.MatchRef{Message: 502, Key: "m:-100:502"}}
	for i, a := range []ranking.Amendment{{}, card, {}} {
		if n, ok := g.restore(t, &bob, a).(ranking.MatchRestored); !ok || n.Number != i+1 {
			t.Errorf("restore %d is answered with %+v", i+1, n)
		}
	}
	checkNotice(t, g.asAdmin(t, &bob,
		ranking.RestoreMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Message: 9, Key: "m:-100:9"}}}),
		ranking.Refusal{Code: ranking.NotAboutAMatch})
}

// TestRestoreOfOnePersonTwice checks that a match of a person against themselves stays undone, no
// matter whether the player, an anonymous admin or the merge undid it. Another match that an
// anonymous admin undid can be restored.
func TestRestoreOfOnePersonTwice(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	named, withName := command.Person{Username: "zoe"}, zoe
	withName.Username = "zoe"
	for range 3 {
		g.record(t, &zoe, zoe, named, 3, 1)
	}
	g.record(t, &alice, alice, named, 3, 1)
	g.undo(t, &zoe, matchNumber(1))
	g.undo(t, nil, matchNumber(2))
	g.undo(t, nil, matchNumber(4))
	g.page(t, &withName) // merges the two players, which undoes match 3
	if n := g.count(t, "matches WHERE undone_at IS NOT NULL"); n != 4 {
		t.Fatalf("%d matches are undone, want 4", n)
	}
	for n := 1; n <= 3; n++ {
		checkNotice(t, g.restore(t, nil, matchNumber(n)), ranking.Refusal{Code: ranking.SamePersonTwice, Number: n})
	}
	g.verifyClean(t)
	if n, ok := g.asAdmin(t, &alice, ranking.RestoreMatch{Amendment: matchNumber(4)}).(ranking.MatchRestored); !ok ||
		n.Sides[1].Players[0].Name.Name != "Zoe" {
		t.Errorf("match 4 is answered with %+v", n)
	}
}

// TestStalePresses checks that if the change count in a button differs from the change count of the
// match, a press gets only a toast and changes nothing.
func TestStalePresses(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for range 3 {
		g.record(t, &alice, alice, bob, 3, 1) // match 1 stays as it is
	}
	g.undo(t, &alice, matchNumber(2)) // 1 change
	g.undo(t, &alice, matchNumber(3))
	g.restore(t, &alice, matchNumber(3)) // 2 changes
	const unanswered = "action <> 'callback_answer'"
	before := g.matchesAndNotices(t, unanswered)
	current := []int{1: 0, 2: 1, 3: 2}
	for number := 1; number <= 3; number++ {
		for _, changes := range []int{0, 1, 2, 3, 1 << 30} {
			if changes == current[number] {
				continue
			}
			for name, amend := range amendments {
				o := g.origin(&alice)
				o.Button = o.Key
				a := ranking.Amendment{Match: ranking.MatchRef{Number: number}, Changes: &changes}
				must(t, g.Do(asAdmin(t), o, amend(a)))
				want := ranking.Refusal{Code: ranking.ChangedSince, Number: number}
				if number == 2 && name != "restore" {
					want = ranking.Refusal{Code: ranking.UndoneAlready, Number: number, Minutes: 1440}
				}
				if got := g.callbackAnswer(t, o); got != ranking.Notice(want) {
					t.Errorf("%s %d with %d changes is answered with %+v", name, number, changes, got)
				}
			}
		}
	}
	equal(t, "something has changed", before, g.matchesAndNotices(t, unanswered))
	changes := 2
	o := g.origin(&alice)
	o.Button = o.Key
	must(t, g.Do(t.Context(), o, ranking.UndoMatch{
		Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 3}, Changes: &changes},
	}))
	g.has(t, 1, "matches WHERE number = 3 AND undone_at IS NOT NULL AND changes = 3")
}

// TestTwoPressesAtOnce checks that of two concurrent presses of one button on two instances, one
// takes effect, and the other is refused with a toast.
func TestTwoPressesAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	const rounds = 60
	services := []*ranking.Service{g.Service, g.newInstance()}
	for round := range rounds {
		var presses errgroup.Group
		for i, sender := range []*command.Person{&alice, &bob} {
			o := from(sender, fmt.Sprintf("c:%d:%d", round, i))
			o.Button = o.Key
			a := ranking.Amendment{Match: ranking.MatchRef{Number: 1}, Changes: &round}
			var press ranking.Operation = ranking.UndoMatch{Amendment: a}
			if round%2 == 1 {
				press = ranking.RestoreMatch{Amendment: a}
			}
			presses.Go(func() error { return services[i].Do(asAdmin(t), o, press) })
		}
		must(t, presses.Wait())
	}
	type answers struct {
		Action, Kind string
		Count        int
	}
	want := []answers{
		{"callback_answer", "match_restored", rounds / 2}, {"callback_answer", "match_undone", rounds / 2}, {"callback_answer", "refusal", rounds},
		{"send", "match_recorded", 2}, {"send", "match_restored", rounds / 2}, {"send", "match_undone", rounds / 2},
	}
	got := rows[answers](t, g, `SELECT action, kind, count(*) FROM outbox
		WHERE action <> 'edit' GROUP BY 1, 2 ORDER BY 1, 2`)
	equal(t, "answers", want, got)
	for _, want := range []string{
		`{"code": "undone_already", "number": 1, "minutes": 1440}`, `{"code": "changed_since", "number": 1}`,
	} {
		if n := g.count(t, `outbox WHERE kind = 'refusal' AND payload = '`+want+`'`); n != rounds/2 {
			t.Errorf("%d refusals are %s, want %d", n, want, rounds/2)
		}
	}
	g.has(t, 1, fmt.Sprintf("matches WHERE number = 1 AND changes = %d AND undone_at IS NULL", rounds))
}

// TestTooFarBack checks that an amendment of a match with too many later matches is refused, and
// the refusal says how many there are.
func TestTooFarBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for range 4 {
		g.record(t, &alice, alice, bob, 3, 1)
	}
	g.undo(t, &alice, matchNumber(1))
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1, LongestReplay: 2})
	checkNotice(t, g.restore(t, &alice, matchNumber(1)), ranking.Refusal{Code: ranking.TooFarBack, Number: 1, Matches: 3})
	if _, ok := g.fix(t, &alice, matchNumber(2), ladder.Score{A: 1, B: 3}).(ranking.MatchFixed); !ok {
		t.Error("a fix within the bound is refused")
	}
	g.record(t, &alice, alice, bob, 3, 1)
	for _, got := range []ranking.Notice{
		g.undo(t, &alice, matchNumber(2)), g.fix(t, &alice, matchNumber(2), ladder.Score{A: 3}),
	} {
		checkNotice(t, got, ranking.Refusal{Code: ranking.TooFarBack, Number: 2, Matches: 3})
	}
	g.has(t, 2, "matches WHERE changes > 0")
}
