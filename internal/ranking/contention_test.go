package ranking_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"elobot/internal/ranking"
)

// TestContention has three instances record matches of the same four players at the same time, and take some back. Every match
// is recorded in the end: an order that has lost once holds the group, and loses then only to whoever was faster to make known
// some of the four. Whoever won the first time has made known two at least, so none loses more than three times, and each is
// tried four times.
func TestContention(t *testing.T) {
	t.Parallel()
	const clients, each = 2, 20 // more than one in each instance, and orders of each of them
	g := newGame(t)
	var all [instances]*instance
	told := make([]bytes.Buffer, instances)
	var work errgroup.Group
	for n := range all {
		i := &instance{
			assignment: assignment{Seed: 1, First: 1 + 1_000_000*int64(n), Each: each, TakesBack: n == 0},
			service:    g.another(), store: g.store, out: &told[n],
		}
		for c := range clients {
			work.Go(func() error { return i.client(t.Context(), c) })
		}
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	orders := make(map[int64]order)
	for n := range told {
		for events := json.NewDecoder(&told[n]); events.More(); {
			var e event
			if err := events.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if e.Begin != nil {
				orders[e.Begin.Message] = *e.Begin
			}
		}
	}
	if want := instances * clients * each; len(orders) != want {
		t.Errorf("%d orders were given, want %d", len(orders), want)
	}
	l := trial{t, g, orders}.check()
	if want := (instances*clients - 1) * each; len(l.claims) != want { // one client takes back
		t.Errorf("%d results were accepted, want all %d", len(l.claims), want)
	}
}

// answered is the answer to an order, as it lies in the outbox.
type answered struct {
	Message int64 // which it answers
	Kind    string
	Told    told
}

// told is what the payloads of answers of all kinds have.
type told struct {
	Code   ranking.RefusalCode
	Number int
	Undone bool
	Sides  [2]struct {
		Score   int
		Players []struct{ Name struct{ Name string } }
	}
	Was *struct{ Score [2]int }
}

// stored is a match, as it lies in the database or as it must lie there.
type stored struct {
	Number         int
	Key            string
	A, B           []string
	ScoreA, ScoreB int
	Undone         bool
}

// claim is what the answers tell of a match.
type claim struct {
	stored
	made order   // what it comes from
	was  *[2]int // the score before it was corrected last
	card told
}

// ledger is what all answers tell, in the order in which they were given.
type ledger struct {
	claims  map[int]*claim // by number
	refused map[ranking.RefusalCode]int
	undone  int
	fixed   int
}

// refusals are the codes with which the kinds of orders may be refused.
var refusals = map[string][]ranking.RefusalCode{
	recordOrder: {ranking.TooManyAtOnce},
	undoOrder:   {ranking.TooManyAtOnce, ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready},
	fixOrder:    {ranking.TooManyAtOnce, ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready, ranking.SameScore},
}

// enter takes the next answer in.
func (l *ledger) enter(o order, kind string, n told) error {
	switch {
	case kind == ranking.KindMatchRecorded && o.Kind == recordOrder:
		if l.claims[n.Number] != nil {
			return fmt.Errorf("there are two matches with the number %d", n.Number)
		}
		l.claims[n.Number] = &claim{made: o, card: n, stored: stored{
			Number: n.Number, Key: o.key(), A: namesOf(o.A), B: namesOf(o.B), ScoreA: o.Score.A, ScoreB: o.Score.B,
		}}
		return nil
	case kind == ranking.KindMatchUndone && o.Kind == undoOrder:
		l.undone++
		return l.undo(o, n)
	case kind == ranking.KindMatchFixed && o.Kind == fixOrder:
		l.fixed++
		return l.fix(o, n)
	case kind == ranking.KindRefusal:
		l.refused[n.Code]++
		if slices.Contains(refusals[o.Kind], n.Code) {
			return nil
		}
	}
	return fmt.Errorf("the answer is %s %s", kind, n.Code)
}

// find returns the match that an order has taken back.
func (l *ledger) find(o order, n told) (*claim, error) {
	c := l.claims[n.Number]
	switch {
	case c == nil || c.Undone:
		return nil, fmt.Errorf("match %d cannot be taken back: there is none that counts", n.Number)
	case o.Match.Number != 0 && o.Match.Number != n.Number, o.Match.Message != 0 && o.Match.Message != c.made.Message:
		return nil, fmt.Errorf("match %d was not meant", n.Number)
	}
	return c, nil
}

func (l *ledger) undo(o order, n told) error {
	c, err := l.find(o, n)
	if err != nil {
		return err
	}
	c.Undone = true
	return c.mustSay(n)
}

func (l *ledger) fix(o order, n told) error {
	c, err := l.find(o, n)
	if err != nil {
		return err
	}
	was, score := [2]int{c.ScoreA, c.ScoreB}, [2]int{o.Score.A, o.Score.B}
	turned := c.turned()
	switch {
	case o.Match.Message != 0: // the order of the command
		turned = false
	case o.Match.Number == 0: // the sender's own score first
		turned = slices.Contains(c.B, four[o.Sender].Name)
	}
	if turned {
		slices.Reverse(score[:])
	}
	c.was, c.ScoreA, c.ScoreB = &was, score[0], score[1]
	if n.Was == nil {
		return fmt.Errorf("it does not say what the score was")
	}
	return c.mustSay(n)
}

// turned says that the card has side B first, because it had won at first.
func (c *claim) turned() bool { return c.made.Score.B > c.made.Score.A }

// mustSay checks that the sides of a notice are those of the match, the one that scored more at first first.
func (c *claim) mustSay(n told) error {
	sides, scores, was := [2][]string{c.A, c.B}, [2]int{c.ScoreA, c.ScoreB}, c.was
	if c.turned() {
		slices.Reverse(sides[:])
		slices.Reverse(scores[:])
		if was != nil {
			was = &[2]int{was[1], was[0]}
		}
	}
	if n.Was != nil && (was == nil || n.Was.Score != *was) {
		return fmt.Errorf("match %d: the score was %v, want %v", c.Number, n.Was.Score, was)
	}
	for side := range sides {
		var names []string
		for _, p := range n.Sides[side].Players {
			names = append(names, p.Name.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, sides[side]) || n.Sides[side].Score != scores[side] {
			return fmt.Errorf("match %d: %v %d, want %v %d", c.Number, names, n.Sides[side].Score, sides[side], scores[side])
		}
	}
	return nil
}

// namesOf returns what players are called, in the order of the names.
func namesOf(players []int) []string {
	var names []string
	for _, i := range players {
		names = append(names, four[i].Name)
	}
	slices.Sort(names)
	return names
}

// trial is what was ordered in a game that is over.
type trial struct {
	*testing.T
	g      *game
	orders map[int64]order // by message
}

// check compares all that is stored with what was ordered and with what the answers say.
func (t trial) check() *ledger {
	t.Helper()
	l := t.readAnswers()
	t.checkKeys()
	t.checkMatches(l)
	t.checkTable(l)
	verifyClean(t.T, t.g.store)
	t.Logf("%d orders: %d results accepted, %d undone, %d fixed, refused: %v", len(t.orders), len(l.claims), l.undone, l.fixed, l.refused)
	if len(l.claims) == 0 {
		t.Error("nothing was recorded: whoever loses loses to somebody")
	}
	return l
}

// readAnswers reads all answers. Every order must have exactly one.
func (t trial) readAnswers() *ledger {
	t.Helper()
	l := &ledger{claims: make(map[int]*claim), refused: make(map[ranking.RefusalCode]int)}
	seen := make(map[int64]bool)
	for _, a := range rows[answered](t.T, t.g, `
		SELECT coalesce(reply_to, 0), kind, payload FROM outbox WHERE action <> 'edit' ORDER BY id`) {
		o, begun := t.orders[a.Message]
		switch {
		case !begun:
			t.Errorf("a %s answers message %d, which nobody has sent", a.Kind, a.Message)
			continue
		case seen[a.Message]:
			t.Errorf("%s %s is answered again: %s", o.Kind, o.key(), a.Kind)
			continue
		}
		seen[a.Message] = true
		if err := l.enter(o, a.Kind, a.Told); err != nil {
			t.Errorf("%s %s: %v", o.Kind, o.key(), err)
		}
	}
	for message, o := range t.orders {
		if !seen[message] {
			t.Errorf("%s %s has no answer", o.Kind, o.key())
		}
	}
	return l
}

// checkKeys checks that the keys of the orders are there, and no others.
func (t trial) checkKeys() {
	t.Helper()
	var want []string
	for _, o := range t.orders {
		want = append(want, o.key())
	}
	slices.Sort(want)
	got := rows[struct{ Key string }](t.T, t.g, `SELECT key FROM handled_commands ORDER BY key COLLATE "C"`)
	if !slices.EqualFunc(got, want, func(g struct{ Key string }, w string) bool { return g.Key == w }) {
		t.Errorf("%d keys of commands that were handled, want %d", len(got), len(want))
	}
}

// checkMatches compares the matches with what the answers say of them, and their cards as they are to be sent now.
func (t trial) checkMatches(l *ledger) {
	t.Helper()
	var want []stored
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		c := l.claims[number]
		want = append(want, c.stored)
		err := c.mustSay(c.card)
		if err != nil || c.card.Undone != c.Undone || (c.card.Was == nil) != (c.was == nil || c.Undone) {
			t.Errorf("the card of match %d says %+v: %v", number, c.card, err)
		}
		if number != len(want) {
			t.Errorf("the match after %d has the number %d", len(want)-1, number)
		}
	}
	const side = `ARRAY(SELECT p.display_name FROM match_players mp JOIN players p ON p.id = mp.player_id
		WHERE mp.match_id = m.id AND mp.side = %d ORDER BY 1)`
	got := rows[stored](t.T, t.g, fmt.Sprintf(`
		SELECT m.number, m.idempotency_key, `+side+`, `+side+`, m.score_a, m.score_b, m.undone_at IS NOT NULL
		FROM matches m ORDER BY m.number`, 1, 2))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	if n := t.g.count(t.T, "match_fixes"); n != l.fixed {
		t.Errorf("%d corrections are stored, %d were told", n, l.fixed)
	}
	if n := t.g.count(t.T, fmt.Sprintf("groups WHERE last_match_number = %d", len(want))); n != 1 {
		t.Errorf("the last number that was drawn is not %d", len(want))
	}
}

// checkTable compares the standings with what a plain list of the matches that count makes of them.
func (t trial) checkTable(l *ledger) {
	t.Helper()
	var bouts []bout
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		if c := l.claims[number]; !c.Undone {
			bouts = append(bouts, bout{A: c.A, B: c.B, ScoreA: c.ScoreA, ScoreB: c.ScoreB})
		}
	}
	got, sum := t.g.places(t.T, club.ID, byName), 0
	for _, p := range got {
		sum += p.Elo
	}
	if diff := cmp.Diff(recalculate(nil, bouts), got); diff != "" {
		t.Errorf("standings (-want +got):\n%s", diff)
	}
	if want := 1500 * len(got); sum != want {
		t.Errorf("the sum of the ratings is %d, want %d", sum, want)
	}
}
