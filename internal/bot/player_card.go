package bot

import (
	"fmt"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const namePlayer = "player"

// playerButton is the data of a button that is about a player or about a change for two players, as
// in 1y:card:7:0 and 1y:do_merge:7,8:42.
type playerButton struct {
	does    string // a key of playersOfButton
	players []ladder.PlayerID
	number  int // of the page, or of the matches that the change is about
}

const (
	askPrefix   = "ask_"
	doesCard    = "card"
	doesMerging = "do_merge"
	doesSplit   = "do_split"
	// doesOwnName ends the player's nick. Its button marks the page whose replies are nicks.
	doesOwnName = "own_name"
	doesRemove  = "remove"
	doesRestore = "restore"
)

// playersOfButton has the number of players for all that a button can do: one of the constants, a
// stats.PlayerView, or a ranking.MappingAsk with askPrefix.
var playersOfButton = map[string]int{
	doesCard: 1, doesOwnName: 1, doesRemove: 1, doesRestore: 1, doesMerging: 2, doesSplit: 2,
	string(stats.ViewNick): 1, string(stats.ViewMerge): 1, string(stats.ViewAccounts): 1, string(stats.ViewSplit): 1,
	askPrefix + string(ranking.AskMerge): 2, askPrefix + string(ranking.AskAccount): 2,
	askPrefix + string(ranking.AskSure): 2, askPrefix + string(ranking.AskSplit): 2,
}

func (b playerButton) args() string {
	return fmt.Sprintf("%s:%s:%d", b.does, showIDs(b.players), b.number)
}

// parsePlayerButton parses the output of args. ok is false for other text.
func parsePlayerButton(args string) (b playerButton, ok bool) {
	does, rest, _ := strings.Cut(args, ":")
	ids, number, _ := strings.Cut(rest, ":")
	b.does = does
	b.number, _ = strconv.Atoi(number)
	b.players, ok = parseIDs(ids)
	return b, ok && b.number >= 0 && len(b.players) == playersOfButton[does] && b.args() == args
}

func pressPlayer(_ *Router, _ *press, b playerButton) ranking.Operation {
	ask, asks := strings.CutPrefix(b.does, askPrefix)
	step, view := ranking.MappingStep{Shown: &b.number}, stats.PlayerView(b.does)
	if asks {
		step = ranking.MappingStep{Ask: ranking.MappingAsk(ask)}
	}
	switch {
	case b.does == doesSplit || step.Ask == ranking.AskSplit:
		return ranking.SplitPlayer{Player: b.players[0], MappingStep: step}
	case b.does == doesMerging || asks:
		return ranking.MergePlayers{From: b.players[0], Into: b.players[1], MappingStep: step}
	case b.does == doesRemove || b.does == doesRestore:
		return ranking.RemovePlayer{Player: b.players[0], Back: b.does == doesRestore}
	case b.does == doesOwnName:
		return ranking.Rename{Player: b.players[0], Off: true}
	case b.does == doesCard:
		view = ""
	}
	q := stats.PlayerCardQuestion{Player: b.players[0], View: view, Number: b.number}
	return ranking.Ask{Question: q, OfAdmins: true}
}

func (w words) playerButton(label, does string, number int, players ...ladder.PlayerID) button {
	b := playerButton{does, players, number}
	return button{text: w.Text("button."+label, nil), data: callbackData(aboutCode, b.args())}
}

var _ = shows(view[stats.PlayerCard]{text: words.playerCard, buttons: playerCardButtons})

func playerCardButtons(c stats.PlayerCard, _ outbox.Item, w words) [][]button {
	to := func(view stats.PlayerView) []button {
		return []button{w.playerButton("player_"+string(view), string(view), 0, c.Name.Player)}
	}
	rows := [][]button{append(to(stats.ViewNick), to(stats.ViewMerge)...)}
	if c.Account {
		rows = append(rows, to(stats.ViewAccounts))
	}
	if len(c.Names) > 1 {
		rows = append(rows, to(stats.ViewSplit))
	}
	if !c.Out {
		rows = append(rows, []button{w.playerButton("player_remove", doesRemove, 0, c.Name.Player)})
	} else if !c.Account { // an account comes back by /join
		rows = append(rows, []button{w.playerButton("player_restore", doesRestore, 0, c.Name.Player)})
	}
	return rows
}

var _ = shows(view[stats.PlayerPage]{text: words.playerPage, buttons: playerPageButtons})

func (w words) playerPage(n stats.PlayerPage) string {
	return w.Text("player."+string(n.View), args{"Name": showName(n.Name)})
}

// playerPageButtons returns the buttons that choose a player, turn the page, and lead back to the
// card. An account never joins another player, unless that is an account too.
func playerPageButtons(n stats.PlayerPage, _ outbox.Item, w words) (rows [][]button) {
	ask := map[stats.PlayerView]ranking.MappingAsk{
		stats.ViewMerge: ranking.AskMerge, stats.ViewAccounts: ranking.AskAccount, stats.ViewSplit: ranking.AskSplit,
	}[n.View]
	for _, name := range n.Choices {
		from, into := name.Player, n.Name.Player
		if n.View == stats.ViewMerge && !n.Account {
			from, into = into, from
		}
		b := w.playerButton("back", askPrefix+string(ask), 0, from, into)
		b.text = w.personLabel(name, false)
		rows = append(rows, []button{b})
	}
	if n.View == stats.ViewNick {
		rows = append(rows, []button{w.playerButton("own_name", doesOwnName, 0, n.Name.Player)})
	}
	turn := turnRow("", "")
	page := func(number int) string {
		return w.playerButton("back", string(n.View), number, n.Name.Player).data
	}
	if n.Number > 0 {
		turn[0].data = page(n.Number - 1)
	}
	if n.More {
		turn[1].data = page(n.Number + 1)
	}
	return append(rows, turn, []button{w.playerButton("back", doesCard, 0, n.Name.Player)})
}

var _ = shows(view[ranking.MappingPrompt]{text: words.mappingPrompt, buttons: mappingPromptButtons})

// mappingPromptButtons returns the button that makes the change, or asks again, and a way back.
func mappingPromptButtons(n ranking.MappingPrompt, _ outbox.Item, w words) [][]button {
	from, into := n.From.Player, n.Into.Player
	does, number := doesMerging, n.Matches()
	switch n.Ask {
	case ranking.AskAccount:
		does, number = askPrefix+string(ranking.AskSure), 0
	case ranking.AskSplit:
		does = doesSplit
	}
	return [][]button{
		{w.playerButton("do_"+string(n.Ask), does, number, from, into)}, {w.playerButton("back", doesCard, 0, into)},
	}
}

// mappingPrompt asks whether to merge or split two players, and says what that changes.
func (w words) mappingPrompt(n ranking.MappingPrompt) string {
	ask := w.Text("player.ask_"+string(n.Ask), args{"From": showName(n.From), "Into": showName(n.Into)})
	facts := []string{w.Text("player.no_moves", nil)}
	if n.Moves > 0 {
		facts[0] = w.Plural("player.moves", n.Moves, args{"Numbers": w.numbersOf(n.Last, n.Moves)})
	}
	if len(n.Undone) > 0 {
		facts = append(facts, w.Plural("player.undone", len(n.Undone), args{"Numbers": w.numberList(n.Undone)}))
	}
	if len(n.Restored) > 0 {
		facts = append(facts, w.Plural("player.restored", len(n.Restored), args{"Numbers": w.numberList(n.Restored)}))
	}
	var seasons []string
	for _, s := range n.Over {
		name := w.seasonName(s.Number, "")
		if s.Ladder != "" {
			name = showText(s.Ladder) + ", " + name
		}
		seasons = append(seasons, name)
	}
	if len(seasons) > 0 {
		facts = append(facts, w.Text("player.seasons", args{"Seasons": strings.Join(seasons, "; ")}))
	}
	return paragraphs([]string{ask}, facts)
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
