package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseQuestion(t *testing.T) {
	t.Parallel()
	bob, carol := Person{Username: "bob"}, Person{UserID: 7, Name: "Carol"}
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
		{"1234567890", nil, Question{}},
		{"-3", nil, Question{}},
		{"2.5", nil, Question{}},
		{"３", nil, Question{}},
		{"3 4", nil, Question{}},
		{"bob", nil, Question{Who: bob}},
		{"@ab", nil, Question{Who: Person{Username: "ab"}}},
		{"bob, please!", nil, Question{}},
		{"боб", nil, Question{}},
		{strings.Repeat("b", 33), nil, Question{}},
		{" ", []Person{bob}, Question{Who: bob}},
		{"all", nil, Question{All: true}},
		{"ALL 2", nil, Question{Number: 2, All: true}},
		{"2, alle!", nil, Question{}},
		{"2 todos", nil, Question{Number: 2, All: true}},
		{"усі 12", nil, Question{Number: 12, All: true}},
		{"Все.", nil, Question{All: true}},
		{"@all", nil, Question{All: true}},
		{"all 0", nil, Question{All: true}},
		{"all all", nil, Question{}},
		{"all bob", nil, Question{}},
		{"of all", nil, Question{}},
		{"all 2 3", nil, Question{}},
		{"all 1234567890", nil, Question{}},
		{"all", []Person{bob}, Question{Who: bob}},
		{"of  and 3", []Person{carol, bob}, Question{Who: carol}},
	} {
		if diff := cmp.Diff(tc.want, ParseQuestion(Command{Args: tc.args, Mentions: tc.mentions})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}
