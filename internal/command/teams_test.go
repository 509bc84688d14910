package command_test

import (
	"strconv"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

func TestParseMatchTeams(t *testing.T) {
	t.Parallel()
	score := []ladder.Score{{A: 10, B: 8}}
	replied := command.Person{ID: 11, Username: "rita", Name: "Rita"}
	for _, tc := range []struct {
		template string
		a, b     string // keys; empty for the sender without a mention
	}{
		{"/match {a} {b} vs {c} {me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match 10:8 {a} {b} vs {c} {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} 10:8 {b} vs {c} {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} {b} 10:8 vs {c} {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} {b} vs 10:8 {c} {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} {b} vs {c} 10:8 {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} {b} 10 vs {c} {me} 8", "{a} {b}", "{c} {me}"},
		{"/match {a} {b} 10 : vs {c} {me} 8", "{a} {b}", "{c} {me}"},
		{"/match {a} 10 {b} 8 vs {c} {me}", "{a} {b}", "{c} {me}"},
		{"/match {a}{b}vs{c}{me}10:8", "{a} {b}", "{c} {me}"},
		{"/match {a}, {b}, vs., {c}, {me}, 10:8.", "{a} {b}", "{c} {me}"},
		{"/match {a}\n{b}\nvs\n{c}\n{me}\n10\n8", "{a} {b}", "{c} {me}"},
		{"/match {a}\u200f{b} \u2067vs\u2069 {c} {me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match {a} & {b} vs {c} & {me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match {a}&{b} vs {c}+{me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match {a} and {b}, vs. {c} AND, {me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match {a} + {b} & vs & {c} And \u2068&\u2069 {me} 10 + 8", "{a} {b}", "{c} {me}"},
		{"/match & {a} & vs {b} 10:8 and", "{a}", "{b}"},
		{"/match {a}+{b} {c}+{me} 10:8", "{a} {b}", "{c} {me}"},
		{"/match 10:8 {a} & {b}, {c} and {me}", "{a} {b}", "{c} {me}"},
		{"/match {a} & {me} 10:8", "{a}", "{me}"},
		{"/match & vs {b} 10:8", "", "{b}"},
		{"/match {c} vs {b} {a} 10:8", "{c}", "{b} {a}"},
		{"/match {me} {c} {a} VS {b} 10:8", "{me} {c} {a}", "{b}"},
		{"/match {a} vs {b} 10:8", "{a}", "{b}"},
		{"/match {a} v {b} 10:8", "{a}", "{b}"},
		{"/match {a} V. {b} 10:8", "{a}", "{b}"},
		{"/match {a} Vs. {b} 10:8", "{a}", "{b}"},
		{"/match {a} Versus {b} 10:8", "{a}", "{b}"},
		{"/match {me} vs {b} 10:8", "{me}", "{b}"},
		{"/match vs {b} 10:8", "", "{b}"},
		{"/match 10:8 vs {b}", "", "{b}"},
		{"/match 10 vs {b} 8", "", "{b}"},
	} {
		for _, n := range namings() {
			t.Run(n.name+" "+tc.template, func(t *testing.T) {
				t.Parallel()
				side := func(keys string) []command.Person {
					var people []command.Person
					for key := range strings.SplitSeq(keys, " ") {
						if key == "{me}" || key == "" {
							people = append(people, sender())
						} else {
							people = append(people, n.people[key].person)
						}
					}
					return people
				}
				m := n.fill(tc.template)
				c, ok := command.Parse(m.text, m.entities, botUsername)
				if !ok {
					t.Fatal("no command")
				}
				got, err := parseOne(c, sender(), &replied)
				if err != nil {
					t.Fatalf("%v, %+v", err, err)
				}
				want := command.Match{A: side(tc.a), B: side(tc.b), Self: tc.a == "", Scores: score}
				equal(t, got, want, "result")
			})
		}
	}
}

func TestParseMatchTeamErrors(t *testing.T) {
	t.Parallel()
	nobody := command.Person{}
	replied := command.Person{ID: 11, Username: "rita", Name: "Rita"}
	for _, tc := range []struct {
		template string
		sender   command.Person
		reason   command.Reason
		detail   string // a key, or the text itself
	}{
		{"/match {a} {b} {c} 3:1", sender(), command.ReasonNoVersus, ""},
		{"/match {a} {b} {c} {me} 3:1", nobody, command.ReasonNoVersus, ""},
		{"/match {a} {b} {bot}", sender(), command.ReasonNoVersus, ""},
		{"/match vs", sender(), command.ReasonEmptySide, ""},
		{"/match vs 3:1", sender(), command.ReasonEmptySide, ""},
		{"/match {a} vs 3:1", sender(), command.ReasonEmptySide, ""},
		{"/match {a} {b} vs 3:1", sender(), command.ReasonEmptySide, ""},
		{"/match 3:1 {a} {b} vs", sender(), command.ReasonEmptySide, ""},
		{"/match vs {a} {b} 3:1", sender(), command.ReasonEmptySide, ""},
		{"/match 3:1 vs{a}{b}", sender(), command.ReasonEmptySide, ""},
		{"/match vs {b} 3:1", nobody, command.ReasonEmptySide, ""},
		{"/match vs {b} 3:1", command.Person{ID: 1087968824, IsBot: true}, command.ReasonEmptySide, ""},
		{"/match {a} vs {b} vs {c} 3:1", sender(), command.ReasonFreeForAll, ""},
		{"/match {a} vs VERSUS. {c} 3:1", sender(), command.ReasonUnexpectedWord, "VERSUS"},
		{"/match vs 3:1 v", sender(), command.ReasonUnexpectedWord, "v"},
		{"/match {a} vs. near {b} 3:1", sender(), command.ReasonUnexpectedWord, "near"},
		{"/match {a} && {b} vs {c} {me} 3:1", sender(), command.ReasonUnexpectedWord, "&&"},
		{"/match {a} &amp; {b} vs {c} {me} 3:1", sender(), command.ReasonUnexpectedWord, "&amp"},
		{"/match {a} and/or {b} vs {c} {me} 3:1", sender(), command.ReasonUnexpectedWord, "and/or"},
		{"/match {a} vs {b} +3:1", sender(), command.ReasonUnexpectedWord, "+3:1"},
		{"/match {a} & {b} & {c} 3:1", sender(), command.ReasonNoVersus, ""},
		{"/match {a} vs @bob 3:1", sender(), command.ReasonUnknownMention, "@bob"},
		{"/match {a} {b} vs {c} {a} 3:1", sender(), command.ReasonSamePerson, "{a}"},
		{"/match {a} {b} vs {b} {a} 3:1", sender(), command.ReasonSamePerson, "{b}"},
		{"/match {a} {a} vs {b} {c} 3:1", sender(), command.ReasonSamePerson, "{a}"},
		{"/match {a} vs {b} {c} {c} 3:1", nobody, command.ReasonSamePerson, "{c}"},
		{"/match {a} {me} vs {b} {me} 3:1", sender(), command.ReasonSamePerson, "@Sam"},
		{"/match vs {me} 3:1", sender(), command.ReasonOnlyYourself, ""},
		{"/match {a} {bot} vs {b} {c} 3:1", sender(), command.ReasonBot, "{bot}"},
		{"/match {a} vs {bot} {a} 3:1", sender(), command.ReasonBot, "{bot}"},
		{"/match vs {bot} 3:1", sender(), command.ReasonBot, "{bot}"},
		{"/match {a} {b} vs {c} {me}", sender(), command.ReasonNoScore, ""},
		{"/match {a} {b} vs {c} {me} 3", sender(), command.ReasonIncompleteScore, "3"},
		{"/match {a} 11 9 vs {b} 7 11", sender(), command.ReasonSeveralScores, "7"},
	} {
		for _, n := range namings() {
			for _, reply := range []*command.Person{nil, &replied} {
				t.Run(n.name+" "+tc.template, func(t *testing.T) {
					t.Parallel()
					detail := tc.detail
					if c, ok := n.people[tc.detail]; ok {
						detail = label(c.person)
					}
					wantFormError(t, n.fill(tc.template), tc.sender, reply, tc.reason, detail)
				})
			}
		}
	}
}

func TestNamesTeams(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]bool{
		"/match":                        false,
		"/match 3:1":                    false,
		"/match {a} {b} 3:1":            false,
		"/match {a} & {b} 3:1":          false,
		"/match vss {a} near {b}":       false,
		"/match {a} {b} 3vs1":           false,
		"/match {a} {b} {c} 3:1":        true,
		"/match {a} {b} {c} {me}":       true,
		"/match vs":                     true,
		"/match {a}vs{b} 3:1":           true,
		"/match {a} \u2068V.\u2069 3:1": true,
		"/match what, Versus, 3:x":      true,
		"/match {a} 3:1 against v":      true,
	} {
		for _, n := range namings() {
			equal(t, parse(t, n, template).NamesTeams(), want, "%s, %q", n.name, template)
		}
	}
}

func TestParseMatchTeamSize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b   int
		reason command.Reason
		detail string
	}{
		{10, 10, "", ""},
		{1, 10, "", ""},
		{10, 1, "", ""},
		{11, 1, command.ReasonTooManyPeople, "@player10"},
		{1, 11, command.ReasonTooManyPeople, "@player11"},
		{11, 11, command.ReasonTooManyPeople, "@player10"},
		{500, 0, command.ReasonTooManyPeople, "@player10"},
		{0, 500, command.ReasonTooManyPeople, "@player10"},
	} {
		t.Run(strconv.Itoa(tc.a)+" vs "+strconv.Itoa(tc.b), func(t *testing.T) {
			t.Parallel()
			var m message
			m.mark(command.KindBotCommand, "/match", nil)
			for i := range tc.a + tc.b {
				if i == tc.a {
					m.plain(" vs")
				}
				m.plain(" ")
				m.mark(command.KindMention, "@player"+strconv.Itoa(i), nil)
			}
			if tc.b == 0 {
				m.plain(" vs")
			}
			m.plain(" 3:1")
			if tc.reason != "" {
				wantFormError(t, m, sender(), nil, tc.reason, tc.detail)
				return
			}
			c, _ := command.Parse(m.text, m.entities, botUsername)
			got, err := parseOne(c, sender(), nil)
			if err != nil || len(got.A) != tc.a || len(got.B) != tc.b {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestParseMatchSidesShareNothing checks that changing a person of the first side, or appending a
// person to it, changes neither the second side nor the mentions of the command.
func TestParseMatchSidesShareNothing(t *testing.T) {
	t.Parallel()
	m := namings()[0].fill("/match {a} vs {b} 3:1")
	c, _ := command.Parse(m.text, m.entities, botUsername)
	got, err := parseOne(c, sender(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got.A[0].Name = "changed"
	_ = append(got.A, command.Person{Name: "changed"})
	if got.B[0].Name != "" || c.Mentions[0].Name != "" {
		t.Errorf("got %+v of %+v", got, c)
	}
}
