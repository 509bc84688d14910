package command_test

import (
	"testing"

	"elobot/internal/command"
)

func TestNear(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"bobby", "bobbi", true},
		{"bobb", "bob", false}, // too short to tell
		{"bobby", "bobb", true},
		{"robert", "rbert", true},
		{"robert", "roberta", true},
		{"robert", "xrobert", true},
		{"robert", "robret", true},
		{"robert", "orbert", true},
		{"robert", "roebrt", true},
		{"Robert", "rOBERTA", true},
		{"robert", "Robert", false}, // the same
		{"robert", "rebort", false}, // no neighbours
		{"robert", "rupert", false},
		{"robert", "robertson", false},
		{"robert", "bert", false},
		{"player1", "player2", false},
		{"player1", "player12", false},
		{"player1", "player", false},
		{"player12", "player21", false},
		{"player1", "playre1", true},
		{"player", "plaxyer", true},
		{"big_bob", "bigbob", false}, // "_" is no letter
		{"big_bob", "bi_gbob", false},
		{"aaaa", "aaaaa", true},
		{"aaaa", "aaaaaa", false},
		{"abcd", "acbd", true},
		{"abcd", "dbca", false},
		{"", "abcd", false},
		{"a", "b", false},
	} {
		if got := command.Near(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, %q: %t", tc.a, tc.b, got)
		}
		if got := command.Near(tc.b, tc.a); got != tc.want {
			t.Errorf("%q, %q: %t", tc.b, tc.a, got)
		}
	}
}
