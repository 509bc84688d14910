package bot

import (
	"html"
	"strings"
)

func (w words) greeting(n Greeting) string {
	if n.Private {
		return w.Text("greeting.private", nil)
	}
	return w.Text("greeting.group", nil)
}

// help explains a command, or lists commands.
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

// topicPage lists the commands of a topic.
func (w words) topicPage(t helpTopic) string {
	lines := []string{"<b>" + w.topic(t) + "</b>"}
	for _, c := range t.commands() {
		lines = append(lines, w.usage(c))
	}
	return strings.Join(lines, "\n")
}

// usage returns the lines about a command in a list.
func (w words) usage(c Command) string { return w.Text("commands."+c.Name+".usage", nil) }

// menuLine returns what a command's menu says in a kind of chat, as plain text.
func (w words) menuLine(name string, where Where) string {
	if id := "commands." + name + ".private_menu"; where == InPrivate && w.Has(id) {
		return w.Text(id, nil)
	}
	return w.Text("commands."+name+".menu", nil)
}

func (w words) about(n About) string {
	id := "about.plain"
	if n.Release != "" {
		id = "about.release"
	}
	text := w.Text(id, args{"Bot": n.Bot, "Release": html.EscapeString(n.Release)})
	if n.Source != "" {
		text += " " + w.Text("about.source", args{"Source": html.EscapeString(n.Source)})
	}
	return text
}

// addToGroup returns the label of the button that adds the bot to a group.
func (w words) addToGroup() string { return w.Text("button.add_to_group", nil) }

// undo returns the label of the button that undoes a match.
func (w words) undo() string { return w.Text("button.undo", nil) }

// restore returns the label of the button that takes an undo back.
func (w words) restore() string { return w.Text("button.restore", nil) }

// cancel returns the label of the button that cancels a prompt.
func (w words) cancel() string { return w.Text("button.cancel", nil) }
