package bot

import (
	"context"
	"fmt"
	"slices"

	"elobot/internal/ranking"
)

// rule is a value that a button gives to a rule of the ladder.
type rule struct {
	name   ruleName
	values [2]int // one, or for provisionalRule the K-factor and the number of matches; a switch is 0 or 1
}

// ruleName is the name of a rule in the data of a button.
type ruleName string

// The rules that buttons change.
const (
	kRule           ruleName = "k"
	startRule       ruleName = "start"
	provisionalRule ruleName = "provisional"
	marginRule      ruleName = "margin"
	drawsRule       ruleName = "draws"
	unevenRule      ruleName = "uneven"
)

// ruleChoices returns the values that the buttons offer, row by row. A row has as many as one can read on a phone in all languages.
func ruleChoices() [][]rule {
	return [][]rule{
		{{kRule, [2]int{16}}, {kRule, [2]int{24}}, {kRule, [2]int{32}}, {kRule, [2]int{48}}},
		{{startRule, [2]int{1000}}, {startRule, [2]int{1200}}, {startRule, [2]int{1500}}},
		{{provisionalRule, [2]int{}}},
		{{provisionalRule, [2]int{48, 10}}, {provisionalRule, [2]int{64, 10}}},
		{{marginRule, [2]int{0}}, {marginRule, [2]int{1}}},
		{{drawsRule, [2]int{1}}, {drawsRule, [2]int{0}}},
		{{unevenRule, [2]int{0}}, {unevenRule, [2]int{1}}},
	}
}

// change returns the rules with this value.
func (r rule) change(rules ranking.Rules) ranking.Rules {
	value, on := r.values[0], r.values[0] != 0
	switch r.name {
	case kRule:
		rules.K = value
	case startRule:
		rules.Start = value
	case provisionalRule:
		rules.Provisional = ranking.Provisional{K: value, Matches: r.values[1]}
	case marginRule:
		rules.Margin = on
	case drawsRule:
		rules.DrawsAllowed = on
	case unevenRule:
		rules.UnevenTeamsAllowed = on
	}
	return rules
}

// data returns the data of the rule's button.
func (r rule) data() string {
	return callbackData(ruleCode, fmt.Sprintf("%s:%d:%d", r.name, r.values[0], r.values[1]))
}

// ruleButtons returns the buttons below the settings. The current values are marked.
func ruleButtons(rules ranking.Rules, w words) [][]button {
	var rows [][]button
	for _, choices := range ruleChoices() {
		var row []button
		for _, r := range choices {
			row = append(row, button{text: w.ruleButton(r, r.change(rules) == rules), data: r.data()})
		}
		rows = append(rows, row)
	}
	return rows
}

// ruleOf returns the rule that a button changes. ok is false for values that no button offers.
func ruleOf(data string) (found rule, ok bool) {
	for _, choices := range ruleChoices() {
		if i := slices.IndexFunc(choices, func(r rule) bool { return r.data() == data }); i >= 0 {
			return choices[i], true
		}
	}
	return rule{}, false
}

func (r *Router) settings(ctx context.Context, req request) error {
	return r.rankings.ShowSettings(ctx, req.origin, r.isAdmin(req.origin))
}

// pressRule handles the buttons below the settings. Like turning, it edits only messages that have such buttons.
func (r *Router) pressRule(ctx context.Context, p press) error {
	chosen, ok := ruleOf(p.query.Data)
	if !ok || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.rankings.ChangeRules(ctx, p.origin, ranking.RulesChange{
		Change: chosen.change, IsAdmin: r.isAdmin(p.origin), Shown: p.query.Message.ID,
	})
}
