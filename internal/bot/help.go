package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// helpTopic is a group of commands that /help lists on a page of its own.
type helpTopic string

// The topics.
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

// commands returns the commands of a topic, in the order of the table.
func (t helpTopic) commands() []Command {
	return slices.DeleteFunc(slices.Clone(commands()), func(c Command) bool { return c.Topic != t })
}

// help handles "/help" and "/help match".
func (r *Router) help(ctx context.Context, req request) error {
	n := Help{Private: !req.origin.Chat.IsGroup()}
	if c, ok := findCommand(command.Name(req.command.Args)); ok && c.Help {
		n.Topic = c.Name
	}
	return r.rankings.Answer(ctx, req.origin, n)
}

// turnHelp handles the buttons that show another page of the help.
func (r *Router) turnHelp(ctx context.Context, p press, page Help) error {
	return r.rankings.TurnPage(ctx, p.origin, p.query.Message.ID, func(context.Context) (ranking.Notice, error) { return page, nil })
}

// page returns the arguments of the buttons that show a page of the help in groups: "/match" for a command, "results" for a topic, and
// "all" for the first page.
func (h Help) page() string {
	if h.Topic != "" {
		return "/" + h.Topic
	}
	return string(cmp.Or(h.List, allTopics))
}

// allTopics stands for the first page in the data of a button.
const allTopics helpTopic = "all"

// parseHelp reads the arguments that page writes. ok is false for all others.
func parseHelp(args string) (h Help, ok bool) {
	if name, isCommand := strings.CutPrefix(args, "/"); isCommand {
		c, found := findCommand(name)
		return Help{Topic: name}, found && c.Name == name && c.Help
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

// helpButtons returns the buttons below a page of the help in a group: on the first page those of the topics, on the page of a topic
// those of its commands, and the way back.
func helpButtons(n Help, w words) [][]button {
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
			if c.Help {
				all = append(all, show("/"+c.Name, Help{Topic: c.Name}))
			}
		}
		return append(slices.Collect(slices.Chunk(all, commandsPerRow)), []button{show("‹ "+w.Text("button.topics", nil), Help{})})
	default:
		for _, t := range helpTopics() {
			all = append(all, show(w.topic(t), Help{List: t}))
		}
		return slices.Collect(slices.Chunk(all, topicsPerRow))
	}
}

// topic returns the name of a topic.
func (w words) topic(t helpTopic) string { return w.Text("button.topic_"+string(t), nil) }
