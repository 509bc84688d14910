package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"

	"elobot/internal/botsim"
)

// The escape sequences that begin a style on the terminal. plainStyle ends all styles.
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
	// botName is the bot's name in the chat.
	botName = "elobot"
	// nameWidth is the width of the column of names.
	nameWidth = 8
	// excerptLength is the maximum number of characters quoted from a message.
	excerptLength = 40
	// anyWidth exceeds the width of any terminal.
	anyWidth = 1 << 16
)

// transcript prints a chat for people to read.
type transcript struct {
	out   io.Writer
	width func() int // in columns; 0 if unlimited
	color bool
	typed bool // the user types on the terminal, which has already shown the typed lines
}

// newTranscript returns a transcript of unlimited width.
func newTranscript(out io.Writer, color bool) *transcript {
	return &transcript{out: out, width: func() int { return 0 }, color: color}
}

// style applies styles to a text, if the output has color.
func (t *transcript) style(text string, styles ...string) string {
	if !t.color {
		return text
	}
	return strings.Join(styles, "") + text + plainStyle
}

// aside prints a note that is not part of the chat.
func (t *transcript) aside(format string, args ...any) {
	t.print(t.beside("", "", t.style(fmt.Sprintf(format, args...), faint)))
}

// remark prints a note about an input line. On a terminal the note directly follows the typed line;
// otherwise a blank line precedes it.
func (t *transcript) remark(format string, args ...any) {
	t.aside(t.apart()+format, args...)
}

// apart returns the line break that sets a remark apart from the output before it. It returns "" if
// the user types on the terminal, because the remark then directly follows the typed line.
func (t *transcript) apart() string {
	if t.typed {
		return ""
	}
	return "\n"
}

func (t *transcript) title(name, about string) {
	rule := strings.Repeat("─", t.room(0, 60))
	t.print("\n" + t.style(name, bold) + t.style(" · "+about, faint) + "\n" + t.style(rule, faint) + "\n")
}

// date prints the day of at, for the messages that follow.
func (t *transcript) date(at time.Time) {
	t.print("\n" + t.style(column("")+"  — "+at.UTC().Format("Monday 2 January")+" —", faint) + "\n")
}

// room returns how many columns remain beside an indent, but not more than most. On a very narrow
// terminal it still leaves enough columns for a long word.
func (t *transcript) room(indent, most int) int {
	const longWord = 12
	if width := t.width(); width > 0 {
		return min(most, max(longWord, width-indent))
	}
	return most
}

// beside returns a text, wrapped to the transcript's width, with first before its first line and
// others before each further line.
func (t *transcript) beside(first, others, text string) string {
	var all strings.Builder
	indent := max(lipgloss.Width(first), lipgloss.Width(others))
	for line := range strings.SplitSeq(lipgloss.Wrap(text, t.room(indent, anyWidth), ""), "\n") {
		all.WriteString(first + line + "\n")
		first = others
	}
	return all.String()
}

func (t *transcript) person(m botsim.Message, repliedTo string) {
	if t.typed {
		return
	}
	text := plain(m.Text)
	if repliedTo != "" {
		text += t.style("  (in reply to "+repliedTo+")", faint)
	}
	t.print("\n" + t.beside(t.style(column(plain(m.From.FirstName)), bold, cyan)+"  ", continued, text))
}

// continued begins all lines of a person's message except the first.
var continued = column("") + "  "

// bot prints a message of the bot, or an edit of a message, with its buttons. picture describes the
// message's picture; it is empty if there is none.
func (t *transcript) bot(m botsim.Message, picture string) {
	var all strings.Builder
	name, bar := column(botName), t.style(" │ ", green)
	if m.Edits > 0 {
		all.WriteString(t.style(name+" ✎ ", green) + t.style("edited its earlier message:", faint) + "\n")
		name = column("")
	}
	// Leave it to the terminal to wrap these lines, so that a path or a link can be copied.
	for line := range strings.Lines(picture) {
		all.WriteString(t.style(name, bold, green) + bar + t.style(strings.TrimRight(line, "\n"), faint) + "\n")
		name = column("")
	}
	text := t.content(m.HTML, t.room(len(continued)+1, anyWidth))
	all.WriteString(t.beside(t.style(name, bold, green)+bar, column("")+bar, text))
	number := 0
	for _, row := range m.Buttons {
		shown := make([]string, len(row))
		for i, b := range row {
			number++
			label := fmt.Sprintf("[%d] %s", number, plain(invisible.Replace(b.Text)))
			mark, text, _ := strings.Cut(strings.ReplaceAll(label, " ", unbroken), unbroken)
			shown[i] = t.style(mark, cyan) + unbroken + text
		}
		buttons := t.beside(column("")+bar, column("")+bar, strings.Join(shown, "   "))
		all.WriteString(strings.ReplaceAll(buttons, unbroken, " "))
	}
	t.print(all.String())
}

// unbroken is a space at which lines are not wrapped.
const unbroken = "\u00a0"

// list prints terms with their explanations beside them, or below them on a narrow terminal.
func (t *transcript) list(rows [][2]string) {
	const termWidth, littleRoom = 21, 60
	for _, row := range rows {
		first, others := fmt.Sprintf("  %-*s", termWidth, row[0]), strings.Repeat(" ", 2+termWidth)
		if t.room(0, anyWidth) < littleRoom {
			t.aside("  %s", row[0])
			first, others = "    ", "    "
		}
		t.print(t.style(t.beside(first, others, row[1]), faint))
	}
}

// pressed prints which button of a message a person pressed, and what only this person gets: the
// callback answer, a copied text or an opened page.
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
	t.print(t.beside("", "", t.style(pressed, faint)+plain(invisible.Replace(answer))))
}

func excerpt(m botsim.Message) string {
	begin, _, _ := strings.Cut(plain(invisible.Replace(m.Text)), "\n")
	if runes := []rune(begin); len(runes) > excerptLength {
		begin = strings.TrimSpace(string(runes[:excerptLength])) + "…"
	}
	return "“" + begin + "”"
}

// plain removes control characters except line feeds, so that the text cannot control the terminal.
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

// tagStyles maps each tag to the style of the text after it. Each end tag ends all styles.
var tagStyles = map[string]string{
	"<b>": bold, "<i>": faint + italic, "<s>": faint + struck, "<code>": cyan,
	"</b>": plainStyle, "</i>": plainStyle, "</s>": plainStyle, "</code>": plainStyle,
}

// markup renders the few tags of Telegram's HTML that the bot uses.
func (t *transcript) markup(text string) string {
	var shown strings.Builder
	begin := 0
	for _, at := range append(tag.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		shown.WriteString(plain(html.UnescapeString(invisible.Replace(text[begin:at[0]]))))
		if t.color {
			shown.WriteString(tagStyles[text[at[0]:at[1]]])
		}
		begin = at[1]
	}
	return shown.String()
}

func column(name string) string { return fmt.Sprintf("%*s", nameWidth, name) }

// print writes to the output. It ignores errors, because there is nowhere to report them.
func (t *transcript) print(text string) {
	_, _ = io.WriteString(t.out, text)
}
