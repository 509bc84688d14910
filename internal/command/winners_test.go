package command_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// TestWinners checks how the bot reads sentences that state the winner. testdata/winners/en.txt
// explains the form of the cases. Each sentence must have the outcome that its heading names. The
// bot must not record another winner or suggest another command. If it asks who won, the answers
// must include the true winner.
func TestWinners(t *testing.T) {
	t.Parallel()
	for _, file := range languageFiles(t, "testdata/winners") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, got := "", make(map[string]int)
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSpace(line)
				if heading, ok := strings.CutPrefix(line, "# "); ok {
					want = heading
				}
				sentence, truth, ok := strings.Cut(line, " => ")
				if !ok {
					continue
				}
				outcome, is := judge(t, sentence, truth)
				if got[outcome]++; outcome != want {
					t.Errorf("%s: %s, want %s: %s", sentence, outcome, want, is)
				}
			}
			t.Logf("%d recorded, %d asked, %d refused, %d wrong, %d lossy offers",
				got["recorded"], got["asked"], got["refused"], got["wrong"], got["lossy offer"])
			if got["recorded"] < 8 || got["recorded"]+got["asked"]+got["refused"] < 25 {
				t.Error("there are too few sentences, or too few are recorded")
			}
		})
	}
}

// judge returns the outcome of a sentence, given its true result, and a description of how the bot
// reads it.
func judge(t *testing.T, sentence, truth string) (outcome, is string) {
	t.Helper()
	c, ok := parseHabit("/match " + sentence)
	if !ok {
		t.Fatalf("%s is no command", sentence)
	}
	alice, names := command.Person{ID: 1, Username: "alice", Name: "Alice"}, group("Bob/Carol/Дима/Аня")
	report, err := command.ParseMatch(by(c, alice, nil), names)
	if err != nil {
		if text, ok := command.Correct(by(c, alice, nil), names, err); ok {
			return "lossy offer", text
		}
		return "refused", err.Error()
	}
	var all []string
	inOrder := true
	for _, r := range report.Readings {
		m := r[0]
		a, b := strings.Index(sentence, label(m.A[0])), strings.Index(sentence, label(m.B[0]))
		inOrder = inOrder && len(r) == 1 && (a < 0 || b < 0 || a < b)
		if s := m.Scores[0]; s.A < s.B {
			m.A, m.B, m.Scores = m.B, m.A, []ladder.Score{{A: s.B, B: s.A}}
		}
		all = append(all, describeMatch(m))
	}
	switch is = strings.Join(all, " or "); {
	case report.Doubt == command.DoubtNone && is == truth:
		return "recorded", is
	case report.Doubt != command.DoubtNone && inOrder && slices.Contains(all, truth) &&
		(len(all) == 2 || report.Doubt != command.DoubtWinner):
		return "asked", is
	default:
		return "wrong", is
	}
}
