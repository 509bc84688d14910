package bot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/catalog"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// settingCode is the code of the buttons below the settings.
const settingCode = "c" // choice

func settingsFeature() feature {
	return feature{
		commands: []Command{{
			Name: "settings", Aliases: []string{"language"},
			Where: InGroups, Handle: (*Router).settings, Topic: aboutSettings, Admins: true,
		}},
		callbacks: []Callback{{Code: settingCode, Command: "settings", Handle: (*Router).pressSetting}},
	}
}

// settings handles "/settings", "/settings k 24" and "/language de".
func (r *Router) settings(ctx context.Context, req request) error {
	words := strings.Fields(strings.ToLower(req.command.Args))
	if req.command.Written == ranking.SettingLanguage && len(words) > 0 {
		words = append([]string{ranking.SettingLanguage}, words...)
	}
	if len(words) == 0 && len(req.command.Mentions) == 0 {
		return r.rankings.Do(ctx, req.origin, ranking.ShowSettings{IsAdmin: r.isAdmin(req.origin)})
	}
	if len(words) == 2 {
		s, _ := ranking.FindSetting(words[0])
		values := slices.Concat(offered(s)...)
		if at := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, words[1]) }); at >= 0 {
			return r.rankings.Do(ctx, req.origin, ranking.ChangeSetting{Setting: s, Value: values[at], IsAdmin: r.isAdmin(req.origin)})
		}
	}
	return r.notUnderstood(ctx, req, cmp.Or(req.command.Args, req.command.FirstWord()))
}

// pressSetting handles the buttons below the settings. Like the buttons of pages, it edits only messages that have such buttons.
func (r *Router) pressSetting(ctx context.Context, p press) error {
	name, value, _ := strings.Cut(p.args, ":")
	s, ok := ranking.FindSetting(name)
	if !ok || !slices.Contains(slices.Concat(offered(s)...), value) || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.rankings.Do(ctx, p.origin, ranking.ChangeSetting{Setting: s, Value: value, IsAdmin: r.isAdmin(p.origin)})
}

// offered returns the values that buttons offer, row by row. A row has as many as one can read on a phone in all languages.
func offered(s ranking.Setting) [][]string {
	switch s.Name {
	case ranking.SettingLanguage:
		var tags []string
		for _, l := range catalog.All() {
			tags = append(tags, l.Tag())
		}
		return slices.Collect(slices.Chunk(tags, 2))
	case ranking.SettingProvisional:
		return [][]string{s.Choices[:1], s.Choices[1:]}
	case ranking.SettingPlace:
		return slices.Collect(slices.Chunk(s.Choices, 2))
	default:
		return [][]string{s.Choices}
	}
}

// valueOf returns the value of a setting, which buttons may offer or not. A language that the bot does not speak is the one that it speaks
// instead.
func valueOf(s ranking.Setting, g ranking.GroupSettings) string {
	if s.Name == ranking.SettingLanguage {
		return catalog.For(g.Display.Language).Tag()
	}
	return s.Value(g)
}

var _ = shows(view[ranking.SettingsPage]{text: words.settingsPage, buttons: settingButtons})

// settingButtons returns the buttons below the settings. The current values are marked.
func settingButtons(n ranking.SettingsPage, _ outbox.Item, w words) (rows [][]button) {
	for _, s := range ranking.AllSettings() {
		current := valueOf(s, n.GroupSettings)
		for _, values := range offered(s) {
			var row []button
			for _, value := range values {
				row = append(row, button{text: choice(w.settingButton(s, value), value == current), data: settingData(s.Name, value)})
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func settingData(name, value string) string { return callbackData(settingCode, name+":"+value) }

// settingButton returns the label of a button that gives a setting a value.
func (w words) settingButton(s ranking.Setting, value string) string {
	switch k, matches := provisional(value); {
	case s.Name == ranking.SettingLanguage:
		return languageName(value)
	case s.Name == ranking.SettingProvisional && matches == 0:
		return w.Text("button.no_provisional", nil)
	case s.Name == ranking.SettingProvisional:
		return w.Plural("button.provisional", matches, args{"K": k})
	case s.Name == ranking.SettingPlace:
		count, _ := strconv.Atoi(value)
		return w.Plural("facts.matches", count, nil)
	default:
		text, _ := w.ofSetting("button", s.Name, value)
		return text
	}
}

// ofSetting returns the text of a section of the catalog for a setting and its value, or for the setting. ok is false if there is neither.
func (w words) ofSetting(section, name, value string) (text string, ok bool) {
	id := section + "." + name
	for _, id := range []string{id + "_" + value, id} {
		if w.Has(id) {
			return w.Text(id, args{"Value": w.settingValue(name, value)}), true
		}
	}
	return "", false
}

func (w words) settingName(name string) string { return w.Text("setting."+name, nil) }

// settingValue returns a value of a setting in words.
func (w words) settingValue(name, value string) string {
	switch {
	case name == ranking.SettingLanguage:
		return languageName(value)
	case name == ranking.SettingProvisional:
		if k, matches := provisional(value); matches > 0 {
			return w.Plural("setting.first_matches", matches, args{"K": k})
		}
		return w.Text("setting.no_provisional", nil)
	case value == ranking.On, value == ranking.Off:
		return w.Text("setting."+value, nil)
	case w.Has("setting." + name + "_" + value):
		return w.Text("setting."+name+"_"+value, nil)
	default:
		return value
	}
}

// provisional reads a value of the provisional K-factor.
func provisional(value string) (k string, matches int) {
	k, count, _ := strings.Cut(value, ":")
	matches, _ = strconv.Atoi(count) // a value that is none has no matches
	return k, matches
}

// languageName returns what speakers of a language call it.
func languageName(tag string) string { return catalog.For(tag).Text("language.name", nil) }

func (w words) settingsPage(n ranking.SettingsPage) string {
	lines := []string{w.Text("setting.title", nil)}
	for _, s := range ranking.AllSettings() {
		lines = append(lines, w.Text("setting.line", args{
			"Setting": capitalised(w.settingName(s.Name)), "Value": w.settingValue(s.Name, valueOf(s, n.GroupSettings)),
		}))
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

var _ = shows(view[ranking.SettingChanged]{text: words.settingChanged, line: words.settingChanged})

// settingChanged says what an admin has changed: in a text for the setting and perhaps the value, or else in general. A newer release may
// have settings that this one does not know.
func (w words) settingChanged(n ranking.SettingChanged) string {
	if text, ok := w.ofSetting("changed", n.Name, n.After); ok {
		return text
	}
	if !w.Has("setting." + n.Name) {
		return w.Text("changed.unknown", nil)
	}
	return w.Text("setting.changed", args{
		"Setting": w.settingName(n.Name), "Before": w.settingValue(n.Name, n.Before), "After": w.settingValue(n.Name, n.After),
	})
}
