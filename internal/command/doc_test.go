package command_test

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// TestDoc checks that each example in the package comment, apart from those for /odds and /teams,
// has the outcome given there.
func TestDoc(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^//\t(/(match|won|lost|draw|undo|restore|fix)\b.*)$`).
		FindAllStringSubmatch(string(doc), -1)
	if len(examples) < 40 {
		t.Fatalf("only %d examples", len(examples))
	}
	const column = 38 // where the outcome begins, in characters
	for _, example := range examples {
		line := []rune(example[1])
		if strings.HasSuffix(example[1], " WantsHelp") {
			c, _ := parseDoc(strings.TrimSpace(strings.TrimSuffix(example[1], "WantsHelp")))
			if !c.WantsHelp() {
				t.Errorf("%q does not ask for help", example[1])
			}
			continue
		}
		text := strings.TrimSpace(string(line[:column]))
		want := strings.TrimSpace(string(line[column:]))
		c, ok := parseDoc(text)
		if !ok {
			t.Errorf("%q is no command", text)
			continue
		}
		equal(t, describe(c), want, "%q", text)
	}
}

// parseDoc parses a command of the package comment, in which each word with an @ is a mention.
func parseDoc(text string) (command.Command, bool) {
	var m message
	head, rest, _ := strings.Cut(text, " ")
	if before, after, ok := strings.Cut(head, "\n"); ok {
		head, rest = before, "\n"+after+" "+rest
	}
	m.mark(command.KindBotCommand, head, nil)
	m.plain(" ")
	for rest != "" {
		at := regexp.MustCompile(`@\w+`).FindStringIndex(rest)
		if at == nil {
			at = []int{len(rest), len(rest)}
		}
		m.plain(rest[:at[0]])
		if at[1] > at[0] {
			m.mark(command.KindMention, rest[at[0]:at[1]], nil)
		}
		rest = rest[at[1]:]
	}
	return command.Parse(m.text, m.entities, botUsername)
}

// describeMatch returns a match as the package comment writes it. It shows people by username in
// lower case, or by name if they have no username or are meant by name. The name of a new guest
// follows a plus sign.
func describeMatch(m command.Match) string {
	var parts []string
	side := func(people []command.Person) {
		for _, p := range people {
			name := strings.ToLower(p.Username)
			if p.Player != 0 || name == "" {
				name = cmp.Or(p.Name, p.Username)
			}
			if p.IsNewGuest() {
				name = "+" + name
			}
			parts = append(parts, name)
		}
	}
	side(m.A)
	for _, s := range m.Scores {
		parts = append(parts, describeScore(s))
	}
	side(m.B)
	return strings.Join(parts, " ")
}

func describeScore(s ladder.Score) string {
	switch {
	case s.HasPoints():
		return s.String()
	case s.A > s.B:
		return "won"
	case s.A < s.B:
		return "lost"
	default:
		return "drew"
	}
}

// describe returns the outcome of a command as the package comment writes it. The command is from
// sam, in reply to rita.
func describe(c command.Command) string {
	var parts []string
	scores := func(scores []ladder.Score) {
		for _, s := range scores {
			parts = append(parts, describeScore(s))
		}
	}
	number := func(n int) {
		if n == 0 {
			parts = append(parts, "the match is not given")
		} else {
			parts = append(parts, "match", strconv.Itoa(n))
		}
	}
	var err error
	switch c.Name {
	case command.NameMatch, command.NameWon, command.NameLost, command.NameDraw:
		var m command.Match
		m, err = parseOne(c, command.Person{Username: "sam"}, &command.Person{Username: "rita"})
		parts = append(parts, describeMatch(m))
	case command.NameUndo, command.NameRestore:
		var n int
		n, err = command.ParseNumber(c)
		number(n)
	case command.NameOdds:
		var m command.Match
		m, err = command.ParseSides(by(c, command.Person{Username: "sam"}, &command.Person{Username: "rita"}), nil)
		parts = append(parts, describeMatch(command.Match{A: m.A}), "–", describeMatch(command.Match{A: m.B}))
	case command.NameTeams:
		var people []command.Person
		people, err = command.ParsePlayers(by(c, command.Person{Username: "sam"}, nil), nil)
		parts = append(parts, describeMatch(command.Match{A: people}))
	case command.NameFix:
		var f command.Fix
		f, err = command.ParseFix(c)
		number(f.Number)
		scores(f.Scores)
	}
	if form := (*command.FormError)(nil); errors.As(err, &form) {
		return strings.TrimSpace(constant(form.Reason) + " " + quote(form.Detail))
	}
	return strings.Join(parts, " ")
}

// constant returns the name of the constant for a reason.
func constant(r command.Reason) string {
	name := "Reason"
	for part := range strings.SplitSeq(string(r), "_") {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func quote(detail string) string {
	if detail == "" {
		return ""
	}
	return strconv.Quote(detail)
}
