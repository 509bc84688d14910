package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
)

// TestWordsOfLines: the name of a ladder may stand in front of each line.
func TestWordsOfLines(t *testing.T) {
	t.Parallel()
	c := command.Command{
		Name: "match", Args: "padel   6:3\n  Padel tennis   6:4\npadel\n  6:1", // each mention is a space
		Mentions: make([]command.Person, 3), MentionOffsets: []int{6, 27, 40},
	}
	if diff := cmp.Diff([]string{"padel", "Padel tennis", "padel", ""}, append([]string{c.FirstWords(4)}, c.LaterWords(4)...)); diff != "" {
		t.Error(diff)
	}
	c = c.WithoutWords(1, 2, 1, 0)
	if diff := cmp.Diff("6:3\n6:4\n\n  6:1", c.Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 4, 10}, c.MentionOffsets); diff != "" {
		t.Error(diff)
	}
}

// TestWordsBehindARepeatedCommand: many write the command in front of each line.
func TestWordsBehindARepeatedCommand(t *testing.T) {
	t.Parallel()
	c := command.Command{
		Name: "match", Args: "zork   3:1\n/match chess   2:0\n /Match@elobot  zork   1:0\n/match   zork 1:0\n/match\n/3 zork\n/match zork bob 3:1", // each mention is a space
		Mentions: make([]command.Person, 4), MentionOffsets: []int{5, 24, 51, 64},
	}
	if diff := cmp.Diff([]string{"chess", "zork", "", "", "/3 zork", "zork bob 3:1"}, c.LaterWords(4)); diff != "" {
		t.Error(diff)
	}
	c = c.WithoutWords(1, 1, 1, 0, 0, 0, 1)
	if diff := cmp.Diff("3:1\n/match 2:0\n /Match@elobot 1:0\n/match   zork 1:0\n/match\n/3 zork\n/match bob 3:1", c.Args); diff != "" {
		t.Error(diff)
	}
}
