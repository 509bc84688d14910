package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"elobot/internal/command"
)

// TestHabits reads what people type; testdata/habits/en.txt says in which form the cases are written.
func TestHabits(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/habits/*.txt")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var names *command.Names
			var reply *command.Person
			cases := 0
			for line := range strings.Lines(string(text)) {
				line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "  # ")
				if people, ok := strings.CutPrefix(line, "group: "); ok {
					names = group(people)
					continue
				}
				if who, ok := strings.CutPrefix(line, "reply: "); ok {
					if reply = nil; who != "nobody" {
						reply = &command.Person{UserID: 11, Username: who}
					}
					continue
				}
				input, want, ok := strings.Cut(line, " => ")
				if !ok || strings.HasPrefix(line, "#") {
					continue
				}
				cases++
				c, ok := parseHabit(input)
				if !ok {
					t.Errorf("%s is no command", input)
				} else if got := describeReadings(c, reply, names); got != want {
					t.Errorf("%s\n got %s\nwant %s", input, got, want)
				}
			}
			if cases < 100 {
				t.Errorf("only %d cases", cases)
			}
		})
	}
}

// parseHabit parses a command in which every word with an @ and everything in brackets with a capital letter is a mention.
func parseHabit(text string) (command.Command, bool) {
	var m message
	text = strings.ReplaceAll(text, `\n`, "\n")
	marks := regexp.MustCompile(`^/\w+(@\w+)?|@\w+|\[\p{Lu}[^]]*\]`)
	end := 0
	for i, at := range marks.FindAllStringIndex(text, -1) {
		m.plain(text[end:at[0]])
		end = at[1]
		piece := text[at[0]:end]
		switch piece[0] {
		case '/':
			m.mark(command.KindBotCommand, piece, nil)
		case '@':
			m.mark(command.KindMention, piece, nil)
		default:
			name := strings.Trim(piece, "[]")
			m.mark(command.KindTextMention, name, &command.Person{UserID: int64(201 + i), Name: name})
		}
	}
	m.plain(text[end:])
	return command.Parse(m.text, m.entities, botUsername)
}

// describeReadings returns what a report of sam means: all readings and the doubt, or the reason of the refusal.
func describeReadings(c command.Command, reply *command.Person, names *command.Names) string {
	report, err := command.ParseMatch(c, sender(), reply, names)
	if err != nil {
		var form *command.FormError
		if !errors.As(err, &form) {
			return err.Error()
		}
		return strings.TrimSpace("!" + string(form.Reason) + " " + form.Detail)
	}
	var ways []string
	for _, r := range report.Readings {
		var matches []string
		for _, m := range r {
			matches = append(matches, describeMatch(m))
		}
		ways = append(ways, strings.Join(matches, " and "))
	}
	said := strings.Join(ways, " or ")
	if report.Doubt != command.DoubtNone {
		said += strings.TrimRight(" ?"+string(report.Doubt)+" "+report.Word, " ")
	}
	return said
}
