package bot

import (
	"strings"

	"elobot/internal/ranking"
)

var (
	_ = shows(view[ranking.PlayersMerged]{text: words.playersMerged, line: words.playersMergedLine, ofLadder: true})
	_ = shows(view[ranking.PlayersMapped]{text: words.playersMapped, line: words.playersMappedLine})
	_ = shows(view[ranking.PlayersMoved]{text: words.playersMoved, line: words.playersMovedLine, ofLadder: true})
)

// mappedPlayers says which two players count as one from now on, or as two, and which matches count
// no more or again.
func (w words) mappedPlayers(n ranking.PlayersMapped) []string {
	player, into := showName(n.Player), showName(n.Into)
	sentences := []string{w.Text("merged.players", args{"Username": player, "Name": into})}
	if n.Split {
		sentences[0] = w.Text("merged.split", args{"Player": player, "Into": into})
	}
	if len(n.Undone) > 0 {
		sentences = append(sentences, w.Plural("merged.undone", len(n.Undone), args{"Numbers": w.numberList(n.Undone)}))
	}
	if len(n.Restored) > 0 {
		sentences = append(sentences, w.Plural("merged.restored", len(n.Restored), args{"Numbers": w.numberList(n.Restored)}))
	}
	return sentences
}

func (w words) playersMapped(n ranking.PlayersMapped) string {
	return strings.Join(w.mappedPlayers(n), "\n")
}

func (w words) playersMappedLine(n ranking.PlayersMapped) string {
	return strings.Join(w.mappedPlayers(n), " ")
}

func (w words) playersMoved(n ranking.PlayersMoved) string { return w.movements(n.Moved) }

func (w words) playersMovedLine(n ranking.PlayersMoved) string { return w.movementsLine(n.Moved) }

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
