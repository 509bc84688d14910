package judge

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// telling is one command's answer in one message.
type telling struct {
	command *Command
	refused bool
	at      time.Time
}

// statement is what a text, or a line of one that tells several, says.
type statement struct {
	kind   kind
	number int // of the match
}

type kind int

const (
	nothing    kind = iota // the end of a message that tells several
	card                   // the match is recorded
	undone                 // the match is undone
	refused                // something was not done
	unexpected             // anything else
)

var (
	cardForm   = regexp.MustCompile(`(?m)^Match #(\d+)( · .*)?$`)
	lineForm   = regexp.MustCompile(`^#(\d+) · `)
	undoneForm = regexp.MustCompile(`\bMatch #(\d+) (undone|is already undone)\b`)
	notDone    = regexp.MustCompile(`\bnot (done|recorded)\b`)
	endForm    = regexp.MustCompile(`^Undo a match: `)
	// marks keep names apart from what surrounds them, and nobody sees them.
	marks = strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "")
)

// read tells what a message that answers one command says.
func read(text string) statement {
	if found := undoneForm.FindStringSubmatch(text); found != nil {
		return numbered(undone, found[1])
	}
	if found := cardForm.FindStringSubmatch(text); found != nil {
		return numbered(card, found[1])
	}
	if notDone.MatchString(text) {
		return statement{kind: refused}
	}
	return statement{kind: unexpected}
}

// readLine is read for a line of a message that tells several.
func readLine(line string) statement {
	if found := lineForm.FindStringSubmatch(line); found != nil {
		return numbered(card, found[1])
	}
	if strings.TrimSpace(line) == "" || endForm.MatchString(line) {
		return statement{kind: nothing}
	}
	return read(line)
}

func numbered(k kind, number string) statement {
	n, err := strconv.Atoi(number)
	if err != nil {
		return statement{kind: unexpected}
	}
	return statement{k, n}
}

// readAnswers finds out which commands each message answers.
func (t *trial) readAnswers() {
	for _, said := range t.Said {
		text := marks.Replace(said.Text)
		if said.ReplyTo != 0 {
			t.readOne(said, text)
		} else {
			t.readSeveral(said, text)
		}
	}
}

// readOne takes in a message that answers one command.
func (t *trial) readOne(said Said, text string) {
	c := t.commands[messageID{said.Chat, said.ReplyTo}]
	s := read(text)
	if c == nil {
		t.violated(Understood, "message %d of chat %d answers message %d, which is no command: %.80q", said.ID, said.Chat, said.ReplyTo, text)
		return
	}
	switch s.kind {
	case card, undone:
		if about := t.about(said.Chat, s); about != c {
			t.violated(Faithful, "%s was answered as if it were another one: %.80q", c, text)
			return
		}
	case refused:
	default:
		t.violated(Understood, "%s was answered in unknown words: %.80q", c, text)
		return
	}
	t.told(said, c, s.kind == refused)
}

// readSeveral takes in a message that answers several commands. A line that refuses does not name its command: the answers
// that were written down with the id of this message say which commands were refused.
func (t *trial) readSeveral(said Said, text string) {
	var lines []telling
	var named []*Command
	for line := range strings.Lines(text) {
		switch s := readLine(strings.TrimSuffix(line, "\n")); s.kind {
		case nothing:
		case refused:
			lines = append(lines, telling{refused: true})
		case card, undone:
			c := t.about(said.Chat, s)
			if c == nil {
				t.violated(Faithful, "message %d of chat %d tells of #%d, which is not there", said.ID, said.Chat, s.number)
				continue
			}
			lines, named = append(lines, telling{command: c}), append(named, c)
		default:
			t.violated(Understood, "message %d of chat %d has a line in unknown words: %.80q", said.ID, said.Chat, line)
		}
	}
	refusals := len(lines) - len(named)
	others := t.refusedIn(said, named)
	if len(others) < refusals {
		t.violated(Understood, "message %d of chat %d refuses %d commands, and %d answers were written down as that",
			said.ID, said.Chat, refusals, len(others))
		return
	}
	for _, line := range lines {
		c := line.command
		if line.refused {
			c, others = others[0], others[1:]
		}
		t.told(said, c, line.refused)
	}
}

// refusedIn returns the commands that were not done and whose answers were written down as a message, in that order. Of
// several copies of a message the bot writes down one, which may answer later commands as well.
func (t *trial) refusedIn(said Said, named []*Command) []*Command {
	written := messageID{said.Chat, said.ID}
	if len(t.inMessage[written]) == 0 {
		written.id = t.writtenCopy(said, named)
	}
	var refused []*Command
	for _, n := range t.inMessage[written] {
		if c := t.keys[n.Key]; c != nil && !t.isStored(c) {
			refused = append(refused, c)
		}
	}
	return refused
}

// isStored tells whether what a command asks for is there.
func (t *trial) isStored(c *Command) bool {
	if c.Undo != 0 {
		return t.byNumber[matchID{c.Chat, c.Undo}].Undone
	}
	return len(t.byKey[c.Key()]) > 0
}

// writtenCopy returns the id of the copy of a message that the bot has written down: the one that names the same, or that
// reads the same.
func (t *trial) writtenCopy(said Said, named []*Command) int {
	if len(named) > 0 {
		for _, n := range t.notices[named[0].Key()] {
			return n.Message
		}
	}
	for _, other := range t.Said {
		if other.Chat == said.Chat && other.Text == said.Text && len(t.inMessage[messageID{other.Chat, other.ID}]) > 0 {
			return other.ID
		}
	}
	return said.ID
}

// about returns the command that a statement is the answer to.
func (t *trial) about(chat int64, s statement) *Command {
	at := matchID{chat, s.number}
	if s.kind == undone {
		return t.undos[at]
	}
	return t.keys[t.byNumber[at].Key]
}

func (t *trial) told(said Said, c *Command, refused bool) {
	this := telling{c, refused, said.At}
	if len(t.tellings[c]) == 0 {
		t.first[said.Chat] = append(t.first[said.Chat], this)
	}
	t.tellings[c] = append(t.tellings[c], this)
}
