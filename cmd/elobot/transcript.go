package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"elobot/internal/botsim"
)

// The colours of a terminal that the demo uses.
const (
	plainStyle = "\x1b[0m"
	bold       = "\x1b[1m"
	faint      = "\x1b[2m"
	italic     = "\x1b[3m"
	struck     = "\x1b[9m"
	cyan       = "\x1b[36m"
	green      = "\x1b[32m"
)

// nameWidth is the width of the column with the names.
const nameWidth = 8

// transcript prints a chat for people to read.
type transcript struct {
	out    io.Writer
	colour bool
	typed  bool // what people say stands on the terminal already
}

func newTranscript(out io.Writer, colour bool) *transcript {
	return &transcript{out: out, colour: colour}
}

// style puts a text into a style, if there are styles.
func (t *transcript) style(text string, styles ...string) string {
	if !t.colour {
		return text
	}
	return strings.Join(styles, "") + text + plainStyle
}

// aside prints a remark that is not part of the chat.
func (t *transcript) aside(format string, args ...any) {
	t.print(t.style(fmt.Sprintf(format, args...), faint) + "\n")
}

// title prints the head of a chat.
func (t *transcript) title(name, about string) {
	rule := strings.Repeat("─", 60)
	t.print("\n" + t.style(name, bold) + t.style(" · "+about, faint) + "\n" + t.style(rule, faint) + "\n")
}

// person prints what a member of the group has said.
func (t *transcript) person(m botsim.Message, repliedTo string) {
	if t.typed {
		return
	}
	text := plain(m.Text)
	if repliedTo != "" {
		text += t.style("  (in reply to "+repliedTo+")", faint)
	}
	t.print("\n" + t.style(column(m.From.FirstName), bold, cyan) + "  " + text + "\n")
}

// bot prints what the bot has said.
func (t *transcript) bot(m botsim.Message) {
	t.lines("elobot", m)
}

// lines prints a message of the bot behind a name.
func (t *transcript) lines(from string, m botsim.Message) {
	name := column(from)
	for _, l := range strings.Split(t.markup(m.HTML), "\n") {
		t.print(t.style(name, bold, green) + t.style(" │ ", green) + l + "\n")
		name = column("")
	}
}

// edited prints how a message of the bot reads now.
func (t *transcript) edited(m botsim.Message) {
	t.print(t.style(column("elobot")+" ✎ ", green) + t.style("its earlier message now reads:", faint) + "\n")
	t.lines("", m)
}

// toast prints what somebody is told alone for having pressed a button.
func (t *transcript) toast(who botsim.User, button, text string) {
	pressed := "\n" + plain(who.FirstName) + " pressed [" + plain(button) + "], and the toast says: "
	t.print(t.style(pressed, faint) + plain(invisible.Replace(text)) + "\n")
}

// plain is a text without what would steer the terminal instead of standing on it: people, and what the bot repeats of
// them, can contain anything.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, text)
}

// invisible are the marks that keep names apart from their surroundings in Telegram and that few terminals know.
var invisible = strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "")

var tag = regexp.MustCompile(`</?(?:b|i|s|code)>`)

// markup shows the few tags of Telegram's HTML that the bot uses.
func (t *transcript) markup(text string) string {
	var shown strings.Builder
	for text != "" {
		at := tag.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		shown.WriteString(plain(html.UnescapeString(invisible.Replace(text[:at[0]]))))
		if t.colour {
			shown.WriteString(styleOf(text[at[0]:at[1]]))
		}
		text = text[at[1]:]
	}
	return shown.String()
}

// styleOf is what a tag looks like on a terminal.
func styleOf(tag string) string {
	switch tag {
	case "<b>":
		return bold
	case "<i>":
		return faint + italic
	case "<s>":
		return faint + struck
	case "<code>":
		return cyan
	case "":
		return ""
	default:
		return plainStyle
	}
}

func column(name string) string {
	return strings.Repeat(" ", max(0, nameWidth-utf8.RuneCountInString(name))) + name
}

// print writes to the terminal. If that fails there is nobody to tell.
func (t *transcript) print(text string) { _, _ = io.WriteString(t.out, text) }
