package bot

import (
	"cmp"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const nameHelp = "help"

// Help explains the command Topic, or lists the commands of the topic List. If both are empty, it
// lists the most important commands in a group, and the commands of all topics in a private chat.
type Help struct {
	Topic   string    `json:"topic,omitempty"` // the name of the command to explain
	List    helpTopic `json:"list,omitempty"`
	Private bool      `json:"private,omitempty"`
}

var _ = notice.Register[Help](notice.Kind{Name: "help", Purpose: notice.Answer, Alone: true})

var _ = shows(view[Help]{text: words.help, buttons: helpButtons})

// helpTopic is a set of commands that share a page in /help.
type helpTopic string

const (
	aboutResults     helpTopic = "results"
	aboutCorrections helpTopic = "corrections"
	aboutStatistics  helpTopic = "statistics"
	aboutSettings    helpTopic = "settings"
)

// helpTopics returns the topics in the order of the help.
func helpTopics() []helpTopic {
	return []helpTopic{aboutResults, aboutCorrections, aboutStatistics, aboutSettings}
}

// commands returns the commands of a topic, in table order.
func (t helpTopic) commands() []Command {
	return slices.DeleteFunc(slices.Clone(commands()), func(c Command) bool { return c.Topic != t })
}

// help handles "/help" and "/help match".
func help(_ *Router, req request) ranking.Operation {
	n := Help{Private: !req.origin.Chat.IsGroup()}
	name := command.Name(req.origin.Said.Typed())
	if c, ok := findCommand(cmp.Or(translations()[name], name)); ok && c.hasHelp() {
		n.Topic = c.Name
	}
	return ranking.Say{Notice: n}
}

// page returns the arguments of a button that shows h in a group: "/match" for a command, "results"
// for a topic, and "all" for the first page. parseHelp is the inverse.
func (h Help) page() string {
	if h.Topic != "" {
		return "/" + h.Topic
	}
	return string(cmp.Or(h.List, allTopics))
}

// allTopics stands for the first page in button data.
const allTopics helpTopic = "all"

// parseHelp reads back the arguments written by page. ok is false for any other arguments.
func parseHelp(args string) (h Help, ok bool) {
	if name, isCommand := strings.CutPrefix(args, "/"); isCommand {
		c, found := findCommand(name)
		return Help{Topic: name}, found && c.Name == name && c.hasHelp()
	}
	if helpTopic(args) == allTopics {
		return Help{}, true
	}
	return Help{List: helpTopic(args)}, slices.Contains(helpTopics(), helpTopic(args))
}

const (
	topicsPerRow   = 2
	commandsPerRow = 3
)

// helpButtons returns the buttons below the help. In a group, the first page has a button for each
// topic, and a topic's page has a button for each command with a help text. The pages of topics and
// commands also have a back button. In a private chat, the list of all topics has an invitation
// button.
func helpButtons(n Help, _ outbox.Item, w words) [][]button {
	if n.Private {
		if n.Topic == "" {
			return inviteButton(w)
		}
		return nil
	}
	show := func(label string, page Help) button {
		return button{text: label, data: callbackData(helpCode, page.page())}
	}
	var all []button
	switch {
	case n.Topic != "":
		c, _ := findCommand(n.Topic)
		return [][]button{{show("‹ "+w.topic(c.Topic), Help{List: c.Topic})}}
	case n.List != "":
		for _, c := range n.List.commands() {
			if c.hasHelp() {
				all = append(all, show("/"+c.Name, Help{Topic: c.Name}))
			}
		}
		return append(slices.Collect(slices.Chunk(all, commandsPerRow)),
			[]button{show("‹ "+w.Text("button.topics", nil), Help{})})
	default:
		for _, t := range helpTopics() {
			all = append(all, show(w.topic(t), Help{List: t}))
		}
		return slices.Collect(slices.Chunk(all, topicsPerRow))
	}
}

func (w words) topic(t helpTopic) string { return w.Text("button.topic_"+string(t), nil) }

// start handles /start, and any text in a private chat that is not a command for this bot. Telegram
// sends /start when a person starts the bot, or adds the bot to a group through a link. In a
// private chat, the name of a command that works only there may follow.
func start(r *Router, req request) ranking.Operation {
	if req.origin.Chat.IsGroup() {
		return ranking.Greet{Greeting: Greeting{}}
	}
	if c, ok := findCommand(req.origin.Said.Typed()); ok && c.OnlyPrivate {
		return c.Handle(r, req)
	}
	return ranking.Say{Notice: Greeting{Private: true, ForFile: req.origin.Said.Typed() == startForFile}}
}

// startForFile is the argument of the /start of a person who has pressed a button that sends a
// file, and to whom the bot could not write.
const startForFile = "file"

// Greeting introduces the bot.
type Greeting struct {
	Private bool `json:"private,omitempty"`
	ForFile bool `json:"for_file,omitempty"` // see startForFile
}

var _ = notice.Register[Greeting](notice.Kind{Name: "greeting", Purpose: notice.Outcome, Alone: true})

// Fleeting reports whether the greeting expires as fast as an answer. A greeting in a group does
// not, because it is usually the outcome of adding the bot.
func (g Greeting) Fleeting() bool { return g.Private }

var _ = shows(view[Greeting]{text: words.greeting, buttons: greetingButtons})

func greetingButtons(n Greeting, _ outbox.Item, w words) [][]button {
	if !n.Private || n.ForFile {
		return nil
	}
	return inviteButton(w)
}

func (w words) greeting(n Greeting) string {
	switch {
	case n.ForFile:
		return w.Text("greeting.for_file", nil)
	case n.Private:
		return w.Text("greeting.private", nil)
	default:
		return w.Text("greeting.group", nil)
	}
}

func (w words) help(n Help) string {
	switch {
	case n.Topic != "":
		return w.Text("commands."+n.Topic+".help", nil)
	case n.List != "":
		return w.topicPage(n.List)
	case n.Private:
		pages := []string{w.Text("help.private", nil)}
		for _, t := range helpTopics() {
			pages = append(pages, w.topicPage(t))
		}
		return strings.Join(pages, "\n\n")
	default:
		lines := []string{w.Text("help.title", nil)}
		for _, c := range commands() {
			if c.Short {
				first, _, _ := strings.Cut(w.usage(c), "\n")
				lines = append(lines, first)
			}
		}
		return strings.Join(append(lines, "", w.Text("help.more", nil)), "\n")
	}
}

func (w words) topicPage(t helpTopic) string {
	lines := []string{"<b>" + w.topic(t) + "</b>"}
	for _, c := range t.commands() {
		lines = append(lines, w.usage(c))
	}
	return strings.Join(lines, "\n")
}

// usage returns the lines about a command in a list of commands.
func (w words) usage(c Command) string { return w.Text("commands."+c.Name+".usage", nil) }

// menuLine returns the plain text for a command in the menu of groups or private chats.
func (w words) menuLine(name string, private bool) string {
	if id := "commands." + name + ".private_menu"; private && w.Has(id) {
		return w.Text(id, nil)
	}
	return w.Text("commands."+name+".menu", nil)
}
