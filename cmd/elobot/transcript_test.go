package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"elobot/internal/botsim"
)

// TestTranscriptStyles checks that, with colors, tags turn into styles. Without colors, tags are
// removed. In both cases, a message cannot send other escape sequences to the terminal.
func TestTranscriptStyles(t *testing.T) {
	t.Parallel()
	const text = "<b>\u2068Bob\x1b[2J\u2069</b> &lt;b&gt; &#27;[31m &amp;\n" +
		"<i>x</i> <code>/match</code>\u009b5n <s>\u2068Bob\u2069 3:1</s>"
	for _, tc := range []struct {
		color bool
		want  string
	}{
		{false, "  elobot │ Bob[2J <b> [31m &\n         │ x /match5n Bob 3:1\n"},
		{true, bold + green + "  elobot" + plainStyle + green + " │ " + plainStyle + bold + "Bob[2J" + plainStyle + " <b> [31m &\n" +
			"        " + green + " │ " + plainStyle + faint + italic + "x" + plainStyle + " " +
			cyan + "/match" + plainStyle + "5n " + faint + struck + "Bob 3:1" + plainStyle + "\n"},
	} {
		var out strings.Builder
		newTranscript(&out, tc.color).bot(botsim.Message{HTML: text}, "")
		if got := out.String(); got != tc.want {
			t.Errorf("with colors %v:\n%q\nwant\n%q", tc.color, got, tc.want)
		}
	}
}

// TestTranscriptOfButtons checks that edits look different from messages, buttons are numbered
// across all rows, and a callback answer is plain text.
func TestTranscriptOfButtons(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	paper := newTranscript(&out, false)
	undo, link := botsim.Button{Text: "Undo\x1b[2J", CallbackData: "u"},
		botsim.Button{Text: "\u2068Site\u2069", URL: "https://example.org"}
	m := botsim.Message{
		Edits: 1, HTML: "<s>Bob beat Carol 3:1</s>\n<i>undone</i>",
		Text:    "Bob beat Carol 3:1 after a very long evening\nundone",
		Buttons: [][]botsim.Button{{undo, {Text: "Fix"}}, {link}},
	}
	paper.bot(m, "")
	paper.pressed(botsim.User{FirstName: "Bob\x1b[2J"}, undo, m, "\u2068Bob\u2069 <b> &amp; \x1b[31mall")
	paper.pressed(botsim.User{FirstName: "Bob"}, link, botsim.Message{Text: "Hello"}, "")
	const want = "  elobot ✎ edited its earlier message:\n         │ Bob beat Carol 3:1\n         │ undone\n" +
		"         │ [1] Undo[2J   [2] Fix\n         │ [3] Site\n" +
		"\nBob[2J pressed [Undo[2J] below “Bob beat Carol 3:1 after a very long eve…” · private answer: Bob <b> &amp; [31mall\n" +
		"\nBob pressed [Site] below “Hello” · opens: https://example.org\n"
	if got := out.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestTranscriptAtWidths checks that, on a terminal, no line is too wide, no word is cut, and all
// lines of a message start in the column after its sender's name.
func TestTranscriptAtWidths(t *testing.T) {
	t.Parallel()
	m := botsim.Message{
		HTML: "<b>Alice Hart</b> beat <b>Bob</b> 3:1, " +
			"although everybody had expected <i>that she would lose</i> against him 🥇",
		Buttons: [][]botsim.Button{{{Text: "Another game"}, {Text: "Not recorded"}, {Text: "Cancel"}}},
	}
	for width, want := range map[int]string{
		40: `
   Alice  /match @bobby 3:1 is what I
          typed
          /match @carol 3:0
  elobot │ Alice Hart beat Bob 3:1,
         │ although everybody had
         │ expected that she would lose
         │ against him 🥇
         │ [1] Another game
         │ [2] Not recorded   [3] Cancel
`,
		80: `
   Alice  /match @bobby 3:1 is what I typed
          /match @carol 3:0
  elobot │ Alice Hart beat Bob 3:1, although everybody had expected that she
         │ would lose against him 🥇
         │ [1] Another game   [2] Not recorded   [3] Cancel
`,
	} {
		for _, color := range []bool{false, true} {
			var out strings.Builder
			paper := newTranscript(&out, color)
			paper.width = func() int { return width }
			paper.person(botsim.Message{From: botsim.User{FirstName: "Alice"},
				Text: "/match @bobby 3:1 is what I typed\n/match @carol 3:0"}, "")
			paper.bot(m, "")
			if got := ansi.Strip(out.String()); got != want {
				t.Errorf("at %d, colors %v:\n%s", width, color, got)
			}
		}
	}
}

// TestTranscriptOfTables checks that a table is drawn with lines and, if it has one, a header.
// Numbers are right-aligned, and the table fits the width of the terminal.
func TestTranscriptOfTables(t *testing.T) {
	t.Parallel()
	const ranking = "<table bordered striped><caption><b>Ranking</b> · Club &amp; friends</caption>" +
		`<tr><th align="right">#</th><th>Player</th><th align="right">Rating</th><th align="right">W–D–L</th><th>▲▼</th></tr>` +
		`<tr><td align="right">▸ 🥇</td><td><b>Alice</b></td><td align="right">1516</td><td align="right">11–0–3</td><td>▲1</td></tr>` +
		`<tr><td align="right">10</td><td>Bob the very first</td><td align="right">984</td><td align="right">0–1–0</td><td></td></tr></table>` +
		"<footer><i>2 players</i></footer>"
	const twoOnly = "<table bordered striped><caption>Alice</caption>" +
		"<tr><td>Matches</td><td align=\"right\">3</td></tr></table>"
	for _, tc := range []struct {
		width      int
		html, want string
	}{
		{0, ranking, `  elobot │ Ranking · Club & friends
         │ ────┬──────────────────┬──────┬──────┬──
         │    #│Player            │Rating│ W–D–L│▲▼
         │ ────┼──────────────────┼──────┼──────┼──
         │ ▸ 🥇│Alice             │  1516│11–0–3│▲1
         │   10│Bob the very first│   984│ 0–1–0│
         │ ────┴──────────────────┴──────┴──────┴──
         │ 2 players
`},
		{40, ranking, `  elobot │ Ranking · Club & friends
         │ ────┬─────────┬────┬──────┬──
         │    #│Player   │Rat…│ W–D–L│▲▼
         │ ────┼─────────┼────┼──────┼──
         │ ▸ 🥇│Alice    │1516│11–0–3│▲1
         │   10│Bob the  │ 984│ 0–1–0│
         │     │very     │    │      │
         │     │first    │    │      │
         │ ────┴─────────┴────┴──────┴──
         │ 2 players
`},
		{40, twoOnly, `  elobot │ Alice
         │ ───────┬─
         │ Matches│3
         │ ───────┴─
`},
	} {
		var out strings.Builder
		paper := newTranscript(&out, false)
		paper.width = func() int { return tc.width }
		paper.bot(botsim.Message{HTML: tc.html, Rich: true}, "")
		if got := strings.ReplaceAll(out.String(), "│  \n", "│\n"); got != tc.want {
			t.Errorf("at %d:\n%s", tc.width, got)
		}
	}
}

// TestTypedMessages checks that a pasted line or a trailing backslash continues a message, and an
// interrupt does not lose the messages before it.
func TestTypedMessages(t *testing.T) {
	t.Parallel()
	keys := strings.NewReader("/ranking\r" + "\x1b[200~/match @bobby 3:1\r@carol 3:0\x1b[201~\r" +
		"/match\\\r@carol 1:3\r" + "half\x03")
	var shown strings.Builder
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, &shown}, "")
	next := func(prompt string) (string, bool, error) { return typedLine(terminal, prompt) }
	for _, want := range []string{"/ranking", "/match @bobby 3:1\n@carol 3:0", "/match\n@carol 1:3"} {
		if got, err := readMessage(next, "   Alice  "); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if got, err := readMessage(next, ""); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if want := "   Alice  /match\\\r\n          @carol 1:3\r\n"; !strings.Contains(shown.String(), want) {
		t.Errorf("%q\nwant\n%q", shown.String(), want)
	}
}

// TestNothingToAnswer checks that, as long as there is no button to press and no message to reply
// to, pressing and replying print a remark and lead to no update.
func TestNothingToAnswer(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	var out strings.Builder
	s := newDemoGroup(sim, new(demoClock), newTranscript(&out, false))
	defer s.leave()
	for _, text := range []string{"1", " alice : 2 ", "reply hi", "alice: reply to bob: hi"} {
		if err := s.do(t.Context(), parseInput(text)); err != nil {
			t.Error(err)
		}
	}
	if got := out.String(); strings.Count(got, "no button to press") != 2 || strings.Count(got, "no message of") != 2 ||
		sim.Pending() != 0 || len(s.group.Messages()) != 0 {
		t.Errorf("%d updates are pending, there are %d messages, and the demo prints\n%s",
			sim.Pending(), len(s.group.Messages()), got)
	}
}
