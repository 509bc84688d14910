package command_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

func TestParseMatchSets(t *testing.T) {
	t.Parallel()
	two := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}}
	three := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}, {A: 11, B: 5}}
	most := make([]ladder.Score, command.MaxSets)
	for i := range most {
		most[i] = ladder.Score{A: 11, B: 5}
	}
	for _, tc := range []struct {
		scores string
		want   []ladder.Score
	}{
		{"11:7 9:11", two},
		{"11-7 9-11", two},
		{"11:7 9–11", two},
		{"11 : 7 9 : 11", two},
		{"11 - 7 9 - 11", two},
		{"11: 7 9 :11", two},
		{"11:7, 9:11.", two},
		{"11:7,9:11", two},
		{"11:7;9:11", two},
		{"11:7/9:11", two},
		{"11:7(9:11)", two},
		{"11:7,,9:11", two},
		{"11-7,9-11", two},
		{"11：7,9：11", two},
		{",11:7,9:11,", two},
		{"11:7 9:11 11:5", three},
		{"11-7, 9-11, 11-5", three},
		{"11:7,9:11,11:5", three},
		{"11:7,9:11, 11:5", three},
		{"11:7; 9:11; 11:5;", three},
		{"11:7\n9:11\n11:5", three},
		{"\u206811:7\u2069 9\u200e:11\u200f11:5", three},
		{strings.Repeat("11:5 ", command.MaxSets), most},
		{strings.Repeat("11:5,", command.MaxSets), most},
	} {
		for _, n := range namings() {
			for _, template := range []string{
				"/match {a} {b} " + tc.scores, "/match {b} " + tc.scores, "/match " + tc.scores + " {b}",
				"/match " + tc.scores, "/match {a} vs {b} {c} " + tc.scores,
			} {
				t.Run(n.name, func(t *testing.T) {
					t.Parallel()
					m := n.fill(template)
					c, ok := command.Parse(m.text, m.entities, botUsername)
					if !ok {
						t.Fatal("no command")
					}
					got, err := parseOne(c, sender(), &command.Person{ID: 11, Name: "Rita"})
					if err != nil {
						t.Fatalf("%q: %v, %+v", m.text, err, err)
					}
					equal(t, got.Scores, tc.want, "%q", m.text)
				})
			}
		}
	}
}

func TestParseMatchSetsAmongPeople(t *testing.T) {
	t.Parallel()
	want := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}}
	for _, template := range []string{
		"/match 11:7 9:11 {a} {b}", "/match {a} 11:7 9:11 {b}", "/match 11:7 9:11{a}{b}", "/match 11:7 {b} 9:11",
		"/match {a} 11:7 9:11 vs {b}", "/match {a} vs 11:7 9:11 {b}",
	} {
		for _, n := range namings() {
			m := n.fill(template)
			c, _ := command.Parse(m.text, m.entities, botUsername)
			got, err := parseOne(c, sender(), nil)
			if err != nil {
				t.Fatalf("%q: %v, %+v", m.text, err, err)
			}
			equal(t, got.Scores, want, "%q", m.text)
		}
	}
}

// setErrors lists invalid scores, most of them of several sets, with the errors that ParseMatch and
// ParseFix must return.
var setErrors = []struct {
	scores string
	reason command.Reason
	detail string
}{
	{"11:7 9", command.ReasonThirdNumber, "9"},
	{"11 7 9", command.ReasonThirdNumber, "9"},
	{"11:7,9:", command.ReasonThirdNumber, "9"},
	{"11:7 9:11 11", command.ReasonIncompleteScore, "11"},
	{"11:7 9:11 5:", command.ReasonIncompleteScore, "5"},
	{"11:7 9 11:5", command.ReasonIncompleteScore, "9"},
	{"9 11:7 11:5", command.ReasonIncompleteScore, "9"},
	{"11:7:9 11:5", command.ReasonIncompleteScore, "9"},
	{"1 2 3 4 5", command.ReasonIncompleteScore, "5"},
	{"1 2 3 4:5", command.ReasonIncompleteScore, "5"},
	{"11 7 9 11", command.ReasonSeveralScores, "9"},
	{"11:7 9 11", command.ReasonSeveralScores, "9"},
	{"11 7 9:11", command.ReasonSeveralScores, "9:11"},
	{"11 7:9 11", command.ReasonSeveralScores, "7:9"},
	{"11:7 9:11 11 5", command.ReasonSeveralScores, "9:11"},
	{"11 7, 9 11", command.ReasonSeveralScores, "9"},
	{": 11 7 9 11", command.ReasonSeveralScores, "9"},
	{"11:7 : 9:11", command.ReasonUnexpectedWord, ":"},
	{"11:7 – 9:11", command.ReasonUnexpectedWord, "–"},
	{"11:7-9:11", command.ReasonUnexpectedWord, "-"},
	{"11:7:9:11", command.ReasonUnexpectedWord, ":"},
	{"11:7, -, 9:11", command.ReasonUnexpectedWord, "-"},
	{"11:7 9:11 —", command.ReasonUnexpectedWord, "—"},
	{"11:7 9::11", command.ReasonSeveralScores, "9::11"},
	{"11:7 9:11 q", command.ReasonUnexpectedWord, "q"},
	{"11:7,x", command.ReasonUnexpectedWord, "11:7,x"},
	{"11:7,9:x", command.ReasonUnexpectedWord, "9:x"},
	{"11:7,9", command.ReasonDecimalNumber, "11:7,9"},
	{"3,5:1", command.ReasonDecimalNumber, "3,5:1"},
	{"3,5:1,5:2", command.ReasonDecimalNumber, "3,5:1,5:2"},
	{"11:7,9:11,5", command.ReasonDecimalNumber, "9:11,5"},
	{"11:7.9:11", command.ReasonDecimalNumber, "11:7.9:11"},
	{"11:7 3.5:1", command.ReasonDecimalNumber, "3.5:1"},
	{"11:7;9", command.ReasonUnexpectedWord, "11:7;9"},
	{"11:7,-9:11", command.ReasonNegativeNumber, "-9"},
	{"11:7 9 -11", command.ReasonNegativeNumber, "-11"},
	{"11:7 9:1100", command.ReasonScoreTooLarge, "1100"},
	{"11:7 @al:11", command.ReasonUnknownMention, "@al:11"},
	{strings.Repeat("11:5 ", command.MaxSets+1), command.ReasonTooManySets, ""},
	{strings.Repeat("11:5,", command.MaxSets) + "11:", command.ReasonTooManySets, ""},
	{strings.Repeat("11:5,", 800), command.ReasonTooManySets, ""},
	{strings.Repeat("11:5 ", command.MaxSets-1) + "11", command.ReasonIncompleteScore, "11"},
}

func TestParseMatchSetErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range setErrors {
		for _, n := range namings() {
			for _, template := range []string{
				"/match {a} {b} " + tc.scores, "/match " + tc.scores + " {b}", "/match {a} vs " + tc.scores + " {b} {c}",
			} {
				t.Run(n.name, func(t *testing.T) {
					t.Parallel()
					wantFormError(t, n.fill(template), sender(), nil, tc.reason, tc.detail)
				})
			}
		}
	}
}
