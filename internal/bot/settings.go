package bot

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/catalog"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func typedSettings(_ *Router, req request) ranking.Operation {
	if !req.origin.Chat.IsGroup() {
		return ranking.Ask{Question: stats.PersonSettingsQuestion{}}
	}
	return ranking.TypedSettings{Languages: languages()}
}

// languages maps words that an admin may type to language tags: the names of each language, and the
// tags in lower case.
func languages() map[string]string {
	all := make(map[string]string)
	for _, l := range catalog.All() {
		for word := range strings.FieldsSeq(l.Text("language.names", nil)) {
			all[word] = l.Tag()
		}
	}
	for _, l := range catalog.All() {
		all[strings.ToLower(l.Tag())] = l.Tag()
	}
	return all
}

// allGroups stands for the first page of the settings, in button data.
const allGroups = "all"

// pressSetting handles the buttons below the settings: 1c:k:24 chooses a value, and 1c:k,
// 1c:rating, 1c:zone_europe and 1c:all open a list of choices. Forged data must not replace another
// message, so the message must have the pressed button.
func pressSetting(r *Router, p *press) ranking.Operation {
	name, value, chooses := strings.Cut(p.args, ":")
	s, isSetting := ranking.FindSetting(name)
	_, isRegion := findZoneRegion(name)
	p.origin.Instead = "/settings"
	if chooses {
		p.origin.Instead += " " + name + " " + value
	}
	switch {
	case !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data):
		return nil
	case isSetting && slices.Contains(slices.Concat(offered(s)...), value):
		return ranking.ChangeSetting{Setting: s, Value: value}
	case name == allGroups && !chooses:
		return ranking.ShowSettings{}
	case (isSetting || isRegion || settingsOf(name) != nil) && !chooses:
		return ranking.ShowSettings{Open: name}
	default:
		return nil
	}
}

// settingsOf returns the settings in the group of this name, or nil if there is no such group.
func settingsOf(group string) (all []ranking.Setting) {
	for _, s := range ranking.AllSettings() {
		if string(s.Group) == group {
			all = append(all, s)
		}
	}
	return all
}

// offered returns the values for which there are buttons, row by row. The rows are short enough for
// the buttons to be readable on a phone in all languages.
func offered(s ranking.Setting) [][]string {
	switch s.Name {
	case ranking.SettingLanguage:
		var tags []string
		for _, l := range catalog.All() {
			tags = append(tags, l.Tag())
		}
		return slices.Collect(slices.Chunk(tags, 2))
	case ranking.SettingZone:
		return append(offeredZones(zoneRegions()...), []string{ranking.UTC})
	case ranking.SettingProvisional, ranking.SettingSeasons, ranking.SettingReporters:
		return [][]string{s.Choices[:1], s.Choices[1:]}
	case ranking.SettingPlace, ranking.SettingHide, ranking.SettingWeb:
		return slices.Collect(slices.Chunk(s.Choices, 2))
	default:
		return [][]string{s.Choices}
	}
}

// valueOf returns the current value of a setting, whether or not there is a button for it. For a
// language that the bot does not speak, it returns the language used instead.
func valueOf(s ranking.Setting, g ranking.GroupSettings) string {
	if s.Name == ranking.SettingLanguage {
		return catalog.For(g.Display.Language).Tag()
	}
	return s.Value(g)
}

var _ = shows(view[ranking.SettingsPage]{text: words.settingsPage, buttons: settingButtons})

// settingButtons returns the buttons below the settings. They open a group of settings, a setting
// or a region of time zones, choose a value, import or export, or lead back. On the page of a group
// of settings, a setting's own buttons are shown directly if it has only two values, or if the
// group has no other setting.
func settingButtons(n ranking.SettingsPage, _ outbox.Item, w words) (rows [][]button) {
	if r, ok := findZoneRegion(n.Open); ok {
		zone, _ := ranking.FindSetting(ranking.SettingZone)
		return append(w.choiceButtons(n, zone, offeredZones(r)), w.backTo(zone.Group))
	}
	if s, ok := ranking.FindSetting(n.Open); ok {
		return append(w.valueButtons(n, s), w.backTo(s.Group))
	}
	group := settingsOf(n.Open)
	for _, s := range group {
		if len(s.Choices) == 2 || len(group) == 1 {
			rows = append(rows, w.valueButtons(n, s)...)
		} else {
			rows = append(rows, []button{{text: capitalized(w.settingName(s.Name)) + " ›", data: openData(s.Name)}})
		}
	}
	if group != nil {
		return append(rows, []button{{text: "‹ " + w.topic(aboutSettings), data: openData(allGroups)}})
	}
	var all []button
	for _, g := range ranking.SettingGroups() {
		all = append(all, button{text: w.settingGroup(g) + " ›", data: openData(string(g))})
	}
	return append(slices.Collect(slices.Chunk(all, topicsPerRow)), w.transferRow())
}

// backTo returns the row with the back button to a group of settings.
func (w words) backTo(g ranking.SettingGroup) []button {
	return []button{{text: "‹ " + w.settingGroup(g), data: openData(string(g))}}
}

// valueButtons returns the buttons that choose a value of a setting, or open a list of choices.
func (w words) valueButtons(n ranking.SettingsPage, s ranking.Setting) [][]button {
	if s.Name == ranking.SettingZone {
		return w.zoneButtons(valueOf(s, n.GroupSettings))
	}
	return w.choiceButtons(n, s, offered(s))
}

// choiceButtons returns rows of buttons that choose a value of a setting. The button of the current
// value is marked.
func (w words) choiceButtons(n ranking.SettingsPage, s ranking.Setting, offered [][]string) (rows [][]button) {
	current := valueOf(s, n.GroupSettings)
	for _, values := range offered {
		var row []button
		for _, value := range values {
			row = append(row,
				button{text: choice(w.settingButton(s, value), value == current), data: settingData(s.Name, value)})
		}
		rows = append(rows, row)
	}
	return rows
}

func settingData(name, value string) string { return callbackData(settingCode, name+":"+value) }

func openData(name string) string { return callbackData(settingCode, name) }

// settingButton returns the label of a button that sets a value.
func (w words) settingButton(s ranking.Setting, value string) string {
	switch k, matches := provisional(value); {
	case s.Name == ranking.SettingLanguage:
		return languageName(value)
	case s.Name == ranking.SettingZone:
		return strings.ReplaceAll(value[strings.LastIndex(value, "/")+1:], "_", " ") // the city
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

// ofSetting returns the text in a section of the catalog for a setting and its value, or else for
// the setting alone. ok is false if the catalog has neither text.
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

// provisional splits a value of the setting for the provisional K-factor into the K-factor and the
// number of matches.
func provisional(value string) (k string, matches int) {
	k, count, _ := strings.Cut(value, ":")
	matches, _ = strconv.Atoi(count) // an invalid value has no matches
	return k, matches
}

// languageName returns the name of a language in that language.
func languageName(tag string) string { return catalog.For(tag).Text("language.name", nil) }

func (w words) settingGroup(g ranking.SettingGroup) string {
	return w.Text("setting.about_"+string(g), nil)
}

func (w words) settingsPage(n ranking.SettingsPage) string {
	var all [][]string
	if n.Changed != nil {
		all = [][]string{{w.changed(*n.Changed)}}
	}
	all = append(all, []string{w.Text("setting.title", nil)})
	for _, g := range ranking.SettingGroups() {
		group, lines := settingsOf(string(g)), []string{"<b>" + w.settingGroup(g) + "</b>"}
		if w.ladder != "" && group[0].Table() == ranking.OfLadder {
			lines[0] += " · " + showText(w.ladder)
		}
		for _, s := range group {
			lines = append(lines, w.Text("setting.line", args{
				"Setting": capitalized(w.settingName(s.Name)), "Value": w.settingValue(s.Name, valueOf(s, n.GroupSettings)),
			}))
		}
		all = append(all, lines)
	}
	remarks := []string{w.Text("note.rules_from_next_match", nil)}
	if _, isRegion := findZoneRegion(n.Open); isRegion || n.Open == string(ranking.AboutTime) ||
		n.Open == ranking.SettingZone {
		remarks = []string{w.Text("note.other_zones", nil)}
		if n.Rules.SeasonMonths > 0 {
			remarks = append([]string{w.Text("note.seasons_end", nil)}, remarks...)
		}
	}
	if by := n.ChangedBy; by != nil && by.Name != nil {
		remarks = append(remarks, w.Text("note.changed_by", args{"Name": showName(*by.Name)}))
	}
	return paragraphs(append(all, []string{notes(remarks...)})...)
}

func capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

var _ = shows(view[ranking.SettingChanged]{text: words.settingChanged, line: words.settingChanged})

// settingChanged says what an admin has changed. It names the ladder if the setting belongs to a
// ladder.
func (w words) settingChanged(n ranking.SettingChanged) string {
	text := w.changed(n)
	if s, ok := ranking.FindSetting(n.Name); ok && s.Table() == ranking.OfLadder {
		return w.inLadder(text)
	}
	return text
}

func (w words) changed(n ranking.SettingChanged) string {
	if n.Name == ranking.SettingWeb && n.After != ranking.Off && w.web == nil {
		return w.Text("web.no_address", nil)
	}
	if text, ok := w.ofSetting("changed", n.Name, n.After); ok {
		return text
	}
	if !w.Has("setting." + n.Name) {
		return w.Text("changed.unknown", nil)
	}
	return w.Text("setting.changed", args{
		"Setting": w.settingName(n.Name), "Before": w.settingValue(n.Name, n.Before),
		"After": w.settingValue(n.Name, n.After),
	})
}
