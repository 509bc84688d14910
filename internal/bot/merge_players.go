package bot

import (
	"strings"

	"elobot/internal/ranking"
)

var _ = shows(view[ranking.PlayersMerged]{text: words.playersMerged, line: words.playersMergedLine, ofLadder: true})

func (w words) playersMerged(n ranking.PlayersMerged) string {
	return strings.Join(append(w.mergedPlayers(n), w.movements(n.Moved)), "\n")
}

// mergedPlayers says which two players were the same person, and which matches were undone because
// of that.
func (w words) mergedPlayers(n ranking.PlayersMerged) []string {
	sentences := []string{w.Text("merged.players", args{"Username": showText("@" + n.Username), "Name": showName(n.Name)})}
	if len(n.Undone) > 0 {
		sentences = append(sentences, w.Plural("merged.undone", len(n.Undone), args{"Numbers": w.numberList(n.Undone)}))
	}
	return sentences
}

func (w words) playersMergedLine(n ranking.PlayersMerged) string {
	return strings.Join(append(w.mergedPlayers(n), w.movementsLine(n.Moved)), " ")
}
