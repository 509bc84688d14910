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

const (
	// botName is what the chat calls the bot.
	botName = "elobot"
	// nameWidth is the width of the column with the names.
	nameWidth = 8
	// excerptLength is how many characters of a message are quoted.
	excerptLength = 40
)

// transcript prints a chat for people to read.
type transcript struct {
	out      io.Writer
	colour   bool
	typed    bool // people type on a terminal, which already shows their lines
	prompted bool // the terminal shows a prompt and waits for a line
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

// remark prints a note about a line that is not shown, except on a terminal where it was typed.
func (t *transcript) remark(format string, args ...any) {
	t.aside(t.apart()+format, args...)
}

// apart separates what comes from what was printed before, unless that is a line that somebody typed.
func (t *transcript) apart() string {
	if t.typed {
		return ""
	}
	return "\n"
}

func (t *transcript) title(name, about string) {
	rule := strings.Repeat("─", 60)
	t.print("\n" + t.style(name, bold) + t.style(" · "+about, faint) + "\n" + t.style(rule, faint) + "\n")
}

// date prints the day of the messages that follow.
func (t *transcript) date(at time.Time) {
	t.print("\n" + t.style(column("")+"  — "+at.UTC().Format("Monday 2 January")+" —", faint) + "\n")
}

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

// bot prints a message of the bot, or the new text of one, with its buttons.
func (t *transcript) bot(m botsim.Message) {
	name := column(botName)
	if m.Edits > 0 {
		t.print(t.style(name+" ✎ ", green) + t.style("edited its earlier message:", faint) + "\n")
		name = column("")
	}
	text := t.markup(m.HTML)
	if m.Photo != nil {
		text = t.style(fmt.Sprintf("[picture, %d×%d]", m.Photo.Width, m.Photo.Height), faint) + "\n" + text
	}
	for _, l := range strings.Split(text, "\n") {
		t.print(t.style(name, bold, green) + t.style(" │ ", green) + l + "\n")
		name = column("")
	}
	number := 0
	for _, row := range m.Buttons {
		shown := make([]string, len(row))
		for i, b := range row {
			number++
			shown[i] = t.style(fmt.Sprintf("[%d]", number), cyan) + " " + plain(invisible.Replace(b.Text))
		}
		t.print(name + t.style(" │ ", green) + strings.Join(shown, "   ") + "\n")
	}
}

// pressed prints which button of a message was pressed, and what that does for the person who pressed it alone.
func (t *transcript) pressed(who botsim.User, b botsim.Button, m botsim.Message, answer string) {
	pressed := t.apart() + plain(who.FirstName) + " pressed [" + plain(invisible.Replace(b.Text)) + "] below " + excerpt(m)
	switch {
	case answer != "":
		pressed += " · private answer: "
	case b.CopyText.Text != "":
		pressed, answer = pressed+" · copies: ", b.CopyText.Text
	case b.URL != "":
		pressed, answer = pressed+" · opens: ", b.URL
	}
	t.print(t.style(pressed, faint) + plain(invisible.Replace(answer)) + "\n")
}

func excerpt(m botsim.Message) string {
	begin, _, _ := strings.Cut(plain(invisible.Replace(m.Text)), "\n")
	if runes := []rune(begin); len(runes) > excerptLength {
		begin = strings.TrimSpace(string(runes[:excerptLength])) + "…"
	}
	return "“" + begin + "”"
}

// prompt asks for a line of a person who types.
func (t *transcript) prompt(who botsim.User) {
	if t.typed && !t.prompted {
		t.print("\n" + t.style(column(plain(who.FirstName)), bold, cyan) + "  ")
		t.prompted = true
	}
}

// leavePrompt ends the line of a prompt that is not answered.
func (t *transcript) leavePrompt() {
	if t.prompted {
		t.prompted = false
		t.print("\n")
	}
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
func (t *transcript) print(text string) {
	t.leavePrompt()
	_, _ = io.WriteString(t.out, text)
}
