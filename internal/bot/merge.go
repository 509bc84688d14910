package bot

import (
	"strings"

	"elobot/internal/outbox"
)

const (
	// maxText is Telegram's limit for a message in characters. The code counts UTF-16 units, which are never fewer.
	maxText = 4096
	// tailUnits is the room reserved for the end of a merged message.
	tailUnits = 256
	// roomToGrow is by how much the line of a result may grow in a sent message: after a fix it also shows the old score.
	roomToGrow = 48
)

// several builds a message that covers several items.
type several struct {
	lines []string
	units int // of the lines, with the room that they need to grow
	undo  int // number of the last match that can be undone
}

// merge renders several items as one message, with a line or two each, and returns how many items it covers: as many, from
// the first on, as fit and need not stand alone. It must cover all items if there are more than m.Items holds, or if it edits a
// message that covers them already. Then it only counts the items that do not fit.
func merge(m outbox.Message, w words) (out outgoing, covered int) {
	all := max(m.Count, len(m.Items))
	coversAll := m.Action == outbox.Edit || all > len(m.Items)
	var s several
	for _, item := range m.Items {
		if !s.add(item, m, w) && !coversAll {
			all = len(s.lines)
			break
		}
	}
	return outgoing{html: s.text(all, w)}, all
}

// add adds the line of an item, and reports whether that was possible.
func (s *several) add(item outbox.Item, m outbox.Message, w words) bool {
	out, err := render(item, w)
	if err != nil || out.line == "" {
		return false
	}
	line := out.line
	if out.answers && !m.Private {
		line = addressed(addresseeOf(item), line, w)
	}
	units := utf16Length(plain(line)) + len("\n")
	undo := out.undoes()
	if undo != 0 && m.Action != outbox.Edit {
		units += roomToGrow
	}
	if s.units+units > maxText-tailUnits {
		return false
	}
	s.lines = append(s.lines, line)
	s.units += units
	if undo != 0 {
		s.undo = undo
	}
	return true
}

// addresseeOf returns the name of the person whom an item answers, empty if there is none.
func addresseeOf(item outbox.Item) string {
	if name, ok := item.Names[item.AddresseeID]; ok {
		return name.Name
	}
	return item.Addressee
}

// addressed puts the addressee's name in front of a line, unless the line begins with it anyway.
func addressed(name, line string, w words) string {
	if name = cleanName(name); name == "" || strings.HasPrefix(plain(line), plain(showText(name))) {
		return line
	}
	return w.addressed(showText(name), line)
}

// text returns the whole message, which covers count items.
func (s *several) text(count int, w words) string {
	text := strings.Join(s.lines, "\n")
	if more := count - len(s.lines); more > 0 {
		text += "\n" + w.more(more)
	}
	if s.undo != 0 {
		text += "\n\n" + w.amendment(s.undo)
	}
	return text
}
