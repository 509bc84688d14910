package bot

import (
	"strings"

	"elobot/internal/ranking"
)

var _ = shows(view[ranking.PlayersMerged]{text: words.playersMerged, line: words.playersMergedLine, ofLadder: true})

func (w words) playersMerged(n ranking.PlayersMerged) string { return w.merged(n, "\n", w.movements) }

func (w words) playersMergedLine(n ranking.PlayersMerged) string {
	return w.merged(n, " ", w.movementsLine)
}

// merged says which two players were merged or split, which matches were undone or restored, and
// how ratings have changed. between separates the sentences, and moves renders the rating changes.
func (w words) merged(n ranking.PlayersMerged, between string, moves func(ranking.Moved) string) string {
	with := args{"Username": showName(n.Player), "Name": showName(n.Name)}
	if n.Username != "" {
		with["Username"] = showText("@" + n.Username)
	}
	var sentences []string
	switch {
	case n.Split:
		sentences = append(sentences, w.Text("merged.split", with))
	case n.Name != ranking.Name{}:
		sentences = append(sentences, w.Text("merged.players", with))
	}
	if len(n.Undone) > 0 {
		sentences = append(sentences, w.Plural("merged.undone", len(n.Undone), args{"Numbers": w.numberList(n.Undone)}))
	}
	if len(n.Restored) > 0 {
		sentences = append(sentences, w.Plural("merged.restored", len(n.Restored), args{"Numbers": w.numberList(n.Restored)}))
	}
	if len(n.Ratings) > 0 {
		sentences = append(sentences, moves(n.Moved))
	}
	return strings.Join(sentences, between)
}
