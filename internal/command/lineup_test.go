package command_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

func lineup(people []command.Person) string {
	var all []string
	for _, p := range people {
		all = append(all, cmp.Or(p.Name, p.Username))
	}
	return strings.Join(all, "+")
}

// fault describes a *command.FormError or a *command.NameError.
func fault(err error) string {
	var form *command.FormError
	var name *command.NameError
	switch {
	case errors.As(err, &name) && name.Several:
		return "several are " + name.Word + ": " + lineup(name.People)
	case errors.As(err, &name):
		return strings.TrimSuffix("nobody is "+name.Word+": "+lineup(name.People), ": ")
	case !errors.As(err, &form):
		return "no form error"
	}
	return strings.TrimSpace(string(form.Reason) + " " + form.Detail)
}

// clubNames returns the names of some players. The name of one of them is also a word for winning.
func clubNames() *command.Names {
	return command.NewNames([]command.Person{
		{ID: 1, Name: "Ann Lee"}, {ID: 2, Name: "Ben"}, {ID: 3, Name: "Cid 2"}, {ID: 4, Name: "Dan"}, {ID: 5, Name: "Dan"},
		{ID: 6, Name: "Gano"},
	})
}

// read parses a command in which each word with an @ is a mention.
func read(t *testing.T, text string) command.Command {
	t.Helper()
	c, ok := parseDoc(text)
	if !ok {
		t.Fatalf("%q is no command", text)
	}
	return c
}

func TestParseSides(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"@bob":                       "Sam S. – bob",
		"me @bob":                    "Sam S. – bob",
		"@alice @bob":                "alice – bob",
		"@alice vs. @bob!":           "alice – bob",
		"vs @bob":                    "Sam S. – bob",
		"@alice & @bob vs @carol":    "alice+bob – carol",
		"me and @bob against @carol": "Sam S.+bob – carol",
		"ann lee":                    "Sam S. – Ann Lee",
		"ben vs cid 2":               "Ben – Cid 2",
		"gano":                       "Sam S. – Gano",
		"@alice gano":                "alice – Gano",
		`"Ann Lee" ben`:              "Ann Lee – Ben",

		"":                     "no_opponent",
		"@alice @bob @carol":   "no_versus",
		"@alice vs":            "empty_side",
		"@bob 3:1":             "unexpected_word 3:1",
		"@bob 3":               "unexpected_word 3",
		"@bob 1000":            "unexpected_word 1000",
		"@bob won":             "unexpected_word won",
		"dan":                  "several are dan: Dan+Dan",
		"zed":                  "nobody is zed",
		"@alice near @bob":     "nobody is near",
		"@alice @Alice":        "same_person @Alice",
		"@sam":                 "only_yourself",
		"@elobot":              "bot @elobot",
		"@a1 vs @b1 vs @carol": "free_for_all",
	} {
		m, err := command.ParseSides(by(read(t, "/odds "+args), sender(), nil), clubNames())
		got := lineup(m.A) + " – " + lineup(m.B)
		if err != nil {
			got = fault(err)
		}
		equal(t, got, want, "%q", args)
	}
	rita := &command.Person{ID: 11, Name: "Rita"}
	m, err := command.ParseSides(by(read(t, "/odds"), sender(), rita), nil)
	if err != nil || lineup(m.A) != "Sam S." || lineup(m.B) != "Rita" {
		t.Errorf("in reply: %v, %v", m, err)
	}
	_, err = command.ParseSides(by(read(t, "/odds @bob"), command.Person{}, nil), nil)
	equal(t, fault(err), "name_both_players", "fault of an anonymous admin")
}

func TestParsePlayers(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, "@player_"+string(rune('a'+i)))
		}
		return strings.Join(all, " ")
	}
	for args, want := range map[string]string{
		"@alice @bob @carol @dave":       "alice+bob+carol+dave",
		"@alice, @bob, ann lee and ben":  "alice+bob+Ann Lee+Ben",
		"me gano cid 2 @bob":             "Sam S.+Gano+Cid 2+bob",
		"@alice\n@bob\n@carol\nme\n@eve": "alice+bob+carol+Sam S.+eve",

		"":                            "players",
		"@alice @bob @carol":          "players",
		many(21):                      "players",
		"@alice @bob vs @carol @dave": "unexpected_word vs",
		"@alice @bob @carol @dave 2":  "unexpected_word 2",
		"@alice @bob @carol @ALICE":   "same_person @ALICE",
		"@alice @bob @carol zed":      "nobody is zed",
		"@alice @bob @carol dan":      "several are dan: Dan+Dan",
		"@alice @bob @carol @elobot":  "bot @elobot",
	} {
		people, err := command.ParsePlayers(by(read(t, "/teams "+args), sender(), nil), clubNames())
		got := lineup(people)
		if err != nil {
			got = fault(err)
		}
		equal(t, got, want, "%q", args)
	}
	if people, err := command.ParsePlayers(by(read(t, "/teams "+many(20)), sender(), nil), nil); err != nil ||
		len(people) != 20 {
		t.Errorf("twenty people: %v, %v", people, err)
	}
	if _, err := command.ParsePlayers(
		by(read(t, "/teams me @alice @bob @carol"), command.Person{}, nil), nil); fault(err) != "players" {
		t.Errorf("an anonymous admin among them: %v", err)
	}
}

func TestParseScores(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]ladder.Score{
		"10:8": {{A: 10, B: 8}}, "10 8": {{A: 10, B: 8}}, "8-10!": {{A: 8, B: 10}}, "11:7 9:11 11:5": {{A: 11, B: 7}, {A: 9, B: 11}, {A: 11, B: 5}},
	} {
		if got, err := command.ParseScores(command.Text("match", args, nil, botUsername)); err != nil {
			t.Errorf("%q: %v", args, err)
		} else if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", args, got, want)
		}
	}
	for args, want := range map[string]string{"10": "incomplete_score 10", "": "no_score",
		"zorb": "unexpected_word zorb", "1 2 3": "third_number 3"} {
		if got, err := command.ParseScores(command.Text("match", args, nil, botUsername)); fault(err) != want {
			t.Errorf("%q: %v, %v, want %s", args, got, err, want)
		}
	}
}

// checkLineups parses a command with ParseSides, ParsePlayers and ParseScores, and checks what they
// return. No lineup may contain a bot, an unidentified person, or a person twice.
func checkLineups(t *testing.T, c command.Command, from command.Person, reply *command.Person) {
	t.Helper()
	for _, names := range []*command.Names{nil, clubNames()} {
		m, err := command.ParseSides(by(c, from, reply), names)
		if a, b := m.A, m.B; err == nil {
			checkLineup(t, slices.Concat(a, b))
			if len(a) == 0 || len(b) == 0 || max(len(a), len(b)) > command.MaxTeam {
				t.Fatalf("%q: %v against %v", c.Args, a, b)
			}
		} else {
			checkLineupError(t, err)
		}
		people, err := command.ParsePlayers(by(c, from, nil), names)
		if err == nil {
			checkLineup(t, people)
			if len(people) < command.MinPlayers || len(people) > command.MaxPlayers || len(people) < len(c.Mentions) {
				t.Fatalf("%q: %v", c.Args, people)
			}
		} else {
			checkLineupError(t, err)
		}
	}
	if scores, err := command.ParseScores(c); err != nil {
		checkFormError(t, err)
	} else if len(scores) == 0 || len(c.Mentions) > 0 {
		t.Fatalf("%q: %v", c.Args, scores)
	}
}

func checkLineupError(t *testing.T, err error) {
	t.Helper()
	if name := (*command.NameError)(nil); !errors.As(err, &name) {
		checkFormError(t, err)
	}
}

func checkLineup(t *testing.T, people []command.Person) {
	t.Helper()
	for i, p := range people {
		if p.ID == 0 && p.Username == "" || p.IsBot {
			t.Fatalf("%+v plays", p)
		}
		for _, q := range people[:i] {
			if p.ID != 0 && p.ID == q.ID || p.Username != "" && strings.EqualFold(p.Username, q.Username) {
				t.Fatalf("%+v and %+v play", p, q)
			}
		}
	}
}
