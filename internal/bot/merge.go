package bot

import (
	"slices"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const (
	// maxText is Telegram's limit for the length of a message, in characters. It is safe to apply
	// the limit to UTF-16 units, because a text never has fewer units than characters.
	maxText = 4096
	// maxListed is the room for a list in a message, in UTF-16 units. The text around the list fits
	// in the rest.
	maxListed = maxText - 256
	// lineGrows is the room, in UTF-16 units, that a message reserves for a result's line to grow
	// when the result is corrected or undone. That is usually enough, in any language, for an edit
	// to list all results that the message listed before.
	lineGrows = 44
)

// several builds a message that covers several items.
type several struct {
	lines      []string
	units      int // the length of the lines in UTF-16 units, with the room to grow
	undo       int // number of the last listed match that can be undone, 0 for none
	unanswered int // how many questions go unanswered
}

// merge renders several items as one message, with a line for each, and returns how many items the
// message covers. A new message ends before the first item that does not fit, must be sent alone or
// cannot be rendered. An edit must cover all items that the message covered before, so it lists as
// many as possible and counts the others.
func merge(m outbox.Message, w words) (out outgoing, covered int) {
	all := len(m.Items)
	var s several
	for _, item := range m.Items {
		if !s.add(item, m, w) && m.Action != outbox.Edit {
			all = len(s.lines)
			break
		}
	}
	return outgoing{html: s.text(all, w)}, all
}

// add adds the line of an item, and reports whether it did. It adds no line if the item cannot be
// rendered, has no line, or does not fit.
func (s *several) add(item outbox.Item, m outbox.Message, w words) bool {
	out, err := render(item, w)
	if err != nil || out.line == "" {
		return false
	}
	line := out.line
	if out.answers && !m.Private {
		line = addressed(addresseeOf(item), line, w)
	}
	undo, grows := out.undoes(), 0
	if undo != 0 && m.Action != outbox.Edit {
		grows = lineGrows
	}
	return s.addLine(line, undo, grows)
}

// addLine adds a line that may later grow by grows UTF-16 units, and reports whether there was
// room. undo is the number of the match in the line if it can be undone, or 0.
func (s *several) addLine(line string, undo, grows int) bool {
	units := utf16Length(plain(line)) + len("\n") + grows
	if s.units+units > maxListed {
		return false
	}
	s.lines = append(s.lines, line)
	s.units += units
	if undo != 0 {
		s.undo = undo
	}
	return true
}

// addresseeOf returns the name of the person to whom an item is addressed, or an empty string if
// there is none.
func addresseeOf(item outbox.Item) string {
	if name, ok := item.Names[item.AddresseeID]; ok {
		return name.Name
	}
	return item.Addressee
}

// addressed puts the addressee's name in front of a line, unless the name is empty or the line
// already begins with it.
func addressed(name, line string, w words) string {
	if name = cleanName(w.called(name)); name == "" || strings.HasPrefix(plain(line), plain(showText(name))) {
		return line
	}
	return w.Text("several.addressed", args{"Name": showText(name), "Line": line})
}

// text returns the whole message, which covers count items.
func (s *several) text(count int, w words) string {
	lines := slices.Clone(s.lines)
	if more := count - len(s.lines); more > 0 {
		lines = append(lines, w.Plural("several.more", more, nil))
	}
	if s.unanswered > 0 {
		lines = append(lines, w.Plural("several.unanswered", s.unanswered, nil))
	}
	text := strings.Join(lines, "\n")
	if s.undo != 0 {
		text += "\n\n" + w.Text("several.undo", args{"Number": s.undo})
	}
	return text
}

var _ = shows(view[ranking.ResultsSummary]{text: words.resultsSummary})

// resultsSummary lists as many results as fit, and counts the others.
func (w words) resultsSummary(n ranking.ResultsSummary) string {
	s := several{unanswered: n.Answers}
	for _, r := range n.Results {
		undo := r.Number
		if r.Undone {
			undo = 0
		}
		if !s.addLine(w.matchLine(r), undo, 0) {
			break
		}
	}
	return s.text(n.Count, w)
}
