package parameters_test

import (
	"maps"
	"testing"

	"elobot/internal/botsim/parameters"
)

// TestTableIsConsistent: every rule has a type and a range that a value can be in, and no method
// has the name of a type.
func TestTableIsConsistent(t *testing.T) {
	t.Parallel()
	table, err := parameters.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(table.Methods)
	maps.Copy(all, table.Types)
	if len(all) != len(table.Methods)+len(table.Types) {
		t.Error("a method and a type have one name")
	}
	for of, known := range all {
		for name, r := range known {
			if len(r.Types) == 0 {
				t.Errorf("%s.%s has no type", of, name)
			}
			if r.Min != nil && r.Max != nil && *r.Min > *r.Max {
				t.Errorf("%s.%s has a minimum of %d and a maximum of %d", of, name, *r.Min, *r.Max)
			}
		}
	}
}
