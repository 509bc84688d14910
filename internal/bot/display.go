package bot

import (
	"context"
	"slices"

	"elobot/internal/catalog"
	"elobot/internal/ranking"
)

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
