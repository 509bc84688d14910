package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
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

// dates are dates of the scene.
var dates = regexp.MustCompile(`((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December)( \d{4})?`)

// WithoutDates replaces the dates in a text, which depend on when the scene is played.
func WithoutDates(text string) string { return dates.ReplaceAllString(text, "DATE") }

// playedScene starts the bot and plays the scene, which ends at a time.
func playedScene(t *testing.T, end time.Time) talk {
	t.Helper()
	var out strings.Builder
	clock := &demoClock{ahead: time.Until(end)}
	k := talk{t, newDemoGroup(botsim.Start(t, botsim.WithClock(clock.now)), clock, newTranscript(&out, false)), &out}
	t.Cleanup(k.s.leave)
	if err := k.s.startBot(t.Context(), pgtest.New(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.s.endBot() })
	if err := k.s.play(t.Context(), scene); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/scene.txt"
	shown := WithoutDates(out.String())
	if *update {
		if err := os.WriteFile(file, []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || shown != string(want) {
		t.Errorf("the scene differs from %s, %v:\n%s", file, err, shown)
	}
	return k
}

// TestSceneAtAnyTime: the scene is the same but for its dates when a leap day ends while it is played, and right after a year has begun.
func TestSceneAtAnyTime(t *testing.T) {
	t.Parallel()
	for _, end := range []time.Time{
		time.Date(2028, time.February, 29, 23, 59, 58, 0, time.UTC),
		time.Date(2027, time.January, 1, 0, 0, 1, 0, time.UTC),
	} {
		t.Run(end.Format(time.DateOnly), func(t *testing.T) {
			t.Parallel()
			k := playedScene(t, end)
			if err := k.s.close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDemoGroup plays the scene, compares it with the golden file, and chats with the bot afterwards.
func TestDemoGroup(t *testing.T) {
	t.Parallel()
	k := playedScene(t, time.Now())
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

// presses: anybody can press the button of the last card, and sees the answer. If that undoes or restores the match, the card is
// edited, and the next press is for its new button.
func (k talk) presses() {
	k.t.Helper()
	k.inOrder(k.says("alice: /match @carol 3:0", "press", "carol: Press", "dave: press", "carol: press", "/ranking"),
		"Now you.", "Alice beat Carol 3:0", "You pressed [Undo]", "Only those who played",
		"Carol pressed [Undo]", "undone by Carol", "edited its earlier message:", "undone by Carol",
		"Dave pressed [Restore]", "Only the person who undid match",
		"Carol pressed [Restore]", "restored by Carol", "edited its earlier message:", "Alice beat Carol 3:0",
		"You  /ranking", "6 players")
}

// alternates: each answer follows its command even when all commands come at once, and commands that the bot ignores do not
// block the others.
func (k talk) alternates() {
	k.t.Helper()
	k.inOrder(k.says("zoe: /match @alice 3:2", "/match@other_bot @bob 3:0", "zoe: /unknown", "", "yan: /match @bob 3:0", "no command", "  /ranking", "zoe : /match"),
		"/match @alice 3:2", "Zoe beat Alice 3:2", "new player: Zoe", "/match@other_bot", "/unknown", "/match @bob 3:0", "Yan beat Bob 3:0",
		"You  no command", "/ranking", "8 players", "Zoe  /match", "Who did you play?")
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
