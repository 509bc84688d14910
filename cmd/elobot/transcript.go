package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"elobot/internal/botsim"
)

// The terminal styles of the demo.
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
	typed  bool // the terminal already shows the lines of people
}

func newTranscript(out io.Writer, colour bool) *transcript {
	return &transcript{out: out, colour: colour}
}

// style puts a text into styles, unless the output has none.
func (t *transcript) style(text string, styles ...string) string {
	if !t.colour {
		return text
	}
	return strings.Join(styles, "") + text + plainStyle
}

// aside prints a note that is not part of the chat.
func (t *transcript) aside(format string, args ...any) {
	t.print(t.style(fmt.Sprintf(format, args...), faint) + "\n")
}

// title prints the head of a chat.
func (t *transcript) title(name, about string) {
	rule := strings.Repeat("─", 60)
	t.print("\n" + t.style(name, bold) + t.style(" · "+about, faint) + "\n" + t.style(rule, faint) + "\n")
}

// date prints the day of the messages that follow.
func (t *transcript) date(at time.Time) {
	t.print("\n" + t.style(column("")+"  — "+at.UTC().Format("Monday 2 January")+" —", faint) + "\n")
}

// person prints a message of a person.
func (t *transcript) person(m botsim.Message, repliedTo string) {
	if t.typed {
		return
	}
	text := strings.ReplaceAll(plain(m.Text), "\n", "\n"+column("")+"  ")
	if repliedTo != "" {
		text += t.style("  (in reply to "+repliedTo+")", faint)
	}
	t.print("\n" + t.style(column(m.From.FirstName), bold, cyan) + "  " + text + "\n")
}

// bot prints a message of the bot.
func (t *transcript) bot(m botsim.Message) {
	t.lines("elobot", m)
}

// lines prints a message of the bot after a name.
func (t *transcript) lines(from string, m botsim.Message) {
	name := column(from)
	text := t.markup(m.HTML)
	if m.Photo != nil {
		text = t.style(fmt.Sprintf("[picture, %d×%d]", m.Photo.Width, m.Photo.Height), faint) + "\n" + text
	}
	for _, l := range strings.Split(text, "\n") {
		t.print(t.style(name, bold, green) + t.style(" │ ", green) + l + "\n")
		name = column("")
	}
}

// edited prints the new text of a message of the bot.
func (t *transcript) edited(m botsim.Message) {
	t.print(t.style(column("elobot")+" ✎ ", green) + t.style("edited its earlier message:", faint) + "\n")
	t.lines("", m)
}

// callbackAnswer prints a pressed button and its answer, if it has one, which only the person who pressed it sees.
func (t *transcript) callbackAnswer(who botsim.User, button, text string) {
	pressed := "\n" + plain(who.FirstName) + " pressed [" + plain(button) + "]"
	if text != "" {
		pressed += " · private answer: "
	}
	t.print(t.style(pressed, faint) + plain(invisible.Replace(text)) + "\n")
}

// plain removes control characters from a text, so that messages and names of people cannot control the terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, text)
}

// invisible removes the Unicode marks around names, which few terminals support.
var invisible = strings.NewReplacer("\u2068", "", "\u2069", "", "\u2060", "")

var tag = regexp.MustCompile(`</?(?:b|i|s|code)>`)

// markup renders the few tags of Telegram's HTML that the bot uses.
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

// styleOf returns the terminal style of a tag.
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

// print writes to the terminal. There is nowhere to report an error.
func (t *transcript) print(text string) { _, _ = io.WriteString(t.out, text) }
