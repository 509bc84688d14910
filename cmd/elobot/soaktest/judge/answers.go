package judge

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// delivery is the answer to one command in one message.
type delivery struct {
	command *Command
	refused bool
	text    string // of the message, or of its line with the answer
	at      time.Time
}

// statement is the meaning of a message with one answer, or of a line of a message with several.
type statement struct {
	kind   kind
	number int // of the match
}

type kind int

const (
	nothing    kind = iota // an empty line, or the line about how to undo a match
	card                   // the match is recorded
	undone                 // the match is undone
	refused                // a command was not done
	unexpected             // anything else
)

var (
	cardForm   = regexp.MustCompile(`(?m)^Match #(\d+)( · .*)?$`)
	lineForm   = regexp.MustCompile(`^#(\d+) · `)
	undoneForm = regexp.MustCompile(`\bMatch #(\d+) (undone|is already undone)\b`)
	notDone    = regexp.MustCompile(`\bnot (done|recorded)\b`)
	endForm    = regexp.MustCompile(`^Undo a match: `)
	// marks removes the invisible characters around names.
	marks = strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "")
)

// read returns the meaning of a message with one answer.
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

// readLine returns the meaning of a line of a message with several answers.
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

// readAnswers finds the commands that each message answers.
func (t *trial) readAnswers() {
	for _, message := range t.Messages {
		text := marks.Replace(message.Text)
		if message.ReplyTo != 0 {
			t.readOne(message, text)
		} else {
			t.readSeveral(message, text)
		}
	}
}

// readOne reads a message that answers one command.
func (t *trial) readOne(message Message, text string) {
	c := t.commands[messageID{message.Chat, message.ReplyTo}]
	s := read(text)
	if c == nil {
		t.violated(Understood, "message %d of chat %d answers message %d, which is not a command: %.80q",
			message.ID, message.Chat, message.ReplyTo, text)
		return
	}
	switch s.kind {
	case card, undone:
		if about := t.about(message.Chat, s); about != c {
			t.violated(Faithful, "%s got the answer to another command: %.80q", c, text)
			return
		}
	case refused:
	default:
		t.violated(Understood, "%s got an unknown answer: %.80q", c, text)
		return
	}
	t.delivered(message, delivery{command: c, refused: s.kind == refused, text: text})
}

// readSeveral reads a message that is not a reply and may answer several commands. A line with a
// refusal does not name its command. Which commands were refused follows from the stored notices.
func (t *trial) readSeveral(message Message, text string) {
	var lines []delivery
	var named []*Command
	for line := range strings.Lines(text) {
		switch s := readLine(strings.TrimSuffix(line, "\n")); s.kind {
		case nothing:
		case refused:
			lines = append(lines, delivery{refused: true, text: line})
		case card, undone:
			c := t.about(message.Chat, s)
			if c == nil {
				t.violated(Faithful, "message %d of chat %d is about match #%d, which does not exist",
					message.ID, message.Chat, s.number)
				continue
			}
			lines, named = append(lines, delivery{command: c, text: line}), append(named, c)
		default:
			t.violated(Understood, "message %d of chat %d has an unknown line: %.80q", message.ID, message.Chat, line)
		}
	}
	refusals := len(lines) - len(named)
	others := t.refusedIn(message, named)
	if len(others) < refusals {
		t.violated(Understood, "message %d of chat %d refuses %d commands, but %d notices are stored as refusals in it",
			message.ID, message.Chat, refusals, len(others))
		return
	}
	for _, line := range lines {
		if line.refused {
			line.command, others = others[0], others[1:]
		}
		t.delivered(message, line)
	}
}

// refusedIn returns the commands whose notices are stored with the id of the message but whose
// effects are not stored. They are in the order of their notices. If the message has several
// copies, the bot stores the id of only one copy, and that copy may also answer later commands. To
// find that copy, refusedIn uses named: the commands that the message answers as done.
func (t *trial) refusedIn(message Message, named []*Command) []*Command {
	stored := messageID{message.Chat, message.ID}
	if len(t.inMessage[stored]) == 0 {
		stored.id = t.storedCopy(message, named)
	}
	var refused []*Command
	for _, n := range t.inMessage[stored] {
		if c := t.keys[n.Key]; c != nil && !t.isStored(c) {
			refused = append(refused, c)
		}
	}
	return refused
}

// isStored reports whether the effect of a command is stored.
func (t *trial) isStored(c *Command) bool {
	if c.Undo != 0 {
		return t.byNumber[matchID{c.Chat, c.Undo}].Undone
	}
	return len(t.byKey[c.Key()]) > 0
}

// storedCopy returns the id under which the bot has stored a message with several copies: the id in
// the notice of the first named command or, without one, the id of a copy with the same text under
// which notices are stored. If it finds none, it returns the message's own id.
func (t *trial) storedCopy(message Message, named []*Command) int {
	if len(named) > 0 {
		for _, n := range t.notices[named[0].Key()] {
			return n.Message
		}
	}
	for _, other := range t.Messages {
		if other.Chat == message.Chat && other.Text == message.Text && len(t.inMessage[messageID{other.Chat, other.ID}]) > 0 {
			return other.ID
		}
	}
	return message.ID
}

// about returns the command that a statement answers, or nil if there is none.
func (t *trial) about(chat int64, s statement) *Command {
	at := matchID{chat, s.number}
	if s.kind == undone {
		return t.undos[at]
	}
	return t.keys[t.byNumber[at].Key]
}

func (t *trial) delivered(message Message, d delivery) {
	d.at = message.At
	if len(t.deliveries[d.command]) == 0 {
		t.first[message.Chat] = append(t.first[message.Chat], d)
	}
	t.deliveries[d.command] = append(t.deliveries[d.command], d)
}
