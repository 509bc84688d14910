package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const namePlayer = "player"

// playerButton is the data of a button about one player, as in 1y:nick:7:-1, or about merging or
// splitting two players, as in 1y:merge:7,8:42.
type playerButton struct {
	does    string // one of doesWith
	players []ladder.PlayerID
	shown   int // the Shown of a ranking.MappingStep, or unshown for nil
}

const (
	unshown = -1
	// doesOwnName ends the player's nick. A reply to a message with this button gives the player a
	// nick.
	doesOwnName = "own_name"
	doesRemove  = "remove"
	doesRestore = "restore"
	doesIgnore  = "ignore"
	doesHear    = "hear"
	doesUndoDay = "undo_day"
)

// doesWith lists the values of playerButton.does, by the number of players. With one player, the
// value is a stats.PlayerView or one of the constants above; with two, it is a ranking.MappingAsk.
var doesWith = [...][]string{
	1: {
		"", string(stats.ViewNick), string(stats.ViewMerge), string(stats.ViewAccounts), string(stats.ViewSplit),
		doesOwnName, doesRemove, doesRestore, doesIgnore, doesHear, doesUndoDay,
	},
	2: {string(ranking.AskMerge), string(ranking.AskAccounts), string(ranking.AskSure), string(ranking.AskSplit)},
}

func (b playerButton) args() string {
	return fmt.Sprintf("%s:%s:%d", b.does, showIDs(b.players), b.shown)
}

// parsePlayerButton parses the output of args. ok is false for other text.
func parsePlayerButton(args string) (b playerButton, ok bool) {
	does, rest, _ := strings.Cut(args, ":")
	ids, shown, _ := strings.Cut(rest, ":")
	b.does = does
	b.shown, _ = strconv.Atoi(shown)
	b.players, ok = parseIDs(ids)
	return b, ok && len(b.players) < len(doesWith) && slices.Contains(doesWith[len(b.players)], does) &&
		b.shown >= unshown && b.args() == args
}

func pressPlayer(_ *Router, _ *press, b playerButton) ranking.Operation {
	player := b.players[0]
	if len(b.players) == 2 {
		step := ranking.MappingStep{Shown: &b.shown}
		if b.shown == unshown {
			step = ranking.MappingStep{Ask: ranking.MappingAsk(b.does)}
		}
		if b.does == string(ranking.AskSplit) {
			return ranking.SplitPlayer{Player: player, MappingStep: step}
		}
		return ranking.MergePlayers{From: player, Into: b.players[1], MappingStep: step}
	}
	switch b.does {
	case doesRemove, doesRestore:
		return ranking.RemovePlayer{Player: player, Back: b.does == doesRestore}
	case doesIgnore, doesHear:
		return ranking.IgnorePlayer{Player: player, Off: b.does == doesHear}
	case doesUndoDay:
		undo := ranking.UndoDay{Player: player}
		if b.shown != unshown {
			undo.Shown = &b.shown
		}
		return undo
	case doesOwnName:
		return ranking.Rename{Player: player, Off: true}
	}
	return ranking.Ask{Question: stats.PlayerCardQuestion{Player: player, View: stats.PlayerView(b.does)}, OfAdmins: true}
}

func (w words) playerButton(label, does string, shown int, players ...ladder.PlayerID) []button {
	b := playerButton{does, players, shown}
	return []button{{text: w.Text("button."+label, nil), data: callbackData(aboutCode, b.args())}}
}

var _ = shows(view[stats.PlayerCard]{text: words.playerCard, buttons: playerCardButtons})

func playerCardButtons(c stats.PlayerCard, _ outbox.Item, w words) [][]button {
	to := func(view stats.PlayerView) []button {
		return w.playerButton("player_"+string(view), string(view), unshown, c.Name.Player)
	}
	rows := [][]button{append(to(stats.ViewNick), to(stats.ViewMerge)...)}
	if c.Account {
		rows = append(rows, to(stats.ViewAccounts))
	}
	if len(c.Names) > 1 {
		rows = append(rows, to(stats.ViewSplit))
	}
	if c.Account {
		does := doesIgnore
		if c.Ignored {
			does = doesHear
		}
		to := func(does string) []button { return w.playerButton("player_"+does, does, unshown, c.Name.Player) }
		rows = append(rows, append(to(does), to(doesUndoDay)...))
	}
	if !c.Out {
		rows = append(rows, w.playerButton("player_remove", doesRemove, unshown, c.Name.Player))
	} else if !c.Account { // an account comes back with /join
		rows = append(rows, w.playerButton("player_restore", doesRestore, unshown, c.Name.Player))
	}
	return rows
}

var _ = shows(view[stats.PlayerPage]{text: words.playerPage, buttons: playerPageButtons})

func (w words) playerPage(n stats.PlayerPage) string {
	return w.Text("player."+string(n.View), args{"Name": showName(n.Name)})
}

// playerPageButtons returns a button for each player to choose, the button that ends the nick if
// the page is about the nick, and the button back to the card. The buttons never offer to merge an
// account into a player without one: with View stats.ViewMerge, a player who is not an account is
// merged into the chosen player. In all other cases, the chosen player is merged into the player of
// the page, or split from that player.
func playerPageButtons(n stats.PlayerPage, _ outbox.Item, w words) (rows [][]button) {
	for _, name := range n.Choices {
		from, into := name.Player, n.Name.Player
		if n.View == stats.ViewMerge && !n.Account {
			from, into = into, from
		}
		row := w.playerButton("back", string(n.View), unshown, from, into)
		row[0].text = w.personLabel(name, false)
		rows = append(rows, row)
	}
	if n.View == stats.ViewNick {
		rows = append(rows, w.playerButton("own_name", doesOwnName, unshown, n.Name.Player))
	}
	return append(rows, w.playerButton("back", "", unshown, n.Name.Player))
}

var _ = shows(view[ranking.MappingPrompt]{text: words.mappingPrompt, buttons: mappingPromptButtons})

// mappingPromptButtons returns the button that makes the change, and a button back to the card.
// Before two accounts are merged, the first button leads to a second question instead.
func mappingPromptButtons(n ranking.MappingPrompt, _ outbox.Item, w words) [][]button {
	from, into := n.From.Player, n.Into.Player
	does, shown := string(n.Ask), n.Shown
	if n.Ask == ranking.AskAccounts {
		does, shown = string(ranking.AskSure), unshown
	}
	return [][]button{
		w.playerButton("do_"+string(n.Ask), does, shown, from, into), w.playerButton("back", "", unshown, into),
	}
}

// mappingPrompt asks whether to merge or split two players, and says what that changes.
func (w words) mappingPrompt(n ranking.MappingPrompt) string {
	ask := w.Text("player.ask_"+string(n.Ask), args{"From": showName(n.From), "Into": showName(n.Into)})
	if len(n.Stay) > 0 {
		ask += "\n" + w.Text("player.stay", args{
			"Names": w.side(namesAs(n.Stay, showName), maxSideNames, shortSideNames), "Into": showName(n.Into),
		})
	}
	if n.Again {
		ask = w.Text("player.again", nil) + "\n\n" + ask
	}
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

var _ = shows(view[ranking.UndoDayPrompt]{text: words.undoDayPrompt, buttons: undoDayButtons})

func undoDayButtons(n ranking.UndoDayPrompt, _ outbox.Item, w words) [][]button {
	player := n.Name.Player
	return [][]button{
		w.playerButton("do_undo_day", doesUndoDay, n.Shown, player), w.playerButton("back", "", unshown, player),
	}
}

func (w words) undoDayPrompt(n ranking.UndoDayPrompt) string {
	ask := w.Plural("player.ask_undo_day", n.Count,
		args{"Name": showName(n.Name), "Numbers": w.numbersOf(n.Last, n.Count)})
	if n.Again {
		ask = w.Text("player.again", nil) + "\n\n" + ask
	}
	if len(n.Players) > 0 {
		ask += "\n" + w.Text("player.who_played", args{
			"Names": w.side(namesAs(n.Players, showName), maxSideNames, shortSideNames),
		})
	}
	return ask
}

var _ = shows(view[ranking.DayUndone]{text: words.dayUndone, line: words.dayUndone})

func (w words) dayUndone(n ranking.DayUndone) string {
	return w.Plural("player.day_undone", n.Count,
		args{"Name": showName(n.Name), "Numbers": w.numbersOf(n.Last, n.Count)})
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
	if c.Ignored {
		remarks = append(remarks, w.Text("player.ignored", with))
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
