package bot

import (
	"slices"
	"strconv"
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

// renames returns the operation that gives a player the typed nick, or ends the nick if the typed
// word means "off". Player 0 stands for the sender.
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
	with := args{"Was": w.numbered(n.Was, n.Number), "Name": w.numbered(n.Name, n.Number)}
	if n.Off {
		return w.Text("nick.off", with)
	}
	return w.Text("nick.changed", with)
}

var _ = shows(view[ranking.NickShown]{text: words.nickShown, line: words.nickShown, personal: true})

func (w words) nickShown(n ranking.NickShown) string {
	with := args{"Nick": showText(n.Nick), "Name": w.numbered(n.Name, n.Number)}
	if n.Nick == "" {
		return w.Text("nick.none", with)
	}
	return w.Text("nick.shown", with)
}

// numbered renders a stored name or, for ranking.Nameless, the name that has the number.
func (w words) numbered(name string, number int) string {
	n := ranking.Name{Name: name, Mark: strconv.Itoa(number)}
	return showText(w.inPlaceOfNone(n).Name)
}
