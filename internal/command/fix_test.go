package command_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// parse fills a template and parses its command.
func parse(t *testing.T, n naming, template string) command.Command {
	t.Helper()
	m := n.fill(template)
	c, ok := command.Parse(m.text, m.entities, botUsername)
	if !ok {
		t.Fatalf("%q: no command", m.text)
	}
	return c
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]int{
		"/undo":                0,
		"/undo@elobot \u200f":  0,
		"/undo ,":              0,
		"/undo 42":             42,
		"/undo #42":            42,
		"/undo\n42\n":          42,
		"/undo 42.":            42,
		"/undo #42,":           42,
		"/undo \u206842\u2069": 42,
		"/undo 1":              1,
		"/undo 007":            7,
		"/undo 999999999":      999999999,
		"/undo ４２":             42,
		"/undo #٤٢":            42,
		"/Undo@EloBot #1000":   1000,
	} {
		c := parse(t, namings()[0], template)
		equal(t, c.Name, command.NameUndo, "%q: name", template)
		if got, err := command.ParseNumber(c); got != want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", template, got, err, want)
		}
	}
}

var numberErrors = []struct {
	number string
	reason command.Reason
	detail string
}{
	{"#", command.ReasonUnexpectedWord, "#"},
	{"##42", command.ReasonUnexpectedWord, "##42"},
	{"#42:", command.ReasonUnexpectedWord, "#42:"},
	{"#42:1", command.ReasonUnexpectedWord, "#42:1"},
	{"#4-2", command.ReasonUnexpectedWord, "#4-2"},
	{"#:", command.ReasonUnexpectedWord, "#:"},
	{"#x", command.ReasonUnexpectedWord, "#x"},
	{"#42x", command.ReasonUnexpectedWord, "#42x"},
	{"# 42", command.ReasonUnexpectedWord, "#"},
	{"42#", command.ReasonUnexpectedWord, "42#"},
	{"match 42", command.ReasonUnexpectedWord, "match"},
	{"last", command.ReasonUnexpectedWord, "last"},
	{"#" + strings.Repeat("🏓", 40), command.ReasonUnexpectedWord, "#" + strings.Repeat("🏓", 31)},
	{"\xff", command.ReasonUnexpectedWord, "\ufffd"},
	{"0", command.ReasonNoSuchNumber, "0"},
	{"#000", command.ReasonNoSuchNumber, "000"},
	{"1000000000", command.ReasonNoSuchNumber, "1000000000"},
	{"#0000000001", command.ReasonNoSuchNumber, "0000000001"},
	{strings.Repeat("9", 4000), command.ReasonNoSuchNumber, strings.Repeat("9", 32)},
	{"-42", command.ReasonNegativeNumber, "-42"},
	{"#−42", command.ReasonNegativeNumber, "−42"},
	{"4.2", command.ReasonDecimalNumber, "4.2"},
	{"#4,2", command.ReasonDecimalNumber, "#4,2"},
	{"@al", command.ReasonUnknownMention, "@al"},
	{"#@al", command.ReasonUnknownMention, "#@al"},
}

func TestParseNumberErrors(t *testing.T) {
	t.Parallel()
	cases := append(numberErrors[:len(numberErrors):len(numberErrors)], []struct {
		number string
		reason command.Reason
		detail string
	}{
		{"3:1", command.ReasonUnexpectedWord, "3:1"},
		{"42:", command.ReasonUnexpectedWord, "42:"},
		{"-", command.ReasonUnexpectedWord, "-"},
		{"42 43", command.ReasonUnexpectedWord, "43"},
		{"#42 #43", command.ReasonUnexpectedWord, "#43"},
		{"42 0", command.ReasonUnexpectedWord, "0"},
		{"42, please", command.ReasonUnexpectedWord, "please"},
		{"42 -", command.ReasonUnexpectedWord, "-"},
		{"42 +", command.ReasonUnexpectedWord, "+"},
		{"42 @al", command.ReasonUnknownMention, "@al"},
		{"{a}", command.ReasonUnexpectedWord, "{a}"},
		{"42 {b} {a}", command.ReasonUnexpectedWord, "{b}"},
		{"4{a}2", command.ReasonUnexpectedWord, "{a}"},
		{"{bot} what", command.ReasonUnexpectedWord, "{bot}"},
	}...)
	for _, tc := range cases {
		for _, n := range namings() {
			got, err := command.ParseNumber(parse(t, n, "/undo "+tc.number))
			wantReason(t, n, tc.number, err, tc.reason, tc.detail)
			equal(t, got, 0, "%q: number with an error", tc.number)
		}
	}
}

func TestParseFix(t *testing.T) {
	t.Parallel()
	one := []ladder.Score{{A: 3, B: 2}}
	three := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}, {A: 11, B: 5}}
	drawnGame := ladder.Score{A: ladder.Half, B: ladder.Half}
	for template, want := range map[string]command.Fix{
		"/fix 42 3:2":               {Number: 42, Scores: one},
		"/fix #42 3:2":              {Number: 42, Scores: one},
		"/fix 42 3-2":               {Number: 42, Scores: one},
		"/fix 42 3 2":               {Number: 42, Scores: one},
		"/fix #42 3 2":              {Number: 42, Scores: one},
		"/fix 42 3 : 2":             {Number: 42, Scores: one},
		"/fix 42 3 – 2":             {Number: 42, Scores: one},
		"/fix 42, 3:2.":             {Number: 42, Scores: one},
		"/fix\n42\n3\n2":            {Number: 42, Scores: one},
		"/fix \u206842\u2069 3:2":   {Number: 42, Scores: one},
		"/fix 999999999 3:2":        {Number: 999999999, Scores: one},
		"/fix@elobot #0042 003:02":  {Number: 42, Scores: one},
		"/fix 42 11:7 9:11 11:5":    {Number: 42, Scores: three},
		"/fix #42 11:7,9:11,11:5":   {Number: 42, Scores: three},
		"/Fix 11:7 9:11 11:5":       {Scores: three},
		"/fix 11-7, 9-11, 11-5":     {Scores: three},
		"/fix 11: 7 9:11 11- 5":     {Scores: three},
		"/fix 42 11 :7 9:11 11 - 5": {Number: 42, Scores: three},
		"/fix 42 3 :2":              {Number: 42, Scores: one},
		"/fix 3:2":                  {Scores: one},
		"/fix 3-2":                  {Scores: one},
		"/fix 3: 2":                 {Scores: one},
		"/fix 3– 2":                 {Scores: one},
		"/fix 3： 2":                 {Scores: one},
		"/fix 3:,\n2.":              {Scores: one},
		"/fix 3\u200e:2":            {Scores: one},
		"/fix \u20683\u2069: 2":     {Scores: one},
		"/fix 0:0":                  {Scores: []ladder.Score{{}}},
		"/fix 42 2½ ½":              {Number: 42, Scores: []ladder.Score{{A: ladder.Half + 2, B: ladder.Half}}},
		"/fix 42 ½ 2½":              {Number: 42, Scores: []ladder.Score{{A: ladder.Half, B: ladder.Half + 2}}},
		"/fix 42 ½":                 {Number: 42, Scores: []ladder.Score{drawnGame}},
		"/fix 42 ½ - ½":             {Number: 42, Scores: []ladder.Score{drawnGame}},
		"/fix 42 1:0 ½":             {Number: 42, Scores: []ladder.Score{{A: 1}, drawnGame}},
	} {
		c := parse(t, namings()[0], template)
		equal(t, c.Name, command.NameFix, "%q: name", template)
		got, err := command.ParseFix(c)
		if err != nil {
			t.Errorf("%q: %v, %+v", template, err, err)
		}
		equal(t, got, want, "%q", template)
	}
}

func TestParseFixErrors(t *testing.T) {
	t.Parallel()
	if f, err := command.ParseFix(read(t, "/fix \n\u200f")); err != nil || f.Number != 0 || f.Scores != nil {
		t.Errorf("nothing: %+v, %v", f, err)
	}
	cases := []struct {
		args   string
		reason command.Reason
		detail string
	}{
		{",", command.ReasonNoScore, ""},
		{"-", command.ReasonNoScore, ""},
		{"42", command.ReasonNoScore, ""},
		{"#42", command.ReasonNoScore, ""},
		{"#42 -", command.ReasonNoScore, ""},
		{"42 -", command.ReasonIncompleteScore, "42"},
		{"42 3", command.ReasonIncompleteScore, "3"},
		{"3 2", command.ReasonIncompleteScore, "2"},
		{"13 :3", command.ReasonIncompleteScore, "3"},
		{"13 : 3", command.ReasonIncompleteScore, "3"},
		{"13 – 3", command.ReasonIncompleteScore, "3"},
		{"13, : 3", command.ReasonIncompleteScore, "3"},
		{"13\n： 3", command.ReasonIncompleteScore, "3"},
		{"13 \u200e:., 003", command.ReasonIncompleteScore, "003"},
		{"13 :11 9:11", command.ReasonIncompleteScore, "11"},
		{"11:7 9 - 12 11:5", command.ReasonIncompleteScore, "12"},
		{"#42 3:", command.ReasonIncompleteScore, "3"},
		{"3:", command.ReasonIncompleteScore, "3"},
		{"42 3 2 1", command.ReasonThirdNumber, "1"},
		{"42: 3:2", command.ReasonThirdNumber, "2"},
		{"42 - 3:2", command.ReasonThirdNumber, "2"},
		{"3:2 42", command.ReasonThirdNumber, "42"},
		{"3:2 #42", command.ReasonUnexpectedWord, "#42"},
		{"42 #3:2", command.ReasonUnexpectedWord, "#3:2"},
		{"42 43 #3", command.ReasonUnexpectedWord, "#3"},
		{":3 2", command.ReasonUnexpectedWord, ":"},
		{"3 : : 2", command.ReasonUnexpectedWord, ":"},
		{"42 3 vs 2", command.ReasonUnexpectedWord, "vs"},
		{"42 to 3:2", command.ReasonUnexpectedWord, "to"},
		{"42 & 3:2", command.ReasonUnexpectedWord, "&"},
		{"42 3 and 2", command.ReasonUnexpectedWord, "and"},
		{"0 3:2", command.ReasonNoSuchNumber, "0"},
		{"1234567890 3:2", command.ReasonNoSuchNumber, "1234567890"},
		{"1234:2", command.ReasonScoreTooLarge, "1234"},
		{"1234 : 2", command.ReasonScoreTooLarge, "1234"},
		{"42 1000:2", command.ReasonScoreTooLarge, "1000"},
		{"42 -3:2", command.ReasonNegativeNumber, "-3"},
		{"42 3 -2", command.ReasonNegativeNumber, "-2"},
		{"42,3:2", command.ReasonDecimalNumber, "42,3:2"},
		{"42 3.5:2", command.ReasonDecimalNumber, "3.5:2"},
		{"42 @al 3:2", command.ReasonUnknownMention, "@al"},
		{"{a} 3:2", command.ReasonUnexpectedWord, "{a}"},
		{"42 3:2 {b} {a}", command.ReasonUnexpectedWord, "{b}"},
		{"{bot}", command.ReasonUnexpectedWord, "{bot}"},
	}
	for _, tc := range setErrors {
		cases = append(cases, struct {
			args   string
			reason command.Reason
			detail string
		}{"#42 " + tc.scores, tc.reason, tc.detail})
	}
	for _, tc := range numberErrors {
		cases = append(cases, struct {
			args   string
			reason command.Reason
			detail string
		}{tc.number + " 3:2", tc.reason, tc.detail})
	}
	for _, tc := range cases {
		for _, n := range namings() {
			got, err := command.ParseFix(parse(t, n, "/fix "+tc.args))
			wantReason(t, n, tc.args, err, tc.reason, tc.detail)
			equal(t, got, command.Fix{}, "%q: a fix with an error", tc.args)
		}
	}
}

// wantReason checks the reason and the detail of an error. If detail is the key of a person, such
// as {a}, the error must have the label of that person.
func wantReason(t *testing.T, n naming, args string, err error, reason command.Reason, detail string) {
	t.Helper()
	if c, ok := n.people[detail]; ok {
		detail = label(c.person)
	}
	var want error = &command.FormError{Reason: reason, Detail: detail}
	equal(t, err, want, "%q", args)
}
