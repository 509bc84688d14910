package bot

import (
	"slices"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const (
	// maxText is Telegram's limit for a message in characters. The code counts UTF-16 units, which are never fewer.
	maxText = 4096
	// numbersGrow is by how much the numbers in the line of a result may grow: the score and the ratings.
	numbersGrow = 20
	// largest is a larger number than any in a message.
	largest = 999_999_999
)

// several builds a message that covers several items.
type several struct {
	lines []string
	units int // of the lines, with the room that they need to grow
	grow  int // how much room the line of a result needs to grow
	tail  int // how much room the end of the message needs
	undo  int // number of the last match that can be undone
	// unanswered is how many questions get no answer
	unanswered int
}

// merge renders several items as one message, with a line or two each, and returns how many items it covers: as many, from the first on, as
// fit and need not stand alone. It must cover all items if it edits a message that covers them already. Then it only counts the items that
// do not fit.
func merge(m outbox.Message, w words) (out outgoing, covered int) {
	all := len(m.Items)
	s := several{grow: w.roomToGrow(), tail: w.roomForTail()}
	for _, item := range m.Items {
		if !s.add(item, m, w) && m.Action != outbox.Edit {
			all = len(s.lines)
			break
		}
	}
	return outgoing{html: s.text(all, w)}, all
}

// add adds the line of an item, and says whether that was possible.
func (s *several) add(item outbox.Item, m outbox.Message, w words) bool {
	out, err := render(item, w)
	if err != nil || out.line == "" {
		return false
	}
	line := out.line
	if out.answers && !m.Private {
		line = addressed(addresseeOf(item), line, w)
	}
	undo, grow := out.undoes(), 0
	if undo != 0 && m.Action != outbox.Edit {
		grow = s.grow
	}
	return s.addLine(line, undo, grow)
}

// addLine adds a line, which may grow by so much later and can be undone if undo is not 0, and says whether there was room.
func (s *several) addLine(line string, undo, grow int) bool {
	units := utf16Length(plain(line)) + len("\n") + grow
	if s.units+units > maxText-s.tail {
		return false
	}
	s.lines = append(s.lines, line)
	s.units += units
	if undo != 0 {
		s.undo = undo
	}
	return true
}

// roomToGrow returns by how much the line of a result may grow in a sent message: after a fix it also shows the old score, and another side
// may have won.
func (w words) roomToGrow() int {
	length := func(id string, with args) int { return utf16Length(plain(w.Text(id, with))) }
	var outcomes []int
	longest := 0 // of the old scores
	for _, outcome := range []string{"won", "drew", "lost"} {
		outcomes = append(outcomes, length("outcome."+outcome+"_line", args{"A": "", "B": "", "Score": ""}),
			length("outcome."+outcome+"_only", args{"A": "", "B": ""}))
		longest = max(longest, length("score."+outcome, nil))
	}
	old := strings.Repeat("9", max(longest, len("999:999")))
	remark := max(length("note.sets_corrected", nil), length("note.score_added", nil), length("note.corrected_from", args{"Score": old}))
	return len(" · ") + remark + slices.Max(outcomes) - slices.Min(outcomes) + numbersGrow
}

// roomForTail returns how much room the end of a message needs, which counts the rest and says how to undo a match.
func (w words) roomForTail() int {
	end := several{undo: largest}
	return utf16Length(plain(end.text(largest, w)))
}

// addresseeOf returns the name of the person that an item answers, empty if there is none.
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
	return w.Text("several.addressed", args{"Name": showText(name), "Line": line})
}

// text returns the whole message, which covers count items.
func (s *several) text(count int, w words) string {
	lines := slices.Clone(s.lines)
	if more := count - len(s.lines); more > 0 {
		lines = append(lines, w.Plural("several.more", more, nil))
	}
	if s.unanswered > 0 {
		lines = append(lines, w.unanswered(s.unanswered))
	}
	text := strings.Join(lines, "\n")
	if s.undo != 0 {
		text += "\n\n" + w.Text("several.undo", args{"Number": s.undo})
	}
	return text
}

// unanswered says that so many questions got no answer.
func (w words) unanswered(count int) string { return w.Plural("several.unanswered", count, nil) }

var _ = shows(view[ranking.ResultsSummary]{text: words.resultsSummary})

// resultsSummary lists as many results as fit, and counts the others.
func (w words) resultsSummary(n ranking.ResultsSummary) string {
	s := several{tail: w.roomForTail() + len("\n") + utf16Length(plain(w.unanswered(largest))), unanswered: n.Answers}
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
