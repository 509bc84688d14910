package bot

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/go-telegram/bot/models"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// Command is a command that people type. Dispatch and the help are
// derived from the table of commands. The catalog has the texts about a command under the command's
// name.
type Command struct {
	Name    string
	Aliases []string
	Private bool // works in private chats
	// OnlyPrivate is set if the command does not work in groups. The answer there has a button that
	// sends the command in the private chat.
	OnlyPrivate bool
	Handle      Handler
	Topic       helpTopic // the topic in /help; empty if /help does not list it
	Short       bool      // also on the first page of /help in groups
	// OfLadder is set if the command is about a ladder. The command's first words may then name the
	// ladder.
	OfLadder bool
}

// Handler returns the operation for a command, or nil to ignore the command.
type Handler func(r *Router, req request) ranking.Operation

// does returns a handler for a command that always leads to op. If the command has arguments, op
// reads them.
func does(op ranking.Operation) Handler {
	return func(*Router, request) ranking.Operation { return op }
}

// asks returns the handler of a command that asks a question of the given form.
func asks(form stats.Form) Handler { return does(ranking.Ask{Question: stats.Typed{Form: form}}) }

// hasHelp reports whether the command has a separate help text, in addition to its lines in /help.
func (c Command) hasHelp() bool { return c.Topic != "" && c.Name != nameHelp }

// commands returns all commands. A page of the help lists its commands in this order. Callers must
// not modify the slice.
func commands() []Command {
	makeTables()
	return allCommands
}

// makeTables builds the tables of commands and buttons on first use. They cannot be initialized as
// package variables: their handlers refer to the tables, and Go forbids such an initialization
// cycle.
func makeTables() {
	tablesMade.Do(func() { allCommands, allCallbacks = tableOfCommands(), tableOfCallbacks() })
}

var (
	tablesMade   sync.Once
	allCommands  []Command
	allCallbacks []Callback
)

func tableOfCommands() []Command {
	return []Command{
		{Name: "start", Private: true, Handle: start},
		{Name: command.NameMatch, Handle: does(ranking.ReadReport{}), Topic: aboutResults, Short: true, OfLadder: true,
			Aliases: []string{command.NameWon, "win", command.NameLost, "lose", command.NameDraw, "result", "game"}},
		{Name: "ranking",
			Handle:  does(ranking.TypedSeason{Question: stats.Typed{Form: stats.RankingCommand{Season: seasonForm}}}),
			Aliases: []string{stats.NameTop, "top10", "leaderboard", "lb", "table", "rank", "elo"},
			Topic:   aboutStatistics, Short: true, OfLadder: true},
		{Name: "stats", Aliases: []string{stats.NameMe, "rating", "profile"}, Private: true, Handle: player,
			Topic: aboutStatistics, Short: true, OfLadder: true},
		{Name: "h2h", Aliases: []string{"vs", "versus"}, Handle: asks(stats.HeadToHeadCommand{}),
			Topic: aboutStatistics, OfLadder: true},
		{Name: "records", Handle: asks(stats.RecordsCommand{}), Topic: aboutStatistics, OfLadder: true},
		{Name: "matches", Aliases: []string{"games", "results"}, Handle: matches, Topic: aboutStatistics, OfLadder: true},
		{Name: "history", Handle: asks(stats.HistoryCommand{}), Topic: aboutStatistics, OfLadder: true},
		{Name: "chart", Aliases: []string{"graph", "plot"}, Topic: aboutStatistics, OfLadder: true,
			Handle: does(ranking.Ask{Question: stats.Typed{Form: stats.ChartCommand{}}, Posts: true})},
		{Name: command.NameOdds, Handle: asks(stats.OddsCommand{}), Topic: aboutStatistics, OfLadder: true},
		{Name: command.NameTeams, Handle: asks(stats.TeamsCommand{}), Topic: aboutStatistics, OfLadder: true},
		{Name: command.NameUndo, Handle: amending(undo), Topic: aboutCorrections, Short: true},
		{Name: command.NameRestore, Handle: amending(restore), Topic: aboutCorrections},
		{Name: command.NameFix, Handle: fixAny, Topic: aboutCorrections},
		{Name: "join", Handle: does(ranking.Join{}), Topic: aboutResults},
		{Name: nameNick, Aliases: []string{"nickname"}, Handle: nick, Topic: aboutResults},
		{Name: "leave", Handle: does(ranking.Leave{}), Topic: aboutResults},
		{Name: nameGuest, Handle: does(ranking.AddGuest{Otherwise: Help{Topic: nameGuest}}), Topic: aboutResults},
		{Name: "settings", Aliases: []string{"language"}, Private: true, Handle: typedSettings,
			Topic: aboutSettings, OfLadder: true},
		{Name: namePlayer, Handle: does(ranking.Ask{OfAdmins: true,
			Question: stats.Typed{Form: stats.PlayerCommand{Otherwise: Help{Topic: namePlayer}}}}), Topic: aboutCorrections},
		{Name: nameLadder, Handle: typedLadder, Topic: aboutSettings},
		{Name: command.NameSeason, Handle: does(ranking.TypedSeason{Question: stats.Typed{Form: seasonForm}}),
			Topic: aboutStatistics, OfLadder: true},
		{Name: "alltime", Handle: asks(stats.AllTimeCommand{}), Topic: aboutStatistics, OfLadder: true},
		{Name: "board", Handle: does(ranking.TypedBoard{}), Topic: aboutSettings, OfLadder: true},
		{Name: "web", Handle: does(ranking.ShowWeb{}), Topic: aboutStatistics},
		{Name: nameMyData, Private: true, OnlyPrivate: true, Handle: myData, Topic: aboutSettings},
		{Name: nameForget, Private: true, OnlyPrivate: true, Handle: does(ranking.ForgetMe{}), Topic: aboutSettings},
		{Name: nameHelp, Private: true, Handle: help, Topic: aboutSettings},
		{Name: "about", Private: true, Handle: about},
	}
}

// parsed returns the handler of a command that amends a match. The handler passes the parsed
// arguments to handle, or answers with a notice that says why they cannot be parsed.
func parsed[A any](parse func(command.Command) (A, error), handle func(*Router, request, A) ranking.Operation) Handler {
	return func(r *Router, req request) ranking.Operation {
		said := req.origin.Said
		args, err := parse(said)
		if form, malformed := ranking.WrongFormOf(said, err); malformed {
			form.Corrected, _ = command.CorrectAmendment(said, err)
			return ranking.Say{Notice: form, Malformed: said.Name}
		}
		return handle(r, req, args)
	}
}

func findCommand(name string) (Command, bool) {
	for _, c := range commands() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c, true
		}
	}
	return Command{}, false
}

// commandNames returns the names and aliases of all commands, in table order.
func commandNames() (all []string) {
	for _, c := range commands() {
		all = append(append(all, c.Name), c.Aliases...)
	}
	return all
}

// loggedName returns the name of a command for the log, or "unknown" if the bot does not have the
// command. The log must not contain text that people chose.
func loggedName(name string) string {
	if c, ok := findCommand(name); ok {
		return c.Name
	}
	return "unknown"
}

func (r *Router) dispatch(ctx context.Context, req request) error {
	said, private := &req.origin.Said, !req.origin.Chat.IsGroup()
	c, ok := findCommand(said.Name)
	if split, hasNumber := said.SplitNumber(); !ok && hasNumber {
		if c, ok = findCommand(split.Name); ok {
			*said = split
		}
	}
	var op ranking.Operation
	switch {
	case !ok:
		op = unknownCommand(req, private || said.Addressed, r.self.Username)
	case c.hasHelp() && said.WantsHelp():
		op = ranking.Say{Notice: Help{Topic: c.Name, Private: private}}
	case private && !c.Private:
		op = ranking.Say{Notice: GroupOnly{Command: c.Name}}
	case !private && c.OnlyPrivate:
		op = ranking.Say{Notice: PrivateOnly{Command: c.Name}}
	default:
		said.Name, said.MayNameLadder = c.Name, c.OfLadder
		op = c.Handle(r, req)
	}
	return r.do(ctx, req.origin, op)
}

// do asks the service to carry out an operation. It ignores a nil operation.
func (r *Router) do(ctx context.Context, o ranking.Origin, op ranking.Operation) error {
	if op == nil {
		return nil
	}
	return r.rankings.Do(ctx, o, op)
}

// The commands that Telegram offers in groups: memberMenu to all members, and adminMenu to admins
// in addition. The menus are short enough to take in at a glance. All other commands work when
// typed.
var (
	memberMenu = []string{
		command.NameMatch, "ranking", "stats", "h2h", "history", "chart", "records",
		command.NameOdds, command.NameTeams, command.NameUndo,
		command.NameFix, nameHelp,
	}
	adminMenu = []string{"settings", "board", nameLadder, command.NameSeason}
)

// Menus returns the menus of commands for members of groups, for admins and for private chats, in
// all languages. Telegram shows people the menu in the language of their app. The English menus
// have no language code, so Telegram shows them to people whose app is in any other language.
func Menus() []telegram.Menu {
	var all []telegram.Menu
	for i, l := range catalog.All() {
		code := ""
		if i > 0 {
			code, _, _ = strings.Cut(l.Tag(), "-") // Telegram accepts only two-letter codes
		}
		all = append(all, menusIn(words{Language: l}, code)...)
	}
	return all
}

// menusIn returns the menus in one language. code is Telegram's code for the language, empty for
// the default.
func menusIn(w words, code string) []telegram.Menu {
	var private []string
	for _, c := range commands() {
		if c.Private {
			private = append(private, c.Name)
		}
	}
	return []telegram.Menu{
		{Scope: telegram.GroupMembers, Language: code, Commands: w.menu(memberMenu, false)},
		{Scope: telegram.GroupAdmins, Language: code, Commands: w.menu(slices.Concat(memberMenu, adminMenu), false)},
		{Scope: telegram.PrivateChats, Language: code, Commands: w.menu(private, true)},
	}
}

func (w words) menu(names []string, private bool) (all []models.BotCommand) {
	for _, name := range names {
		all = append(all, models.BotCommand{Command: name, Description: w.menuLine(name, private)})
	}
	return all
}

// GroupOnly says that a command works only in groups.
type GroupOnly struct {
	Command string `json:"command"`
}

var _ = notice.Register[GroupOnly](notice.Kind{Name: "group_only", Purpose: notice.Answer, Alone: true, Refuses: true})

var _ = shows(view[GroupOnly]{text: words.groupOnly, buttons: groupOnlyButtons})

func groupOnlyButtons(_ GroupOnly, _ outbox.Item, w words) [][]button { return inviteButton(w) }

func (w words) groupOnly(n GroupOnly) string {
	return w.Text("command.group_only", args{"Command": n.Command})
}
