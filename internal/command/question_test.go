package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseQuestion(t *testing.T) {
	t.Parallel()
	bob, carol := Person{Username: "bob"}, Person{ID: 7, Name: "Carol"}
	named := func(name string) Question { return Question{Who: Person{Name: name}} }
	for _, tc := range []struct {
		args     string
		mentions []Person
		want     Question
	}{
		{"", nil, Question{}},
		{"3", nil, Question{Number: 3}},
		{"#3.", nil, Question{Number: 3}},
		{"007", nil, Question{Number: 7}},
		{"0", nil, Question{}},
		{"999999999", nil, Question{Number: 999_999_999}},
		{"1234567890", nil, Question{Unknown: "1234567890"}},
		{"-3", nil, Question{Unknown: "-3"}},
		{"2.5", nil, Question{Unknown: "2.5"}},
		{"３", nil, Question{Unknown: "３"}},
		{"3 4", nil, Question{Unknown: "3 4"}},
		{"bob", nil, named("bob")},
		{"@ab", nil, named("ab")},
		{"Bob Smith", nil, named("Bob Smith")},
		{"боб", nil, named("боб")},
		{" ", []Person{bob}, Question{Who: bob}},
		{"all", nil, Question{Span: All}},
		{"ALL 2", nil, Question{Number: 2, Span: All}},
		{"2, alle.", nil, Question{Number: 2, Span: All}},
		{"2 todos", nil, Question{Number: 2, Span: All}},
		{"усі 12", nil, Question{Number: 12, Span: All}},
		{"Все.", nil, Question{Span: All}},
		{"@all", nil, Question{Span: All}},
		{"all 0", nil, Question{Span: All}},
		{"all all", nil, Question{Span: All}},
		{"all bob", nil, named("bob")},
		{"month", nil, Question{Span: Month}},
		{"This week!", nil, Question{Span: Week}},
		{"@today", nil, Question{Span: Today}},
		{"за этот год", nil, Question{Span: Year}},
		{"de la semana", nil, Question{Span: Week}},
		{"de la", nil, named("de la")},
		{"last week", nil, named("last week")},
		{"2025", nil, Question{Number: 2025}},
		{"МІСЯЦЬ", nil, Question{Span: Month}},
		{"month 2", nil, Question{Unknown: "2"}},
		{"all 2 3", nil, Question{Unknown: "2 3"}},
		{"all 1234567890", nil, Question{Unknown: "1234567890"}},
		{"all", []Person{bob}, Question{Who: bob}},
		{"of  and 3", []Person{carol, bob}, Question{Who: carol}},
	} {
		if diff := cmp.Diff(tc.want, ParseQuestion(Command{Args: tc.args, Mentions: tc.mentions})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}

// TestCutSpan checks that CutSpan removes the words for a span, unless the span is past, and keeps
// the other words and the mentions.
func TestCutSpan(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		placeholder + " this YEAR " + placeholder: placeholder + " " + placeholder + " year",
		"alles": " all", "@bob, month": "@bob, month",
		"the  bob": "the  bob ", "": " ",
		"last year": "last year year", placeholder + " прошлый месяц": placeholder + " прошлый месяц month",
	} {
		if rest, span := (Command{Args: args}).CutSpan(); rest.Args+" "+string(span) != want {
			t.Errorf("%q: %q without %q", args, rest.Args, span)
		}
	}
}

// TestSpansInLanguages checks that a question can name each span in each language. It also tries
// phrases such as "this week".
func TestSpansInLanguages(t *testing.T) {
	t.Parallel()
	for span, words := range map[Span]string{
		Today: "today, heute, hoy, hoje, сегодня, сьогодні",
		Week: "week, this week, Woche, diese Woche, in dieser Woche, semana, esta semana, essa semana, nesta semana, " +
			"неделя, эта неделя, на этой неделе, тиждень, цей тиждень, цього тижня",
		Month: "month, Monat, diesen Monat, mes, este mes, mês, neste mês, " +
			"месяц, за месяц, в этом месяце, місяць, цього місяця",
		Year: "year, Jahr, dieses Jahr, año, este año, ano, este ano, год, в этом году, рік, цього року",
		All:  "all, everything, alle, alles, todo, todos, tudo, все, всё, усе, усі",
	} {
		for text := range strings.SplitSeq(words, ", ") {
			if q := ParseQuestion(Command{Args: text}); q != (Question{Span: span}) {
				t.Errorf("%s is %+v", text, q)
			}
		}
	}
}
