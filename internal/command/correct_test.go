package command_test

import (
	"testing"

	"elobot/internal/command"
)

// TestCorrect checks that a malformed report gets a correction only if its meaning is clear and the
// correction drops no words but fillers.
func TestCorrect(t *testing.T) {
	t.Parallel()
	names := command.NewNames([]command.Person{{ID: 7, Name: "Béla Kovács", Player: 1},
		{ID: 8, Username: "kim", Name: "Kim", Player: 2}})
	for text, want := range map[string]string{
		"/match @bob -3:1":                      "/match @bob 3:1",
		"/match @ann @bob @cat @dan 10:8":       "/match @ann @bob vs @cat @dan 10:8",
		"/match bela kovacs -11:7 9:11 11:5 gg": `/match "Béla Kovács" 11:7 9:11 11:5`,
		// An unknown word may change the meaning.
		"/match @bob 3:1 eventide":               "",
		"/match @bob 3:1 evening gym":            "",
		"/match bela kovacs 11:7 9:11 11:5 zorb": "",
		"/lost @bob 1:3 eventide":                "",
		"/match отметелил @bob 3:1":              "",
		// The bot does not guess what is missing or ambiguous.
		"/match @bob":                       "",
		"/match @bob 3":                     "",
		"/match @ann @bob @cat 10:8":        "",
		"/match [Dan] 3:1 eventide":         "",
		"/match @bob 3:1 11:5 9:11 11:7 up": "",
		"/match @bob @bob 3:1":              "",
		"/match beat @a @b @c @d 10:8":      "",
		"/match @bob 3:1 at 18:30":          "",
		"/match @bob didn’t win 3:1":        "",
		"/match winner: @bob 3:1":           "",
		"/match @bob 3:1 x2":                "",
	} {
		c, ok := parseHabit(text)
		if !ok {
			t.Fatalf("%s is no command", text)
		}
		_, err := command.ParseMatch(by(c, sender(), nil), names)
		if err == nil {
			t.Errorf("%s is not malformed", text)
			continue
		}
		if got, _ := command.Correct(by(c, sender(), nil), names, err); got != want {
			t.Errorf("%s: %v: %q, want %q", text, err, got, want)
		}
	}
}

// TestCorrectInALadder checks that the corrected command names the same ladder as the malformed
// one.
func TestCorrectInALadder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/match zork @bob -3:1":        "/match zork @bob 3:1",
		"/won Zork @bob -3:1":          "/match Zork @bob 3:1",
		"/match zork @a @b @c @d 10:8": "/match zork @a @b vs @c @d 10:8",
	} {
		c, _ := parseHabit(text)
		c = c.WithoutWords(1)
		_, err := command.ParseMatch(by(c, sender(), nil), nil)
		if got, _ := command.Correct(by(c, sender(), nil), nil, err); got != want {
			t.Errorf("%s: %v: %q, want %q", text, err, got, want)
		}
	}
}

// TestCorrectAmendment checks that a corrected amendment names the match, so it can be sent without
// replying to a message about the match. A command without a match number gets no correction.
func TestCorrectAmendment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/undo match 42":          "/undo 42",
		"/undo 42 please":         "/undo 42",
		"/restore match #42":      "/restore 42",
		"/fix 42 3:2 please":      "/fix 42 3:2",
		"/fix 42 3:2 sorry":       "",
		"/undo 42 not":            "",
		"/fix match 42 11:7 11:9": "/fix 42 11:7 11:9",
		"/fix 42 -3:2":            "/fix 42 3:2",
		"/undo -42":               "/undo 42",
		"/undo please":            "",
		"/undo 42 43":             "",
		"/undo @bob":              "",
		"/undo 0":                 "",
		"/fix 3:2 sorry":          "",
		"/fix 42":                 "",
		"/fix 42 3":               "",
	} {
		c, ok := parseHabit(text)
		if !ok {
			t.Fatalf("%s is no command", text)
		}
		_, err := command.ParseNumber(c)
		if c.Name == command.NameFix {
			_, err = command.ParseFix(c)
		}
		if err == nil {
			t.Errorf("%s is not malformed", text)
			continue
		}
		if got, _ := command.CorrectAmendment(c, err); got != want {
			t.Errorf("%s: %v: %q, want %q", text, err, got, want)
		}
	}
}
