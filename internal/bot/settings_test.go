package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/ranking"
)

func TestPressRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []string
	for _, row := range ruleChoices() {
		for _, r := range row {
			all = append(all, r.data())
		}
	}
	shown := w.below(w.group, all...)
	for data, want := range map[string]ranking.Rules{
		"1r:k:24:0":            {RatingRules: ranking.RatingRules{K: 24}},
		"1r:start:1200:0":      {Start: 1200},
		"1r:provisional:48:10": {RatingRules: ranking.RatingRules{Provisional: ranking.Provisional{K: 48, Matches: 10}}},
		"1r:provisional:0:0":   {},
		"1r:margin:1:0":        {RatingRules: ranking.RatingRules{Margin: true}},
		"1r:draws:1:0":         {DrawsAllowed: true},
		"1r:draws:0:0":         {},
		"1r:uneven:1:0":        {UnevenTeamsAllowed: true},
	} {
		id := w.sim.Press(w.bob, shown, data)
		o := w.expect(data, fmt.Sprintf("rules %+v in %d", want, shown.ID))[0].origin
		if o.Key != "c:"+id || o.Button != id || o.Sender.ID != 1002 {
			t.Errorf("%s: origin %+v", data, o)
		}
	}
	for _, data := range []string{
		"1r", "1r:", "1r:k", "1r:k:24", "1r:k:25:0", "1r:k:-24:0", "1r:k:024:0", "1r:k:24:1", "1r:start:10001:0", "1r:provisional:48:9",
		"1r:margin:2:0", "1r:x:1:0", "1r:k:24:0:0", "1R:k:24:0", "2r:k:24:0",
	} {
		w.sim.Press(w.alice, shown, data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	for what, m := range map[string]botsim.Message{"below a card": w.below(w.group, "1u:42:0"), "without buttons": w.card(w.group, 0)} {
		w.sim.Press(w.alice, m, "1r:k:24:0")
		w.expect(what, unknownButton)
	}
}

// TestRuleButtons: of the values of a rule, only the current one is marked, and all data fits into a button.
func TestRuleButtons(t *testing.T) {
	t.Parallel()
	usual := ranking.Rules{Start: 1500, DrawsAllowed: true, RatingRules: ranking.RatingRules{K: 32}}
	for _, chosen := range slices.Concat(ruleChoices()...) {
		rules := chosen.change(usual)
		marked := map[ruleName]int{}
		for i, buttons := range ruleButtons(rules, wordsFor("")) {
			for j, b := range buttons {
				r, ok := ruleOf(b.data)
				if !ok || r != ruleChoices()[i][j] {
					t.Errorf("%q is read as %+v, %t", b.data, r, ok)
				}
				if strings.HasPrefix(b.text, chosenMark) {
					marked[r.name]++
				}
				if r == chosen && !strings.HasPrefix(b.text, chosenMark) {
					t.Errorf("with %+v, %q is not marked", rules, b.text)
				}
			}
		}
		want := map[ruleName]int{kRule: 1, startRule: 1, provisionalRule: 1, marginRule: 1, drawsRule: 1, unevenRule: 1}
		if diff := cmp.Diff(want, marked); diff != "" {
			t.Errorf("with %+v, marked (-want +got):\n%s", rules, diff)
		}
	}
}

// TestPressDisplay: only the buttons of a message that has them change how the bot shows things.
func TestPressDisplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.below(w.group, "1t:on", "1t:off", "1l:de", "1c:on", "1c:off", "1d:on", "1d:off")
	for data, want := range map[string]ranking.Display{
		"1t:on": {Language: "en", Tables: true}, "1t:off": {Language: "en"}, "1l:de": {Language: "de"},
		"1d:on": {Language: "en", DarkCharts: true}, "1d:off": {Language: "en"},
		"1c:on": {Language: "en"}, "1c:off": {Language: "en", NoCelebrations: true},
	} {
		w.sim.Press(w.alice, sent, data)
		if got := w.expect(data, "display")[0].display; got != want {
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
	}
	card := w.card(w.group, 0)
	for _, data := range []string{"1t:on", "1l:de", "1c:off"} {
		w.sim.Press(w.alice, card, data)
		w.expect("a forged button", unknownButton)
	}
	for _, data := range []string{"1t:", "1t:maybe", "1t:ON", "1l:xx", "1l:", "1c:", "1c:no"} {
		w.sim.Press(w.alice, sent, data)
		w.expect("forged data "+data, unknownButton)
	}
}

func TestSettingsCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for who, want := range map[botsim.User]bool{w.alice: true, w.bob: false} { // she has created the group
		w.group.Say(who, "/settings")
		c := w.expect("/settings", "settings")[0]
		if admin, err := c.take.IsAdmin(testContext(t)); admin != want || err != nil {
			t.Errorf("%s is an admin: %t, %v", who.FirstName, admin, err)
		}
	}
}
