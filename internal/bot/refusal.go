package bot

import (
	"html"
	"strings"

	"elobot/internal/ranking"
)

var _ = shows(view[ranking.Refusal]{text: words.refusal, line: words.refusal, personal: true})

// refusal says why a command was refused. If n.Instead is set, refusal also says that an anonymous
// admin can send that command instead of pressing the button.
func (w words) refusal(n ranking.Refusal) string {
	text := w.reason(n)
	if n.Instead == "" {
		return text
	}
	name, rest, _ := strings.Cut(n.Instead, " ")
	rest = html.EscapeString(rest)
	if c, _ := findCommand(strings.TrimPrefix(name, "/")); c.OfLadder {
		rest = w.ladderWords() + rest
	}
	return text + " " + w.Text("refusal.instead", args{"Command": strings.TrimSpace(name + " " + rest)})
}

// reason says why a command was refused. It gives durations in hours if they are whole hours,
// otherwise in minutes. If only a newer release knows the reason, the text is general.
func (w words) reason(n ranking.Refusal) string {
	id := "refusal." + string(n.Code)
	with := args{
		"Number": n.Number, "Matches": n.Matches, "Ladder": w.ladderWords(),
		"Name": showText(w.called(n.Name)), "Code": codeText(n.Name), "Near": "",
	}
	if n.Near != nil {
		with["Near"] = showName(*n.Near)
	}
	if n.Who != nil {
		with["Name"] = showName(*n.Who)
	}
	switch n.Code {
	case ranking.NothingOfYours, ranking.TooLate, ranking.UndoneLongAgo, ranking.NothingToRestore:
		if n.Minutes%60 == 0 {
			return w.Plural(id+"_hours", n.Minutes/60, with)
		}
		return w.Plural(id+"_minutes", n.Minutes, with)
	case ranking.TooFarBack, ranking.TooManyToReplay:
		return w.Plural(id, n.Matches, with)
	case ranking.NotPlayed:
		return w.Text("me.not_played", nil)
	case ranking.NoSuchPlayer, ranking.NickTaken:
		if n.Near != nil {
			id += "_near"
		}
	case ranking.NoSuchLadder:
		if n.Ladders != "" {
			id, with["Ladders"] = "refusal.no_such_game", showText(n.Ladders)
		}
	case ranking.NoSuchSeason:
		if n.Number == 0 {
			id = "refusal.no_season_over"
		}
	case ranking.UndoneAlready:
		if n.Minutes > 0 {
			id += "_restore"
		}
	}
	if !w.Has(id) {
		id = "refusal.unknown"
	}
	return w.Text(id, with)
}
