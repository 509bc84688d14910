package main

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestTranscriptStyles: on a terminal, tags become styles, and nothing else does.
func TestTranscriptStyles(t *testing.T) {
	t.Parallel()
	const text = "<b>\u2068Bob\x1b[2J\u2069</b> &lt;b&gt; &#27;[31m &amp;\n<i>x</i> <code>/match</code>\u009b5n <s>\u2068Bob\u2069 3:1</s>"
	for _, tc := range []struct {
		colour bool
		want   string
	}{
		{false, "  elobot │ Bob[2J <b> [31m &\n         │ x /match5n Bob 3:1\n"},
		{true, bold + green + "  elobot" + plainStyle + green + " │ " + plainStyle + bold + "Bob[2J" + plainStyle + " <b> [31m &\n" +
			bold + green + "        " + plainStyle + green + " │ " + plainStyle + faint + italic + "x" + plainStyle + " " +
			cyan + "/match" + plainStyle + "5n " + faint + struck + "Bob 3:1" + plainStyle + "\n"},
	} {
		var out strings.Builder
		newTranscript(&out, tc.colour).bot(botsim.Message{HTML: text})
		if got := out.String(); got != tc.want {
			t.Errorf("with colours %v:\n%q\nwant\n%q", tc.colour, got, tc.want)
		}
	}
}

// TestTranscriptOfButtons: an edit looks different from a message, the buttons are numbered over all rows, and a callback answer is plain
// text.
func TestTranscriptOfButtons(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	paper := newTranscript(&out, false)
	undo, link := botsim.Button{Text: "Undo\x1b[2J", CallbackData: "u"}, botsim.Button{Text: "\u2068Site\u2069", URL: "https://example.org"}
	m := botsim.Message{
		Edits: 1, HTML: "<s>Bob beat Carol 3:1</s>\n<i>undone</i>", Text: "Bob beat Carol 3:1 after a very long evening\nundone",
		Buttons: [][]botsim.Button{{undo, {Text: "Fix"}}, {link}},
	}
	paper.bot(m)
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

// TestTranscriptOnATerminal: there is one prompt for each line. What comes before the line is entered does not stand behind the prompt, and
// what answers it follows directly.
func TestTranscriptOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	paper, you := newTranscript(&out, false), botsim.User{FirstName: "You"}
	paper.typed = true
	paper.prompt(you)
	paper.prompt(you)
	paper.bot(botsim.Message{HTML: "nobody answered"})
	paper.prompt(you)
	out.WriteString("as bob\n") // is what the terminal shows
	paper.prompted = false
	paper.remark("You write as %s.", "Bob")
	paper.prompt(botsim.User{FirstName: "Bob"})
	paper.leavePrompt()
	const want = "\n     You  \n  elobot │ nobody answered\n\n     You  as bob\nYou write as Bob.\n\n     Bob  \n"
	if got := out.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestNothingToAnswer: a press without any button and a reply without any message print a remark, and the bot gets no update.
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
	if got := out.String(); strings.Count(got, "no button to press") != 2 || strings.Count(got, "no message of") != 2 || sim.Pending() != 0 || len(s.group.Messages()) != 0 {
		t.Errorf("%d updates are pending, there are %d messages, and the demo prints\n%s", sim.Pending(), len(s.group.Messages()), got)
	}
}
