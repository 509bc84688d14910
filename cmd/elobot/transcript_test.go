package main

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestTranscriptStyles: on a terminal the tags become styles, and only they do.
func TestTranscriptStyles(t *testing.T) {
	t.Parallel()
	const said = "<b>\u2068Bob\x1b[2J\u2069</b> &lt;b&gt; &#27;[31m &amp;\n<i>x</i> <code>/match</code>\u009b5n"
	for _, tc := range []struct {
		colour bool
		want   string
	}{
		{false, "  elobot │ Bob[2J <b> [31m &\n         │ x /match5n\n"},
		{true, bold + green + "  elobot" + plainStyle + green + " │ " + plainStyle + bold + "Bob[2J" + plainStyle + " <b> [31m &\n" +
			bold + green + "        " + plainStyle + green + " │ " + plainStyle + faint + italic + "x" + plainStyle + " " +
			cyan + "/match" + plainStyle + "5n\n"},
	} {
		var out strings.Builder
		newTranscript(&out, tc.colour).bot(botsim.Message{HTML: said})
		if got := out.String(); got != tc.want {
			t.Errorf("with colours %v:\n%q\nwant\n%q", tc.colour, got, tc.want)
		}
	}
}
