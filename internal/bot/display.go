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

// pressLanguage handles the buttons that choose a language. Like pressPage, it edits only messages that have such buttons.
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

// tableButtons returns the buttons that switch tables on and off. The current value is marked.
func tableButtons(current bool, w words) []button {
	var row []button
	for _, on := range []bool{false, true} {
		label := choice(w.Text("button.tables_"+switchName(on), nil), on == current)
		row = append(row, button{text: label, data: callbackData(tablesCode, switchName(on))})
	}
	return row
}

// pressTables handles the buttons that switch tables on and off. Like pressPage, it edits only messages that have such buttons.
func (r *Router) pressTables(ctx context.Context, p press) error {
	args, ok := argsOf(tablesCode, p.query.Data)
	on := args == switchName(true)
	if !ok || args != switchName(on) || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.changeDisplay(ctx, p, func(d ranking.Display) ranking.Display {
		d.Tables = on
		return d
	})
}

func (w words) tablesChanged(n ranking.TablesChanged) string {
	return w.Text("table."+switchName(n.Tables), nil)
}

func (w words) languageChanged(n ranking.LanguageChanged) string {
	return w.Text("language.changed", args{"Language": languageName(n.Language)})
}
