package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
)

// TestWordsOfLines checks that FirstWords and LaterWords return the words at the beginning of each
// line that may name a ladder, and that WithoutWords removes them.
func TestWordsOfLines(t *testing.T) {
	t.Parallel()
	c := command.Command{
		Name: "match", Args: "padel \uFFFC 6:3\n  Padel tennis \uFFFC 6:4\npadel\n\uFFFC 6:1",
		Mentions: make([]command.Person, 3),
	}
	if diff := cmp.Diff([]string{"padel", "Padel tennis", "padel", ""},
		append([]string{c.FirstWords(4)}, c.LaterWords(4)...)); diff != "" {
		t.Error(diff)
	}
	c = c.WithoutWords(1, 2, 1, 0)
	if diff := cmp.Diff("\uFFFC 6:3\n\uFFFC 6:4\n\n\uFFFC 6:1", c.Args); diff != "" {
		t.Error(diff)
	}
}

// TestWordsBehindARepeatedCommand checks that LaterWords and WithoutWords skip a command that is
// repeated at the beginning of a line. Many people type several results in this way.
func TestWordsBehindARepeatedCommand(t *testing.T) {
	t.Parallel()
	c := command.Command{
		Name: "match", Args: "zork \uFFFC 3:1\n/match chess \uFFFC 2:0\n /Match@elobot  zork \uFFFC 1:0\n" +
			"/match \uFFFC zork 1:0\n/match\n/3 zork\n" +
			"/match zork bob 3:1",
		Mentions: make([]command.Person, 4),
	}
	if diff := cmp.Diff([]string{"chess", "zork", "", "", "/3 zork", "zork bob 3:1"}, c.LaterWords(4)); diff != "" {
		t.Error(diff)
	}
	c = c.WithoutWords(1, 1, 1, 0, 0, 0, 1)
	if diff := cmp.Diff("\uFFFC 3:1\n/match \uFFFC 2:0\n /Match@elobot \uFFFC 1:0\n"+
		"/match \uFFFC zork 1:0\n/match\n/3 zork\n/match bob 3:1", c.Args); diff != "" {
		t.Error(diff)
	}
}
