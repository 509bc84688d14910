package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// TestHabits checks that what people type is read as intended. testdata/habits/en.txt explains the
// form of the cases. Each language has at least 100 cases, and English at least 300. At least half
// of the cases say where they were found.
func TestHabits(t *testing.T) {
	t.Parallel()
	least := map[string]int{"en.txt": 300}
	for _, file := range languageFiles(t, "testdata/habits") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			cases, found := checkHabits(t, file)
			if cases < max(100, least[filepath.Base(file)]) || 2*found < cases {
				t.Errorf("%d cases, of which %d say where they were found", cases, found)
			}
		})
	}
}

// TestGrammar checks more cases in the same way as TestHabits. They need no source.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for _, file := range languageFiles(t, "testdata/grammar") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if cases, _ := checkHabits(t, file); cases == 0 {
				t.Error("no cases")
			}
		})
	}
}

// languageFiles returns the files of a folder, one per language.
func languageFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.txt")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	return files
}

// checkHabits checks the cases of a file. It returns how many there are, and how many of them say
// where they were found.
func checkHabits(t *testing.T, file string) (cases, found int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names *command.Names
	var reply *command.Person
	for line := range strings.Lines(string(text)) {
		line, source, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  # ")
		if people, ok := strings.CutPrefix(line, "group: "); ok {
			names = group(people)
			continue
		}
		if who, ok := strings.CutPrefix(line, "reply: "); ok {
			if reply = nil; who != "nobody" {
				reply = &command.Person{ID: 11, Username: who}
			}
			continue
		}
		input, want, ok := strings.Cut(line, " => ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if cases++; source != "" {
			found++
		}
		c, ok := parseHabit(input)
		if !ok {
			t.Errorf("%s is no command", input)
		} else if got := describeReadings(c, reply, names); got != want {
			t.Errorf("%s\n got %s\nwant %s", input, got, want)
		}
	}
	return cases, found
}

// parseHabit parses a command. A mention is a word with an @, or text in brackets that begins with
// a capital letter.
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
			m.mark(command.KindTextMention, name, &command.Person{ID: ladder.UserID(201 + i), Name: name})
		}
	}
	m.plain(text[end:])
	return command.Parse(m.text, m.entities, botUsername)
}

// describeReadings describes a report by sam: its readings and the doubt, or why it cannot be read.
func describeReadings(c command.Command, reply *command.Person, names *command.Names) string {
	report, err := command.ParseMatch(by(c, sender(), reply), names)
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
