package bot

import (
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const namePlayer = "player"

// playerButton is the data of a button that is about a player, as in 1y:card:7.
type playerButton struct {
	does   string // one of the constants below or a stats.PlayerView
	player ladder.PlayerID
}

const (
	doesCard = "card"
	// doesOwnName ends the player's nick. Its button marks the page whose replies are nicks.
	doesOwnName = "own_name"
)

func (b playerButton) args() string { return b.does + ":" + strconv.FormatInt(int64(b.player), 10) }

// parsePlayerButton parses the output of args. ok is false for other text.
func parsePlayerButton(args string) (b playerButton, ok bool) {
	does, id, _ := strings.Cut(args, ":")
	player, ok := parsePlayer(id)
	known := []string{doesCard, doesOwnName, string(stats.ViewNick)}
	return playerButton{does, player}, ok && slices.Contains(known, does)
}

func pressPlayer(_ *Router, _ *press, b playerButton) ranking.Operation {
	q := stats.PlayerCardQuestion{Player: b.player, View: stats.PlayerView(b.does)}
	switch b.does {
	case doesOwnName:
		return ranking.Rename{Player: b.player, Off: true}
	case doesCard:
		q.View = ""
	}
	return ranking.Ask{Question: q, OfAdmins: true}
}

func (w words) playerButton(label, does string, player ladder.PlayerID) button {
	return button{text: w.Text("button."+label, nil), data: callbackData(aboutCode, playerButton{does, player}.args())}
}

var _ = shows(view[stats.PlayerCard]{text: words.playerCard, buttons: playerCardButtons})

func playerCardButtons(c stats.PlayerCard, _ outbox.Item, w words) [][]button {
	return [][]button{{w.playerButton("player_nick", string(stats.ViewNick), c.Name.Player)}}
}

var _ = shows(view[stats.PlayerPage]{text: words.playerPage, buttons: playerPageButtons})

func (w words) playerPage(n stats.PlayerPage) string {
	return w.Text("player."+string(n.View), args{"Name": showName(n.Name)})
}

func playerPageButtons(n stats.PlayerPage, _ outbox.Item, w words) [][]button {
	return [][]button{
		{w.playerButton("own_name", doesOwnName, n.Name.Player)}, {w.playerButton("back", doesCard, n.Name.Player)},
	}
}

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
