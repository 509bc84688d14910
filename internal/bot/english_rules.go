package bot

import (
	"fmt"
	"strconv"
	"strings"

	"elobot/internal/ranking"
)

func (words english) rulesChanged(n ranking.RulesChanged) string {
	return words.rulesChangedLine(n) + "\n" + notes("changed"+by(n.By), "from the next match on")
}

func (english) rulesChangedLine(n ranking.RulesChanged) string {
	var changes []string
	was, now := ruleValues(n.Before), ruleValues(n.After)
	for i, rule := range was {
		if rule.value != now[i].value {
			changes = append(changes, fmt.Sprintf("%s %s → %s", rule.name, rule.value, now[i].value))
		}
	}
	return "Rules changed: " + strings.Join(changes, ", ") + "."
}

type ruleValue struct{ name, value string }

// ruleValues returns all rules in words, always in the same order.
func ruleValues(r ranking.Rules) []ruleValue {
	provisional := "off"
	if p := r.Provisional; p.Matches == 1 {
		provisional = fmt.Sprintf("%d for the first match", p.K)
	} else if p.Matches > 1 {
		provisional = fmt.Sprintf("%d for the first %d matches", p.K, p.Matches)
	}
	return []ruleValue{
		{"start rating", strconv.Itoa(r.Start)},
		{"K-factor", strconv.Itoa(r.K)},
		{"provisional K-factor", provisional},
		{"margin of victory", onOff(r.Margin)},
		{"draws", onOff(r.DrawsAllowed)},
		{"uneven teams", onOff(r.UnevenTeamsAllowed)},
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (english) settings(n ranking.GroupSettings) string {
	var b strings.Builder
	b.WriteString("<b>Settings</b>\n")
	for _, rule := range ruleValues(n.Rules) {
		fmt.Fprintf(&b, "%s%s: <b>%s</b>\n", strings.ToUpper(rule.name[:1]), rule.name[1:], rule.value)
	}
	all := []string{"rules about ratings count from the next match on"}
	if n.ChangedBy != nil {
		all = append(all, "changed"+by(*n.ChangedBy))
	}
	b.WriteString(notes(all...))
	return b.String()
}

// ruleButton returns the label of a button that changes a rule.
func (english) ruleButton(r rule, current bool) string {
	label := ""
	switch value, on := r.values[0], onOff(r.values[0] != 0); r.name {
	case kRule:
		label = fmt.Sprintf("K %d", value)
	case startRule:
		label = fmt.Sprintf("Start %d", value)
	case provisionalRule:
		label = fmt.Sprintf("K %d for the first %d", value, r.values[1])
		if value == 0 {
			label = "No provisional K"
		}
	case marginRule:
		label = "Margin of victory " + on
	case drawsRule:
		label = "Draws " + on
	case unevenRule:
		label = "Uneven teams " + on
	}
	if current {
		return "✓ " + label
	}
	return label
}
