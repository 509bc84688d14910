package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseQuestion(t *testing.T) {
	t.Parallel()
	bob, carol := Person{Username: "bob"}, Person{UserID: 7, Name: "Carol"}
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
		{"all", nil, Question{All: true}},
		{"ALL 2", nil, Question{Number: 2, All: true}},
		{"2, alle.", nil, Question{Number: 2, All: true}},
		{"2 todos", nil, Question{Number: 2, All: true}},
		{"усі 12", nil, Question{Number: 12, All: true}},
		{"Все.", nil, Question{All: true}},
		{"@all", nil, Question{All: true}},
		{"all 0", nil, Question{All: true}},
		{"all all", nil, Question{Unknown: "all all"}},
		{"all bob", nil, named("all bob")},
		{"month", nil, Question{Month: true}},
		{"МІСЯЦЬ", nil, Question{Month: true}},
		{"month 2", nil, named("month 2")},
		{"all 2 3", nil, Question{Unknown: "all 2 3"}},
		{"all 1234567890", nil, Question{Unknown: "all 1234567890"}},
		{"all", []Person{bob}, Question{Who: bob}},
		{"of  and 3", []Person{carol, bob}, Question{Who: carol}},
	} {
		if diff := cmp.Diff(tc.want, ParseQuestion(Command{Args: tc.args, Mentions: tc.mentions})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}
