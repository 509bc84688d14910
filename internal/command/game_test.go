package command

import (
	"strings"
	"testing"
)

// TestGames checks that Game recognizes the names of games, that each word of such a name has a
// meaning in reports, and that IsSlip finds misspellings.
func TestGames(t *testing.T) {
	t.Parallel()
	for name := range games {
		if !isReadable(atoms(strings.ReplaceAll(name, "_", " "))) {
			t.Errorf("%q may be the name of a player", name)
		}
	}
	for text, want := range map[string]string{
		"Ping Pong": "table_tennis", "tenis de mesa": "table_tennis", "tenis": "tennis", "Шахматы": "chess", "table": "", "bob": "", "": "",
	} {
		if got := Game(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"paddle": true, "pdael": true, "final": false, "bob": false, "chess": false} {
		if got := IsSlip(text, "Pádel"); got != want {
			t.Errorf("%q may be Pádel: %t", text, got)
		}
	}
	for _, score := range []string{"2:2", "2-2", "2"} {
		if IsSlip(score, "2v2") {
			t.Errorf("%q may be 2v2", score)
		}
	}
}
