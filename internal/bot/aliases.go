package bot

import (
	"strings"
	"sync"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/telegram"
	"elobot/internal/transfer"
)

// translations returns additional command names in the languages of the catalogs, mapped to the
// names or aliases that they stand for, or to namePlayers. Menus do not contain them. The
// correction of misspelled commands ignores them, because it would otherwise answer more commands
// that are meant for other bots.
func translations() map[string]string {
	makeTranslations.Do(func() {
		allTranslations = make(map[string]string)
		for _, l := range catalog.All() {
			for _, name := range append(commandNames(), namePlayers) {
				if id := "aliases." + name; l.Has(id) {
					for alias := range strings.FieldsSeq(l.Text(id, nil)) {
						allTranslations[command.Name(alias)] = name
					}
				}
			}
		}
	})
	return allTranslations
}

var (
	makeTranslations sync.Once
	allTranslations  map[string]string
)

// namePlayers is the name of a command that stands for /ranking all.
const namePlayers = "players"

// command returns the command of a message, with a translated name replaced by the English one, and
// with /players turned into /ranking all. ok is false if the message has no command, if its command
// is for another bot, or if the bot does not know the command and its name has letters other than a
// to z.
func (m *message) command(entities []command.Entity, self string) (c command.Command, ok bool) {
	c, ok = command.Parse(m.Text, entities, self)
	name, isTranslated := translations()[c.Name]
	switch {
	case name == namePlayers:
		if c.Name, c.Written = "ranking", "ranking"; !c.WantsHelp() {
			c.Args = strings.TrimSpace(c.Args + " all")
		}
	case isTranslated:
		c.Name, c.Written = name, name
	}
	if _, isOurs := findCommand(c.Name); !ok || c.Beyond && !isOurs {
		return command.Command{}, false
	}
	return c, true
}

// CommandNames returns what the names of commands mean in old messages.
func CommandNames() map[string]transfer.CommandName {
	all := make(map[string]transfer.CommandName)
	for _, c := range commands() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			all[name] = transfer.CommandName{Name: c.Name, Written: name}
		}
	}
	for alias, name := range translations() {
		if c, ok := all[name]; ok {
			all[alias] = c
		}
	}
	return all
}

// ChatOptions returns what exports of chats with the bot account self have in common.
func ChatOptions(self telegram.Self) transfer.ChatOptions {
	return transfer.ChatOptions{Bots: []string{self.Username}, BotID: self.ID, Commands: CommandNames()}
}
