package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the program of the tests be the echo bot, as the benchmark's own program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == echoArgument {
		os.Exit(realMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestScenarios measures with next to nothing of everything, and has the bots profiled: that it can be measured, not how fast
// it is.
func TestScenarios(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	tiny := sizes{
		groups: 2, people: 4, results: 10, clients: 1, pgbench: 1, rate: 20, latency: 1,
		contended: 20, drained: 8, answers: 4,
		bulk: []int{10, 1000}, rounds: 1,
		chats: 5, waiting: 20, steady: 50 * time.Millisecond, starts: 1,
	}
	quick := map[string]string{"fsync": "off", "full_page_writes": "off"}
	folder := filepath.Join(t.TempDir(), "new", "folder")
	env, err := newEnvironment(t.Context(), tiny, "", folder, quick, newProgress(&told))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("it says:\n%s", told.String())
		}
	})
	if err := env.checkDurable(t.Context()); err == nil || !strings.Contains(err.Error(), "fsync off") {
		t.Errorf("a server that is not durable is taken for good: %v", err)
	}
	measured, err := (&measureCommand{Runs: 1, Profile: folder}).measure(t.Context(), env, chosenScenarios())
	if err != nil {
		t.Fatal(err)
	}
	figures := measured.Figures
	none := []string{"contention.two.giveups", "contention.three.giveups", "draining.429"}
	some := []string{"contention.two.conflicts", "contention.three.conflicts", "ratio.p99_over"}
	for _, f := range figures {
		if positive := f.Value > 0; positive == slices.Contains(none, f.Name) && !slices.Contains(some, f.Name) {
			t.Errorf("%s is %v", f.Name, f.Value)
		}
	}
	if least, _ := find(figures, "draining.least"); least.Value != 1 {
		t.Errorf("32 messages take %v s at the least", least.Value)
	}
	if len(chosenScenarios()) == len(scenarios()) {
		checkAllFigures(t, figures)
	}
	checkProfiles(t, measured, folder)
	checkLostIsMissed(t, env)
	checkEchoSaysWhatFails(t, env)
	if left, err := os.ReadDir(env.folder); err != nil || len(left) > 2 {
		t.Errorf("in the folder are %v, %v: want the bot and a script", left, err)
	}
	if measured.FileSystem == "" || !strings.HasPrefix(measured.Postgres, "PostgreSQL ") {
		t.Errorf("it was measured with %q on %q", measured.Postgres, measured.FileSystem)
	}
	if !strings.Contains(told.String(), "the data lies on ") {
		t.Errorf("it does not say what the data lies on:\n%s", told.String())
	}
}

// checkAllFigures checks that those are there that come of all scenarios together.
func checkAllFigures(t *testing.T, figures []figure) {
	t.Helper()
	for _, r := range comparisons {
		if _, ok := find(figures, r.name); !ok {
			t.Errorf("there is no %s", r.name)
		}
	}
	for _, name := range []string{"ratio.growth.match.1e3", "ratio.growth.ranking.1e3"} {
		if _, ok := find(figures, name); !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range []string{
		"throughput.rss", "throughput.webhook.rss", "memory.idle", "memory.chats.peak", "memory.waiting.peak",
	} {
		if _, ok := find(figures, name); ok != (runtime.GOOS == "linux") {
			t.Errorf("whether there is a %s: %v", name, ok)
		}
	}
	if p50, _ := find(figures, "latency.p50"); p50.Value > milliseconds(time.Minute) {
		t.Errorf("half of all wait for %v ms", p50.Value)
	}
}

// TestScenarioThatFails: what the others have found is there, and the error says which has failed.
func TestScenarioThatFails(t *testing.T) {
	t.Parallel()
	broken := scenario{name: "broken", run: func(context.Context, *environment) ([]figure, error) {
		return []figure{{Name: "broken.half", Value: 1}}, errors.New("too heavy")
	}}
	good := scenario{name: "good", run: func(context.Context, *environment) ([]figure, error) {
		return []figure{{Name: "good.all", Value: 2}}, nil
	}}
	env := &environment{progress: newProgress(new(bytes.Buffer)), profiles: new(profiles)}
	figures, err := runScenarios(t.Context(), env, []scenario{broken, good})
	if err == nil || err.Error() != "broken: too heavy" {
		t.Errorf("the error is %v", err)
	}
	if len(figures) != 2 {
		t.Errorf("the figures are %v", figures)
	}
}
