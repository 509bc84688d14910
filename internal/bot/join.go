package bot

import (
	"strings"

	"elobot/internal/ranking"
)

const nameGuest = "guest"

var _ = shows(view[ranking.Joined]{text: words.joined, line: words.joined, personal: true, ofLadder: true})

var _ = shows(view[ranking.LeftRanking]{text: words.leftRanking, line: words.leftRanking, personal: true})

func (w words) leftRanking(n ranking.LeftRanking) string {
	return w.Text("leave."+string(n.How), args{"Name": showName(n.Name)})
}

func (w words) joined(n ranking.Joined) string {
	with := args{"Name": showName(n.Name), "Rating": n.Elo}
	if n.Guest {
		return w.guest(n, with)
	}
	switch {
	case !n.Already:
		return w.Text("join.new", with)
	case n.Back && n.Played == 0:
		return w.Text("join.back_not_played", with)
	case n.Back:
		return w.Text("join.back", with)
	case n.Played == 0:
		return w.Text("join.not_played", with)
	default:
		return w.Text("join.already", with)
	}
}

// guest says that a guest is new, back or already there, and how to write the guest's name in a
// /match. It adds that spelling to with, the arguments of the text.
func (w words) guest(n ranking.Joined, with args) string {
	with["Code"] = codeText(n.Name.Name)
	if strings.Contains(n.Name.Name, " ") {
		with["Code"] = `"` + codeText(n.Name.Name) + `"`
	}
	switch {
	case !n.Already:
		return w.Text("guest.new", with)
	case n.Back:
		return w.Text("guest.back", with)
	default:
		return w.Text("guest.already", with)
	}
}
