package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamesOfLadders checks that a ladder cannot have a name without a letter, with a sign such as
// a colon, or with a word that has another meaning at the beginning of a command. Names of games
// are allowed.
func TestNamesOfLadders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"padel", "chess", "Table tennis", "шахматы", "tischtennis", "3x3", "Mixed 2", "🎱 pool"} {
		if !CanNameLadder(name) {
			t.Errorf("%q is no name", name)
		}
	}
	for _, name := range []string{
		"", "12", "3:1", "3-1", "#4", "@padel", "/padel", "won", "Lost", "draw", "lose", "gewonnen", "gané", "perdeu", "выиграл", "програв", "new", "use", "none",
		"last", "all", "month", "season", "off", "padel won", "vs", "<b>",
	} {
		if CanNameLadder(name) {
			t.Errorf("%q is a name", name)
		}
	}
}

// TestWordsOfLadders checks that FirstWords returns the words that may name a ladder, that
// WithoutWords removes the first of them, and that LadderAfter returns the words after a match
// number.
func TestWordsOfLadders(t *testing.T) {
	t.Parallel()
	bob := Person{Username: "bob"}
	for _, tc := range []struct {
		args         string
		first        string
		without      string
		number       int
		ladder       string
		namesALadder bool
	}{
		{"zork: \uFFFC6:3", "zork", "\uFFFC6:3", 0, "", false},
		{"zork!, 6:3", "zork 6:3", "6:3", 0, "", false},
		{"padel \uFFFC6:3", "padel", "\uFFFC6:3", 0, "padel 6:3", false},
		{"padel\uFFFC 6:3", "padel", "\uFFFC 6:3", 0, "padel 6:3", false},
		{"padel\n\uFFFC 3:1", "padel", "\uFFFC 3:1", 0, "padel 3:1", false},
		{"\uFFFCpadel 6:3", "", "", 0, "", false},
		{"table tennis 3:1", "table tennis", "tennis 3:1", 0, "table tennis 3:1", false},
		{"42 padel", "42 padel", "padel", 42, "padel", true},
		{"#42 table tennis", "#42 table", "table tennis", 42, "table tennis", true},
		{"padel", "padel", "", 0, "padel", true},
		{"0 padel", "0 padel", "padel", 0, "", false},
	} {
		c := Command{Name: NameFix, Args: tc.args}
		for range strings.Count(tc.args, placeholder) {
			c.Mentions = append(c.Mentions, bob)
		}
		if got := c.FirstWords(2); got != tc.first {
			t.Errorf("%q begins with %q, want %q", tc.args, got, tc.first)
		}
		if tc.first == "" {
			continue
		}
		w := c.WithoutWords(1)
		if w.Args != tc.without {
			t.Errorf("%q without its first word is %q", tc.args, w.Args)
		}
		number, name, ok := LadderAfter(c)
		got := fmt.Sprint(number, ok)
		if want := fmt.Sprint(tc.number, tc.namesALadder); got != want || ok && name != tc.ladder {
			t.Errorf("%q: match %d, ladder %q, %t", tc.args, number, name, ok)
		}
	}
}
