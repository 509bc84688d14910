package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-telegram/bot/models"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/telegram"
)

// Command is a command that people give with a message. Dispatch, help, menus and docs/commands.md come from the table of
// commands; the texts about a command are in [english.command].
type Command struct {
	Name    string
	Aliases []string
	Where   Where
	Handle  func(r *Router, ctx context.Context, req request) error
	Topic   helpTopic // where /help lists it, empty for nowhere
	Short   bool      // the first page of /help in groups lists it too
	Help    bool      // it has a help text of its own, besides its lines in /help
	Menu    Where     // the menus that list it
	Admins  bool      // of groups, only the menu of admins lists it
}

// Where is a set of kinds of chats.
type Where uint8

// The kinds of chats in which a command works.
const (
	InGroups Where = 1 << iota
	InPrivate
	Everywhere = InGroups | InPrivate
)

// commands returns the table of commands, in the order of the help and the menus. Callers must not change it.
func commands() []Command { return commandTable.get(listCommands) }

// commandTable is made when it is first needed, because handlers read it too: a variable's initial value must not refer to itself.
var commandTable lazy[Command]

// lazy is a list that is made once.
type lazy[T any] struct {
	once sync.Once
	list []T
}

func (l *lazy[T]) get(list func() []T) []T {
	l.once.Do(func() { l.list = list() })
	return l.list
}

func listCommands() []Command {
	return []Command{
		{Name: command.NameStart, Where: Everywhere, Handle: (*Router).start, Menu: InPrivate},
		{Name: command.NameMatch, Aliases: []string{command.NameWon, command.NameLost, command.NameDraw}, Where: InGroups, Handle: (*Router).match, Topic: aboutResults, Short: true, Help: true, Menu: InGroups},
		{Name: command.NameRanking, Aliases: []string{nameTop, "top10", "leaderboard", "lb", "table", "rank", "elo"}, Where: InGroups, Handle: (*Router).ranking, Topic: aboutStatistics, Short: true, Help: true, Menu: InGroups},
		{Name: command.NameStats, Aliases: []string{command.NameMe, "rating", "profile"}, Where: Everywhere, Handle: (*Router).player, Topic: aboutStatistics, Short: true, Help: true, Menu: Everywhere},
		{Name: command.NameH2H, Aliases: []string{"vs", "versus"}, Where: InGroups, Handle: (*Router).headToHead, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameRecords, Where: InGroups, Handle: (*Router).records, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameMatches, Aliases: []string{"games", "results"}, Where: InGroups, Handle: (*Router).matches, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameHistory, Where: InGroups, Handle: (*Router).history, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameChart, Aliases: []string{"graph", "plot"}, Where: InGroups, Handle: (*Router).chart, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameOdds, Where: InGroups, Handle: (*Router).odds, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameTeams, Where: InGroups, Handle: (*Router).teams, Topic: aboutStatistics, Help: true, Menu: InGroups},
		{Name: command.NameUndo, Where: InGroups, Handle: parsed(request.matchNumber, (*Router).undo), Topic: aboutCorrections, Short: true, Help: true, Menu: InGroups},
		{Name: command.NameRestore, Where: InGroups, Handle: parsed(request.matchNumber, (*Router).restore), Topic: aboutCorrections, Help: true, Menu: InGroups},
		{Name: command.NameFix, Where: InGroups, Handle: parsed(request.correction, (*Router).fix), Topic: aboutCorrections, Help: true, Menu: InGroups},
		{Name: command.NameJoin, Where: InGroups, Handle: (*Router).join, Topic: aboutResults, Help: true, Menu: InGroups},
		{Name: command.NameSettings, Aliases: []string{"language"}, Where: InGroups, Handle: (*Router).settings, Topic: aboutSettings, Help: true, Menu: InGroups, Admins: true},
		{Name: command.NameBoard, Where: InGroups, Handle: (*Router).board, Topic: aboutSettings, Help: true, Menu: InGroups, Admins: true},
		{Name: command.NameHelp, Where: Everywhere, Handle: (*Router).help, Topic: aboutSettings, Menu: Everywhere},
		{Name: nameAbout, Where: Everywhere, Handle: (*Router).about, Menu: InPrivate},
	}
}

// parsed returns a handler that parses the arguments of a command, and answers the command if they are malformed.
func parsed[A any](parse func(request) (A, error), handle func(*Router, context.Context, request, A) error) func(*Router, context.Context, request) error {
	return func(r *Router, ctx context.Context, req request) error {
		args, err := parse(req)
		if form, ok := wrongForm(req.command, err); ok {
			req.origin.Malformed = req.command.Name
			form.Corrected, _ = command.CorrectAmendment(req.command, err)
			return r.rankings.Answer(ctx, req.origin, form)
		}
		if err != nil {
			return fmt.Errorf("read /%s: %w", req.command.Name, err)
		}
		return handle(r, ctx, req, args)
	}
}

// findCommand returns the command with this name or alias.
func findCommand(name string) (Command, bool) {
	for _, c := range commands() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c, true
		}
	}
	return Command{}, false
}

// isKnown reports whether the bot has a command with this name or alias.
func isKnown(name string) bool {
	_, ok := findCommand(name)
	return ok
}

// loggedName returns the name of a command for the log, which must not contain text that people chose.
func loggedName(name string) string {
	if c, ok := findCommand(name); ok {
		return c.Name
	}
	return "unknown"
}

// dispatch answers a command, or calls its handler.
func (r *Router) dispatch(ctx context.Context, req request) error {
	private := !req.origin.Chat.IsGroup()
	c, ok := findCommand(req.command.Name)
	if ok {
		req.command.Name = c.Name
	}
	switch {
	case !ok:
		return r.unknownCommand(ctx, req, private || req.command.Addressed)
	case c.Help && req.command.WantsHelp():
		return r.rankings.Answer(ctx, req.origin, Help{Topic: c.Name, Private: private})
	case private && c.Where&InPrivate == 0:
		return r.rankings.Answer(ctx, req.origin, GroupOnly{Command: c.Name})
	default:
		return c.Handle(r, ctx, req)
	}
}

// Menus returns the commands that Telegram offers to the members and the admins of groups and in private chats, in all languages.
// Telegram shows people the menus in their own language, and those without a language to all others.
func Menus() []telegram.Menu {
	var all []telegram.Menu
	for i, l := range catalog.All() {
		code := ""
		if i > 0 {
			code, _, _ = strings.Cut(l.Tag(), "-") // Telegram knows no regions here
		}
		all = append(all, menusIn(words{Language: l}, code)...)
	}
	return all
}

// menusIn returns the menus of members, of admins and of private chats in one language.
func menusIn(w words, code string) []telegram.Menu {
	members := telegram.Menu{Scope: telegram.GroupMembers, Language: code}
	admins := telegram.Menu{Scope: telegram.GroupAdmins, Language: code}
	private := telegram.Menu{Scope: telegram.PrivateChats, Language: code}
	for _, c := range commands() {
		if c.Menu&InGroups != 0 {
			line := models.BotCommand{Command: c.Name, Description: w.menuLine(c.Name, InGroups)}
			admins.Commands = append(admins.Commands, line)
			if !c.Admins {
				members.Commands = append(members.Commands, line)
			}
		}
		if c.Menu&InPrivate != 0 {
			private.Commands = append(private.Commands, models.BotCommand{Command: c.Name, Description: w.menuLine(c.Name, InPrivate)})
		}
	}
	return []telegram.Menu{members, admins, private}
}
