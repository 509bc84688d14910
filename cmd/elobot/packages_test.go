package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies keeps the directions in which packages may import one another.
func TestDependencies(t *testing.T) {
	t.Parallel()
	// what each package may import of the others; what is not listed may import none
	allowed := map[string][]string{
		"elobot/internal/ranking":       {"elobot/internal/elo"},
		"elobot/internal/postgres":      {"elobot/internal/ranking", "elobot/internal/outbox", "elobot/internal/intake", "elobot/internal/clock"},
		"elobot/internal/telegram":      {"elobot/internal/ranking", "elobot/internal/outbox", "elobot/internal/intake", "elobot/internal/command", "elobot/internal/clock"},
		"elobot/internal/web":           {"elobot/internal/outbox"},
		"elobot/internal/pgtemp/pgtest": {"elobot/internal/pgtemp", "elobot/migrations"},
	}
	tools := []string{"elobot/cmd/", "elobot/deploy/"} // these wire things together and may import anything
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`) {
		name, imports, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(tools, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		for _, imported := range strings.Fields(imports) {
			if strings.HasPrefix(imported, "elobot/") && !slices.Contains(allowed[name], imported) {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// TestPurePackages: the mathematics, the parser, the simulator, the model of the queue and the judge of the soak test reach
// nothing but the standard library.
func TestPurePackages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"elobot/internal/elo", "elobot/internal/command", "elobot/internal/botsim",
		"elobot/internal/outbox/queuemodel", "elobot/cmd/elobot/soaktest/judge"} {
		for _, line := range goList(t, "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`, name) {
			if line != name {
				t.Errorf("%s depends on %s", name, line)
			}
		}
	}
}

// TestRunIsClean: what runs in production reaches the simulator and the throw-away database only by way of the demo.
func TestRunIsClean(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"elobot/internal/telegram", "elobot/internal/postgres", "elobot/internal/intake",
		"elobot/internal/outbox", "elobot/internal/web"} {
		for _, line := range goList(t, "-deps", "-f", `{{.ImportPath}}`, name) {
			if line == "elobot/internal/botsim" || strings.HasPrefix(line, "elobot/internal/pgtemp") || strings.HasPrefix(line, "testing") {
				t.Errorf("%s depends on %s", name, line)
			}
		}
	}
}

// goList returns the lines of a go list over the module's packages, or over those that are named last.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	if !strings.HasPrefix(args[len(args)-1], "elobot/") {
		args = append(args, "elobot/...")
	}
	list := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
