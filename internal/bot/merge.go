package bot

import (
	"strings"

	"elobot/internal/outbox"
)

const (
	// maxText is how many characters a message may have. Here they are counted in UTF-16 units, which are never fewer.
	maxText = 4096
	// tailUnits is how many of them the end of a message that tells several may have.
	tailUnits = 256
	// roomToGrow is by how much longer the line of a result may become in a message that is there: when it is corrected,
	// its old score is told too.
	roomToGrow = 48
)

// several is a message that tells several items, while it is being put together.
type several struct {
	lines []string
	units int // of the lines, with the room that they need to grow
	undo  int // the number of the last result that can be taken back
}

// merge puts several items into one message, in a line or two each, and says how many it tells. Those are as many, from
// the first on, as fit into it and need not stand alone. If it has to tell all, because it stands for more than are to be
// named, or because it has told them before, then what is not named in it is counted.
func merge(m outbox.Message, words wording) (out outgoing, told int) {
	all := max(m.Count, len(m.Items))
	mustTellAll := m.Action == outbox.Edit || all > len(m.Items)
	var s several
	for _, item := range m.Items {
		if !s.add(item, m, words) && !mustTellAll {
			all = len(s.lines)
			break
		}
	}
	return outgoing{html: s.text(all, words)}, all
}

// add adds the line of an item, and says whether that was possible.
func (s *several) add(item outbox.Item, m outbox.Message, words wording) bool {
	out, err := render(item, words)
	if err != nil || out.line == "" {
		return false
	}
	line := out.line
	if out.answers && !m.Private {
		line = addressed(item.Addressee, line, words)
	}
	units := utf16Length(plain(line)) + len("\n")
	if out.undo != 0 && m.Action != outbox.Edit {
		units += roomToGrow
	}
	if s.units+units > maxText-tailUnits {
		return false
	}
	s.lines = append(s.lines, line)
	s.units += units
	if out.undo != 0 {
		s.undo = out.undo
	}
	return true
}

// addressed says whom a line is meant for, unless it begins with that name anyway.
func addressed(name, line string, words wording) string {
	if name = cleanName(name); name == "" || strings.HasPrefix(plain(line), plain(showText(name))) {
		return line
	}
	return words.addressed(showText(name), line)
}

// text returns the whole message, which stands for so many items.
func (s *several) text(all int, words wording) string {
	text := strings.Join(s.lines, "\n")
	if more := all - len(s.lines); more > 0 {
		text += "\n" + words.more(more)
	}
	if s.undo != 0 {
		text += "\n\n" + words.amendment(s.undo)
	}
	return text
}
