package ranking_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

var (
	contentionFor  = flag.Duration("contention.for", 20*time.Second, "how long instances of the service contend")
	contentionSeed = flag.Uint64("contention.seed", 0, "repeats a test of contention with the seed that it printed")
)

// TestContention has three instances in processes of their own record matches of the same four players at the same
// time, and take some back.
func TestContention(t *testing.T) {
	t.Parallel()
	f := newFleet(t, newGame(t))
	for slot := range instances {
		f.launch(slot)
	}
	f.waitUntil(*contentionFor)
	f.dismiss()
	f.check()
}

// tally is what a plain list of matches makes of a player.
type tally struct{ Elo, Played, Won, Drawn, Lost int }

// bout is a match that counts, with the names of those who played it.
type bout struct {
	A, B           []string
	ScoreA, ScoreB int
}

// reckon plays all matches by an Elo of its own. Nobody here comes near the ends of the scale.
func reckon(bouts []bout) map[string]tally {
	table := make(map[string]tally)
	for _, b := range bouts {
		var sum [2]float64
		for side, names := range [2][]string{b.A, b.B} {
			for _, name := range names {
				if _, there := table[name]; !there {
					table[name] = tally{Elo: 1500}
				}
				sum[side] += float64(table[name].Elo) / float64(len(names))
			}
		}
		score := 0.5
		switch {
		case b.ScoreA > b.ScoreB:
			score = 1
		case b.ScoreA < b.ScoreB:
			score = 0
		}
		expected := 1 / (1 + math.Exp(math.Ln10*(sum[1]-sum[0])/400))
		change := int(math.Round(32 * (score - expected))) // half away from zero
		for _, name := range b.A {
			table[name] = table[name].play(change, b.ScoreA, b.ScoreB)
		}
		for _, name := range b.B {
			table[name] = table[name].play(-change, b.ScoreB, b.ScoreA)
		}
	}
	return table
}

func (t tally) play(change, own, other int) tally {
	t.Elo += change
	t.Played++
	switch {
	case own > other:
		t.Won++
	case own < other:
		t.Lost++
	default:
		t.Drawn++
	}
	return t
}

func TestReckonItself(t *testing.T) {
	t.Parallel()
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	ab, cd, ac, bd := []string{"a", "b"}, []string{"c", "d"}, []string{"a", "c"}, []string{"b", "d"}
	for name, test := range map[string]struct {
		bouts []bout
		want  map[string]tally
	}{
		// 16 from an equal one, then 17 back from one who has 32 more, then nothing to gain from one who has 2 less
		"singles": {[]bout{{a, b, 3, 0}, {b, a, 3, 0}, {a, b, 1, 1}}, map[string]tally{
			"a": {1499, 3, 1, 1, 1}, "b": {1501, 3, 1, 1, 1},
		}},
		// 1516:1484, a draw of sides that are equal, 15 from one who has 32 less, 18 from a side that has 47 more
		"doubles": {[]bout{{ab, cd, 3, 0}, {ac, bd, 2, 2}, {a, c, 1, 0}, {ab, cd, 0, 1}}, map[string]tally{
			"a": {1513, 4, 2, 1, 1}, "b": {1498, 3, 1, 1, 1}, "c": {1487, 4, 1, 1, 2}, "d": {1502, 3, 1, 1, 1},
		}},
		"uneven": {[]bout{{a, cd, 0, 1}}, map[string]tally{
			"a": {1484, 1, 0, 0, 1}, "c": {1516, 1, 1, 0, 0}, "d": {1516, 1, 1, 0, 0},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, reckon(test.bouts)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
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

// refusals are the codes with which the kinds of orders may be refused. A result is never refused.
var refusals = map[string][]ranking.RefusalCode{
	undoOrder: {ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready},
	fixOrder:  {ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready, ranking.SameScore},
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

// check compares all that is stored with what was ordered and with what the answers say, and tells how it went.
func (f *fleet) check() {
	f.t.Helper()
	took := time.Since(f.begun)
	l := f.readAnswers()
	f.checkKeys()
	f.checkMatches(l)
	f.checkTable(l)
	verifyClean(f.t, f.g.store)
	retries := f.conflicts[1] + f.conflicts[2] + f.conflicts[3]
	f.t.Logf("%d orders in %.1f s: %d results accepted (%.0f a second), %d undone, %d fixed, refused: %v",
		len(f.orders), took.Seconds(), len(l.claims), float64(len(l.claims))/took.Seconds(), l.undone, l.fixed, l.refused)
	f.t.Logf("%d conflicts (by attempt: %v), %d retries, %d give-ups; %d tries more because the database was away; "+
		"the longest order took %.1f s",
		retries+f.conflicts[4], f.conflicts, retries, l.refused[ranking.TooManyAtOnce], f.repeated, f.longest.Seconds())
	for _, line := range f.late {
		f.t.Log(line)
	}
	if len(l.claims) == 0 || l.undone == 0 || l.fixed == 0 || retries == 0 {
		f.t.Error("that shows nothing: there must be some of everything")
	}
	f.mustBeQuiet()
}

// readAnswers reads all answers. Every order must have exactly one.
func (f *fleet) readAnswers() *ledger {
	f.t.Helper()
	l := &ledger{claims: make(map[int]*claim), refused: make(map[ranking.RefusalCode]int)}
	seen := make(map[int64]bool)
	for _, a := range rows[answered](f.t, f.g, `
		SELECT coalesce(reply_to, 0), kind, payload FROM outbox WHERE action <> 'edit' ORDER BY id`) {
		o, begun := f.orders[a.Message]
		switch {
		case !begun:
			f.complain("a %s answers message %d, which nobody has sent", a.Kind, a.Message)
			continue
		case seen[a.Message]:
			f.complain("%s %s is answered again: %s", o.Kind, o.key(), a.Kind)
			continue
		}
		seen[a.Message] = true
		if err := l.enter(o, a.Kind, a.Told); err != nil {
			f.complain("%s %s: %v", o.Kind, o.key(), err)
		}
	}
	for message, o := range f.orders {
		if !seen[message] {
			f.complain("%s %s has no answer", o.Kind, o.key())
		}
	}
	return l
}

// checkKeys checks that the keys of the orders are there, and no others.
func (f *fleet) checkKeys() {
	f.t.Helper()
	var want []string
	for _, o := range f.orders {
		want = append(want, o.key())
	}
	slices.Sort(want)
	got := rows[struct{ Key string }](f.t, f.g, `SELECT key FROM handled_commands ORDER BY key COLLATE "C"`)
	if !slices.EqualFunc(got, want, func(g struct{ Key string }, w string) bool { return g.Key == w }) {
		f.t.Errorf("%d keys of commands that were handled, want %d", len(got), len(want))
	}
}

// checkMatches compares the matches with what the answers say of them, and their cards as they are to be sent now.
func (f *fleet) checkMatches(l *ledger) {
	f.t.Helper()
	var want []stored
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		c := l.claims[number]
		want = append(want, c.stored)
		err := c.mustSay(c.card)
		if err != nil || c.card.Undone != c.Undone || (c.card.Was == nil) != (c.was == nil || c.Undone) {
			f.complain("the card of match %d says %+v: %v", number, c.card, err)
		}
		if number != len(want) {
			f.complain("the match after %d has the number %d", len(want)-1, number)
		}
	}
	const side = `ARRAY(SELECT p.display_name FROM match_players mp JOIN players p ON p.id = mp.player_id
		WHERE mp.match_id = m.id AND mp.side = %d ORDER BY 1)`
	got := rows[stored](f.t, f.g, fmt.Sprintf(`
		SELECT m.number, m.idempotency_key, `+side+`, `+side+`, m.score_a, m.score_b, m.undone_at IS NOT NULL
		FROM matches m ORDER BY m.number`, 1, 2))
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("matches (-want +got):\n%s", diff)
	}
	if n := f.g.count(f.t, "match_fixes"); n != l.fixed {
		f.t.Errorf("%d corrections are stored, %d were told", n, l.fixed)
	}
	if n := f.g.count(f.t, fmt.Sprintf("groups WHERE last_match_number = %d", len(want))); n != 1 {
		f.t.Errorf("the last number that was drawn is not %d", len(want))
	}
}

// checkTable compares the standings with what a plain list of the matches that count makes of them.
func (f *fleet) checkTable(l *ledger) {
	f.t.Helper()
	var bouts []bout
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		if c := l.claims[number]; !c.Undone {
			bouts = append(bouts, bout{c.A, c.B, c.ScoreA, c.ScoreB})
		}
	}
	got, sum := make(map[string]tally), 0
	for _, s := range rows[struct {
		Name string
		tally
	}](f.t, f.g, `SELECT name, elo, played, won, drawn, lost FROM group_players`) {
		got[s.Name] = s.tally
		sum += s.Elo
	}
	if diff := cmp.Diff(reckon(bouts), got); diff != "" {
		f.t.Errorf("standings (-want +got):\n%s", diff)
	}
	if want := 1500 * len(four); sum != want {
		f.t.Errorf("the sum of the ratings is %d, want %d", sum, want)
	}
}
