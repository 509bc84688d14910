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
