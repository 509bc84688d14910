package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/catalog"
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

// languagesPerRow is how many buttons with names of languages fit side by side on a phone.
const languagesPerRow = 2

// languageButtons returns the buttons that choose a group's language. The current one is marked.
func languageButtons(current string) [][]button {
	var all []button
	for _, l := range catalog.All() {
		label := choice(languageName(l.Tag()), l == catalog.For(current))
		all = append(all, button{text: label, data: callbackData(languageCode, l.Tag())})
	}
	return slices.Collect(slices.Chunk(all, languagesPerRow))
}

// languageName returns what speakers of a language call it.
func languageName(tag string) string { return catalog.For(tag).Text("language.name", nil) }

// languageOf returns the language that a button chooses. ok is false for data that no button has.
func languageOf(data string) (tag string, ok bool) {
	tag, ok = argsOf(languageCode, data)
	return tag, ok && slices.ContainsFunc(catalog.All(), func(l catalog.Language) bool { return l.Tag() == tag })
}

// pressLanguage handles the buttons that choose a language. Like turning, it edits only messages that have such buttons.
func (r *Router) pressLanguage(ctx context.Context, p press) error {
	tag, ok := languageOf(p.query.Data)
	if !ok || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.changeDisplay(ctx, p, func(d ranking.Display) ranking.Display {
		d.Language = tag
		return d
	})
}

func (r *Router) changeDisplay(ctx context.Context, p press, change func(ranking.Display) ranking.Display) error {
	return r.rankings.ChangeDisplay(ctx, p.origin, ranking.DisplayChange{
		Change: change, IsAdmin: r.isAdmin(p.origin), Shown: p.query.Message.ID,
	})
}

// tableButtons returns the buttons that switch tables on and off.
func tableButtons(current bool, w words) []button {
	return switchButtons(tablesCode, w.Text("button.tables_off", nil), w.Text("button.tables_on", nil), current)
}

// celebrationButtons returns the buttons that switch celebrations on and off.
func celebrationButtons(current bool, w words) []button {
	return switchButtons(celebrationsCode, w.Text("button.celebrations_off", nil), w.Text("button.celebrations_on", nil), current)
}

// darkChartButtons returns the buttons that switch dark charts on and off.
func darkChartButtons(current bool, w words) []button {
	return switchButtons(darkCode, w.Text("button.dark_charts_off", nil), w.Text("button.dark_charts_on", nil), current)
}

// switchButtons returns the two buttons of a switch. The current value is marked.
func switchButtons(code, off, on string, current bool) []button {
	return []button{
		{text: choice(off, !current), data: callbackData(code, switchName(false))},
		{text: choice(on, current), data: callbackData(code, switchName(true))},
	}
}

// pressTables handles the buttons that switch tables on and off.
func (r *Router) pressTables(ctx context.Context, p press) error {
	return r.pressSwitch(ctx, p, tablesCode, func(d *ranking.Display, on bool) { d.Tables = on })
}

// pressCelebrations handles the buttons that switch celebrations on and off.
func (r *Router) pressCelebrations(ctx context.Context, p press) error {
	return r.pressSwitch(ctx, p, celebrationsCode, func(d *ranking.Display, on bool) { d.NoCelebrations = !on })
}

// pressDarkCharts handles the buttons that switch dark charts on and off.
func (r *Router) pressDarkCharts(ctx context.Context, p press) error {
	return r.pressSwitch(ctx, p, darkCode, func(d *ranking.Display, on bool) { d.DarkCharts = on })
}

// pressSwitch handles the buttons of a switch. Like turning, it edits only messages that have such buttons.
func (r *Router) pressSwitch(ctx context.Context, p press, code string, set func(d *ranking.Display, on bool)) error {
	args, ok := argsOf(code, p.query.Data)
	on := args == switchName(true)
	if !ok || args != switchName(on) || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.changeDisplay(ctx, p, func(d ranking.Display) ranking.Display {
		set(&d, on)
		return d
	})
}

func (w words) tablesChanged(n ranking.TablesChanged) string {
	return w.Text("table."+switchName(n.Tables), nil)
}

func (w words) celebrationsChanged(n ranking.CelebrationsChanged) string {
	return w.Text("celebration."+switchName(n.Celebrations), nil)
}

func (w words) darkChartsChanged(n ranking.DarkChartsChanged) string {
	return w.Text("chart.dark_"+switchName(n.Dark), nil)
}

func (w words) languageChanged(n ranking.LanguageChanged) string {
	return w.Text("language.changed", args{"Language": languageName(n.Language)})
}
