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

// TestTranscriptOfAmending: an edit looks different from a message, and a callback answer is plain text.
func TestTranscriptOfAmending(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	paper := newTranscript(&out, false)
	paper.edited(botsim.Message{HTML: "<s>Bob beat Carol</s>\n<i>undone</i>"})
	paper.callbackAnswer(botsim.User{FirstName: "Bob\x1b[2J"}, "Undo", "\u2068Bob\u2069 <b> &amp; \x1b[31mall")
	const want = "  elobot ✎ edited its earlier message:\n         │ Bob beat Carol\n         │ undone\n" +
		"\nBob[2J pressed [Undo] · private answer: Bob <b> &amp; [31mall\n"
	if got := out.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestPressWithoutAButton: a press without any button prints a note, and the bot gets no update.
func TestPressWithoutAButton(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	var out strings.Builder
	s := newDemoGroup(sim, new(demoClock), newTranscript(&out, false))
	defer s.leave()
	for _, text := range []string{"press", " alice : PRESS "} {
		if err := s.handleLine(t.Context(), text); err != nil {
			t.Error(err)
		}
	}
	if got := out.String(); strings.Count(got, "no button to press") != 2 || sim.Pending() != 0 || len(s.group.Messages()) != 0 {
		t.Errorf("%d updates are pending, there are %d messages, and the demo prints\n%s", sim.Pending(), len(s.group.Messages()), got)
	}
}
