package bot

import (
	"slices"
	"strings"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

const nameNick = "nick"

// nick handles "/nick", "/nick Bobby" and "/nick off".
func nick(_ *Router, req request) ranking.Operation {
	if len(req.origin.Said.Mentions) > 0 {
		return ranking.Say{Notice: Help{Topic: nameNick}}
	}
	return renames(0, req.origin.Said.Args)
}

// renames returns the operation that gives a player the typed nick, or ends the nick.
func renames(player ladder.PlayerID, typed string) ranking.Rename {
	name := visibleName(strings.Join(command.Command{Args: typed}.Unquoted(), " "))
	if isOff(name) {
		return ranking.Rename{Player: player, Off: true}
	}
	return ranking.Rename{Player: player, Nick: name}
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
