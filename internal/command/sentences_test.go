package command_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/sentences"
)

// TestSentences reads what people type when a game is over. No sentence may be recorded with a wrong winner, or corrected to a command that
// says something else; the plain forms of each language must be recorded; and of the other sentences that are clear to a native speaker, at
// most a third may be asked.
func TestSentences(t *testing.T) {
	t.Parallel()
	for _, language := range sentences.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			all, err := sentences.All(language)
			if err != nil {
				t.Fatal(err)
			}
			count := make(map[sentences.Mark]map[string]int)
			for _, s := range all {
				mark := s.Mark
				if mark == sentences.Form && (s.Declined || s.Usernames && strings.Contains(s.Template, ".")) {
					mark = sentences.Clear // the case of a name makes it clear
				}
				outcome, is := judgeSentence(t, language, s)
				if count[mark] == nil {
					count[mark] = make(map[string]int)
				}
				count[mark][outcome]++
				if outcome == "untrue" || outcome == "wrong" || outcome == "lossy offer" || mark == sentences.Form && outcome != "recorded" {
					t.Errorf("%s (%s): %s: %s", s.Text, s.Gloss, outcome, is)
				} else if testing.Verbose() {
					t.Logf("%s %s: %s", mark, outcome, s.Text)
				}
			}
			clear := count[sentences.Clear]
			t.Logf("%v", count)
			if 3*clear["asked"] > clear["asked"]+clear["recorded"]+clear["refused"] {
				t.Errorf("of the clear sentences, %d are asked", clear["asked"])
			}
		})
	}
}

var username = regexp.MustCompile(`@\w+`)

// judgeSentence tells what becomes of a sentence, and how it is read.
func judgeSentence(t *testing.T, language string, s sentences.Sentence) (outcome, is string) {
	t.Helper()
	var m message
	m.mark(command.KindBotCommand, "/match", nil)
	m.plain(" ")
	end := 0
	for _, at := range username.FindAllStringIndex(s.Text, -1) {
		m.plain(s.Text[end:at[0]])
		m.mark(command.KindMention, s.Text[at[0]:at[1]], nil)
		end = at[1]
	}
	m.plain(s.Text[end:])
	c, ok := command.Parse(m.text, m.entities, botUsername)
	if !ok {
		t.Fatalf("%s is no command", s.Text)
	}
	sender := command.Person{UserID: 1, Username: "the_sender", Name: "The Sender"}
	var people []command.Person
	for i, p := range sentences.People(language) {
		people = append(people, command.Person{UserID: int64(100 + i), Username: p.Username, Name: p.Name, Player: int64(i + 1)})
	}
	names := command.NewNames(people)
	report, err := command.ParseMatch(c, sender, nil, names)
	if err != nil {
		if text, ok := command.Correct(c, sender, nil, names, err); ok {
			return "lossy offer", text
		}
		return "refused", err.Error()
	}
	isTrue := func(r command.Reading) bool { return len(r) == 1 && isResult(r[0], s, people) }
	var ways []string
	for _, r := range report.Readings {
		ways = append(ways, describeMatch(r[0]))
	}
	is = fmt.Sprintf("%s %s", strings.Join(ways, " or "), report.Doubt)
	switch {
	case report.Doubt == command.DoubtNone && (s.Mark == sentences.Unclear || !isTrue(report.Readings[0])):
		return "wrong", is
	case report.Doubt == command.DoubtNone:
		return "recorded", is
	case s.Mark != sentences.Unclear && !slices.ContainsFunc(report.Readings, isTrue):
		return "untrue", is
	default:
		return "asked", is
	}
}

// isResult is true if a match is what a sentence says.
func isResult(m command.Match, s sentences.Sentence, people []command.Person) bool {
	side := func(of []command.Person) []string {
		var names []string
		for _, p := range of {
			name := ""
			for _, known := range people {
				if p.UserID == known.UserID || p.Username == known.Username {
					name = known.Name
				}
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	won, lost := slices.Sorted(slices.Values(s.Won)), slices.Sorted(slices.Values(s.Lost))
	straight := slices.Equal(side(m.A), won) && slices.Equal(side(m.B), lost)
	if !straight && !(slices.Equal(side(m.A), lost) && slices.Equal(side(m.B), won)) || len(m.Scores) != len(s.Scores) {
		return false
	}
	for i, score := range m.Scores {
		if !straight {
			score.A, score.B = score.B, score.A
		}
		if s.Scores[i] != [2]int{score.A, score.B} {
			return false
		}
	}
	return true
}
