package botsim

import (
	"testing"

	"elobot/internal/botsim/parameters"
)

// UnknownMethods returns the simulated methods whose parameters are not known.
func UnknownMethods(t *testing.T) []string {
	t.Helper()
	table, err := parameters.Load()
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, m := range methods() {
		if _, ok := table.Methods[m.name]; !ok {
			unknown = append(unknown, m.name)
		}
	}
	return unknown
}
