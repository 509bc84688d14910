package bot

import (
	"strings"

	"elobot/internal/stats"
)

const namePlayer = "player"

var _ = shows(view[stats.PlayerCard]{text: words.playerCard})

// playerCard says who a player is, and which names count as this player.
func (w words) playerCard(c stats.PlayerCard) string {
	with := args{"Name": showName(c.Name), "Username": showText("@" + c.Username)}
	kind, out := "guest", "out_guest"
	switch {
	case c.Account && c.Username == "":
		kind, out = "account", "out"
	case c.Account:
		kind, out = "account_named", "out"
	case c.Username != "":
		kind = "unclaimed"
	}
	matches, names := 0, []string{w.Text("player.names", with)}
	for _, one := range c.Names {
		matches += one.Matches
		names = append(names, boldName(one.Name)+" · "+w.Plural("facts.matches", one.Matches, nil))
	}
	head := []string{boldName(c.Name) + " · " + w.Plural("facts.matches", matches, nil), w.Text("player."+kind, with)}
	if c.Own != "" {
		head = append(head, w.Text("player.own", args{"Name": showText(w.called(c.Own))}))
	}
	if len(c.Names) == 1 {
		names = nil
	}
	var remarks []string
	if c.Out {
		remarks = append(remarks, w.Text("player."+out, with))
	}
	if len(c.Merged) > 0 {
		var merged []string
		for _, name := range c.Merged {
			merged = append(merged, showText(w.called(name)))
		}
		remarks = append(remarks, w.Text("player.merged", args{"Names": strings.Join(merged, ", ")}))
	}
	return paragraphs(head, names, remarks)
}
