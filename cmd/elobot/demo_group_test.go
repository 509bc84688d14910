package main

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

var update = flag.Bool("update", false, "update the golden files")

// talk is a stage after the scene, with its output.
type talk struct {
	t   *testing.T
	s   *demoGroup
	out *strings.Builder
}

// says sends the lines, as if they came from a file, and returns the output.
func (k talk) says(lines ...string) string {
	k.t.Helper()
	k.out.Reset()
	if err := k.s.converse(k.t.Context(), strings.NewReader(strings.Join(lines, "\n")), false); err != nil {
		k.t.Error(err)
	}
	return k.out.String()
}

// inOrder checks that a text contains the parts in this order.
func (k talk) inOrder(text string, parts ...string) {
	k.t.Helper()
	rest := text
	for _, want := range parts {
		_, after, found := strings.Cut(rest, want)
		if !found {
			k.t.Fatalf("%q is missing or out of order:\n%s", want, text)
		}
		rest = after
	}
}

// TestDemoGroup plays the scene, compares it with the golden file, and chats with the bot afterwards.
func TestDemoGroup(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	k := talk{t, newDemoGroup(botsim.Start(t), newTranscript(&out, false)), &out}
	defer k.s.leave()
	if err := k.s.startBot(t.Context(), pgtest.New(t)); err != nil {
		t.Fatal(err)
	}
	if err := k.s.play(t.Context(), scene); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/scene.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || out.String() != string(want) {
		t.Errorf("the scene differs from %s, %v:\n%s", file, err, out.String())
	}
	k.presses()
	k.alternates()
	k.takesAnything()
	if err := k.s.converse(t.Context(), strings.NewReader(strings.Repeat("x", 2<<20)), false); err == nil ||
		!strings.Contains(err.Error(), "read input") {
		t.Errorf("input that cannot be read ends with %v", err)
	}
	if err := k.s.close(t.Context()); err != nil {
		t.Error(err)
	}
}

// presses: anybody can press the button of the last card, and sees the answer. If that restores or undoes the match, the card is
// edited, and the next press is for its new button.
func (k talk) presses() {
	k.t.Helper()
	k.inOrder(k.says("press", "alice: Press", "carol: press", "/ranking"),
		"Now you.", "You pressed [Restore]", "Only the person who undid match #11",
		"Alice pressed [Restore]", "Match #11 restored", "restored by Alice", "edited its earlier message:", "Dave beat Carol 3:0",
		"Carol pressed [Undo]", "Match #11 undone", "undone by Carol", "edited its earlier message:", "Match #11 · undone by Carol",
		"You  /ranking", "4 players")
}

// alternates: each answer follows its command even when all commands come at once, and commands that the bot ignores do not
// block the others.
func (k talk) alternates() {
	k.t.Helper()
	k.inOrder(k.says("zoe: /match @alice 3:2", "/match@other_bot @bob 3:0", "zoe: /unknown", "", "yan: /match @bob 3:0", "no command", "  /ranking", "zoe : /match"),
		"/match @alice 3:2", "Zoe beat Alice 3:2", "new player: Zoe", "/match@other_bot", "/unknown", "/match @bob 3:0", "Yan beat Bob 3:0",
		"You  no command", "/ranking", "6 players", "Zoe  /match", "Who did you play?")
}

// takesAnything: messages that are too long are refused, and no message can control the terminal.
func (k talk) takesAnything() {
	k.t.Helper()
	longest, emoji := strings.Repeat("x", 4096), strings.Repeat("\U0001f3d3", 2049)
	shown := k.says(longest, longest+"y", emoji, strings.Repeat("z", 900_000), "3:1", "7: eleven",
		"zoe: \x1b[31mred\x1b]0;title\a \u009b2Jcleared \x9b \x7f\b", "zoe: the end", "/help")
	for want, times := range map[string]int{
		longest: 1, longest + "y": 0, emoji: 0, "zzz": 0, "does not accept messages of more than 4096": 3,
		"You  3:1": 1, "You  7: eleven": 1, "Zoe  [31mred]0;title 2Jcleared \ufffd": 1, "Zoe  the end": 1,
	} {
		if got := strings.Count(shown, want); got != times {
			k.t.Errorf("the conversation shows %.30q %d times, want %d", want, got, times)
		}
	}
	if i := strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		k.t.Errorf("a control character reaches the terminal: %q", shown[max(0, i-20):i+5])
	}
}
