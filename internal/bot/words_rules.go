package bot

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/ranking"
)

func (w words) rulesChanged(n ranking.RulesChanged) string {
	var changes []string
	was, now := w.ruleValues(n.Before), w.ruleValues(n.After)
	for i, rule := range was {
		if rule.value != now[i].value {
			changes = append(changes, w.Text("rules.change", args{"Rule": rule.name, "Before": rule.value, "After": now[i].value}))
		}
	}
	return w.Text("rules.changed", args{"Changes": strings.Join(changes, ", ")})
}

type ruleValue struct{ name, value string }

// ruleValues returns all rules in words, always in the same order.
func (w words) ruleValues(r ranking.Rules) []ruleValue {
	provisional := w.Text("rules.no_provisional", nil)
	if p := r.Provisional; p.Matches > 0 {
		provisional = w.Plural("rules.first_matches", p.Matches, args{"K": p.K})
	}
	return []ruleValue{
		{w.Text("rules.start", nil), strconv.Itoa(r.Start)},
		{w.Text("rules.k", nil), strconv.Itoa(r.K)},
		{w.Text("rules.provisional", nil), provisional},
		{w.Text("rules.margin", nil), w.onOff(r.Margin)},
		{w.Text("rules.draws", nil), w.onOff(r.DrawsAllowed)},
		{w.Text("rules.uneven", nil), w.onOff(r.UnevenTeamsAllowed)},
	}
}

func (w words) onOff(on bool) string { return w.Text("rules."+switchName(on), nil) }

func switchName(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (w words) settings(n ranking.GroupSettings) string {
	values := append([]ruleValue{
		{w.Text("rules.language", nil), languageName(n.Language)},
		{w.Text("rules.tables", nil), w.onOff(n.Tables)},
		{w.Text("rules.celebrations", nil), w.onOff(!n.NoCelebrations)},
		{w.Text("rules.dark_charts", nil), w.onOff(n.DarkCharts)},
	}, w.ruleValues(n.Rules)...)
	lines := []string{w.Text("rules.title", nil)}
	for _, v := range values {
		lines = append(lines, w.Text("rules.line", args{"Rule": capitalised(v.name), "Value": v.value}))
	}
	remarks := []string{w.Text("note.rules_from_next_match", nil)}
	if by := n.ChangedBy; by != nil && by.Name != nil {
		remarks = append(remarks, w.Text("note.changed_by", args{"Name": showName(*by.Name)}))
	}
	return strings.Join(append(lines, notes(remarks...)), "\n")
}

func capitalised(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// ruleButton returns the label of a button that gives a rule a value, which may be its current one.
func (w words) ruleButton(r rule, current bool) string {
	var label string
	switch value := r.values[0]; {
	case r.name == provisionalRule && value == 0:
		label = w.Text("button.no_provisional", nil)
	case r.name == provisionalRule:
		label = w.Plural("button.provisional", r.values[1], args{"K": value})
	case r.name == kRule, r.name == startRule:
		label = w.Text("button."+string(r.name), args{"Value": value})
	default:
		label = w.Text("button."+string(r.name)+"_"+switchName(value != 0), nil)
	}
	return choice(label, current)
}
