package bot

import (
	"slices"
	"strings"

	"elobot/internal/catalog"
	"elobot/internal/ranking"
)

const nameNick = "nick"

// nick handles "/nick", "/nick Bobby" and "/nick off".
func nick(_ *Router, req request) ranking.Operation {
	said := req.origin.Said
	name := visibleName(strings.Join(said.Unquoted(), " "))
	switch {
	case len(said.Mentions) > 0:
		return ranking.Say{Notice: Help{Topic: nameNick}}
	case isOff(name):
		return ranking.Rename{Off: true}
	default:
		return ranking.Rename{Nick: name}
	}
}

// isOff reports whether a word means "off" in one of the bot's languages.
func isOff(word string) bool {
	return strings.EqualFold(word, ranking.Off) || slices.ContainsFunc(catalog.All(),
		func(l catalog.Language) bool { return strings.EqualFold(word, l.Text("setting.off", nil)) })
}

var _ = shows(view[ranking.Renamed]{text: words.renamed, line: words.renamed})

func (w words) renamed(n ranking.Renamed) string {
	with := args{"Was": showText(w.called(n.Was)), "Name": showText(w.called(n.Name))}
	if n.Off {
		return w.Text("nick.off", with)
	}
	return w.Text("nick.changed", with)
}

var _ = shows(view[ranking.NickShown]{text: words.nickShown, line: words.nickShown, personal: true})

func (w words) nickShown(n ranking.NickShown) string {
	with := args{"Nick": showText(n.Nick), "Name": showText(w.called(n.Name))}
	if n.Nick == "" {
		return w.Text("nick.none", with)
	}
	return w.Text("nick.shown", with)
}
