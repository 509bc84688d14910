package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"elobot/internal/ranking"
)

// setRules returns a change to rules by an admin.
func setRules(to ranking.Rules) ranking.RulesChange {
	return ranking.RulesChange{Change: func(ranking.Rules) ranking.Rules { return to }, IsAdmin: admin, Shown: 55}
}

// changeRules has somebody press a button that changes the rules of the club, and returns the answer to that.
func (g *game) changeRules(t *testing.T, sender *ranking.Person, r ranking.RulesChange) ranking.Notice {
	t.Helper()
	o := g.press(sender)
	must(t, g.ChangeRules(t.Context(), o, r))
	return g.answer(t, o.Key, toast)
}

// rules returns the stored rules of the club.
func (g *game) rules(t *testing.T) ranking.Rules {
	t.Helper()
	snap, err := g.store.Read(t.Context(), ranking.Query{Key: "unknown", Chat: club})
	must(t, err)
	return snap.Ladder.Rules
}

// TestChangeRules changes all rules. They apply from the next match on, also to what is left of a player's first matches.
func TestChangeRules(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	rules := ranking.Rules{Start: 1600, UnevenTeamsAllowed: true, RatingRules: ranking.RatingRules{
		K: 20, Provisional: ranking.Provisional{K: 40, Matches: 2}, Margin: true,
	}}
	changed := ranking.RulesChanged{Before: defaultRules, After: rules}
	checkNotice(t, g.changeRules(t, &zoe, setRules(rules)), changed)
	if got := g.rules(t); got != rules {
		t.Errorf("the rules are %+v, want %+v", got, rules)
	}
	g.record(t, &alice, carol, alice, 3, 1)
	card := g.record(t, &alice, alice, bob, 2, 1)
	o := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 1, 1)))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.NoDraws})
	// Alice loses 40·1.5 times her expected 0.381. Her third match changes her by 20 times Bob's expected 0.487, and him by 40
	// times that, because it is only his second.
	want := []historyRow{
		{1, "Alice", 1500, 1516, 32, 1500, 0, 0}, {1, "Bob", 1500, 1484, 32, 1500, 0, 0},
		{2, "Carol", 1600, 1623, 40, 1600, 0, 0}, {2, "Alice", 1516, 1493, 40, 1516, 1, 1},
		{3, "Alice", 1493, 1503, 20, 1516, -1, 1}, {3, "Bob", 1484, 1465, 40, 1500, -1, 0},
	}
	if got := g.currentHistory(t, club.ID, byName); !slices.Equal(got, want) {
		t.Errorf("the history is\n%v, want\n%v", got, want)
	}
	wantSides := [2]ranking.Side{
		{Score: 2, Players: []ranking.RatingChange{change("Alice", 1493, 1503)}},
		{Score: 1, Players: []ranking.RatingChange{change("Bob", 1484, 1465)}},
	}
	checkNotice(t, card, ranking.MatchRecorded{Number: 3, Sides: wantSides})
}

// TestUndoneMatchIsNotAmongTheFirst undoes a match, so that a later one is among a player's first matches.
func TestUndoneMatchIsNotAmongTheFirst(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	rules := defaultRules
	rules.Provisional = ranking.Provisional{K: 64, Matches: 1}
	g.changeRules(t, &alice, setRules(rules))
	g.record(t, &alice, alice, carol, 1, 0)
	g.undo(t, &alice, matchNumber(1))
	want := []historyRow{{2, "Alice", 1500, 1532, 64, 1500, 0, 0}, {2, "Carol", 1500, 1468, 64, 1500, 0, 0}}
	if got := g.currentHistory(t, club.ID, byName); !slices.Equal(got, want) {
		t.Errorf("the history is\n%v, want\n%v", got, want)
	}
	superseded := rows[historyRow](t, g, `
		SELECT m.number, p.display_name, elo_before, elo_after, h.k_factor, best_before, streak_before, longest_before
		FROM elo_history h JOIN matches m ON m.id = h.match_id JOIN players p ON p.id = h.player_id
		WHERE superseded_at < 'infinity' AND number = 2 ORDER BY h.id`)
	// Carol gains and loses as much as before, but from a higher Alice
	before := []historyRow{{2, "Alice", 1516, 1531, 32, 1516, 1, 1}, {2, "Carol", 1500, 1469, 64, 1500, 0, 0}}
	if !slices.Equal(superseded, before) {
		t.Errorf("superseded are\n%v, want\n%v", superseded, before)
	}
}

func TestRulesRefused(t *testing.T) {
	t.Parallel()
	nobodyKnows := func(context.Context) (bool, error) { return false, errors.New("no answer") }
	other := defaultRules
	other.K = 40
	for name, tc := range map[string]struct {
		rules   ranking.Rules
		isAdmin func(context.Context) (bool, error)
		want    ranking.RefusalCode
	}{
		"a member":       {other, nobodyIsAdmin, ranking.AdminsOnly},
		"admins unknown": {other, nobodyKnows, ranking.AdminsUnknown},
		"the same rules": {defaultRules, nobodyIsAdmin, ranking.SameRules},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			r := setRules(tc.rules)
			r.IsAdmin = tc.isAdmin
			notice := g.changeRules(t, &carol, r)
			checkNotice(t, notice, ranking.Refusal{Code: tc.want})
			if got := g.rules(t); got != defaultRules {
				t.Errorf("the rules are %+v", got)
			}
			if n := g.count(t, "players WHERE display_name = 'Carol'"); n != 0 {
				t.Error("whoever is refused becomes a player")
			}
		})
	}
}

// TestChangeRulesFirst changes the rules of a chat that the bot does not know yet, because its database is another one.
func TestChangeRulesFirst(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	rules := defaultRules
	rules.DrawsAllowed = false
	checkNotice(t, g.changeRules(t, &alice, setRules(defaultRules)), ranking.Refusal{Code: ranking.SameRules})
	checkNotice(t, g.changeRules(t, &alice, setRules(rules)), ranking.RulesChanged{Before: defaultRules, After: rules})
	if got := g.rules(t); got != rules {
		t.Errorf("the rules are %+v", got)
	}
}

// TestRulesChangedTwice delivers a change again after another one.
func TestRulesChangedTwice(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	add := func(n int) ranking.RulesChange {
		return ranking.RulesChange{IsAdmin: admin, Shown: 55, Change: func(r ranking.Rules) ranking.Rules {
			r.K += n
			return r
		}}
	}
	first := g.press(&alice)
	for i, o := range []ranking.Origin{first, g.press(&bob), first} {
		must(t, g.ChangeRules(t.Context(), o, add(1+9*(i%2))))
	}
	if got := g.rules(t).K; got != 32+1+10 {
		t.Errorf("K is %d", got)
	}
}

// TestRulesChangedAtOnce has several admins change the rules at the same time, each by another instance. All changes
// take effect, and each notice continues from the one before.
func TestRulesChangedAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	const admins = 4
	set := [admins]func(*ranking.Rules){
		func(r *ranking.Rules) { r.K = 64 }, func(r *ranking.Rules) { r.Start = 1000 },
		func(r *ranking.Rules) { r.Margin = true }, func(r *ranking.Rules) { r.DrawsAllowed = false },
	}
	var all errgroup.Group
	for i := range admins {
		service, sender := g.newInstance(), ranking.Person{ID: ranking.UserID(100 + i), Name: fmt.Sprint("Admin ", i)}
		o := g.press(&sender)
		all.Go(func() error {
			return service.ChangeRules(t.Context(), o, ranking.RulesChange{IsAdmin: admin, Shown: 55, Change: func(r ranking.Rules) ranking.Rules {
				set[i](&r)
				return r
			}})
		})
	}
	must(t, all.Wait())
	want := defaultRules
	for _, change := range set {
		change(&want)
	}
	if got := g.rules(t); got != want {
		t.Errorf("the rules are %+v, want %+v", got, want)
	}
	now := defaultRules
	notices := texts(t, g, `SELECT payload::text FROM outbox WHERE kind = 'rules_changed'`)
	for range notices {
		i := slices.IndexFunc(notices, func(payload string) bool {
			n, _ := decode[ranking.RulesChanged](t, g, []byte(payload)).(ranking.RulesChanged)
			return n.Before == now
		})
		if i < 0 {
			t.Fatalf("no notice continues from %+v: %v", now, notices)
		}
		now = decode[ranking.RulesChanged](t, g, []byte(notices[i])).(ranking.RulesChanged).After
	}
	if len(notices) != admins || now != want {
		t.Errorf("%d notices lead to %+v", len(notices), now)
	}
}
