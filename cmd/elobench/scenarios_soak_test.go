//go:build soak

package main

import (
	"bytes"
	"log"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestScenarios checks that, with tiny sizes, all scenarios run and report at least the wanted
// metrics. A server without fsync and a wrong stored rating are errors.
func TestScenarios(t *testing.T) {
	t.Parallel()
	var results, progress bytes.Buffer
	b := &bench{results: &results, progress: log.New(&progress, "", 0), sizes: sizes{
		groups: 2, people: 4, known: 8, costed: 40, waiting: 10, rate: 20, seconds: 1, contended: 20,
		grown: []int{10, 100}, replayed: []int{50}, viewed: []int{200}, members: 100, views: 2,
	}}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("progress:\n%s\nresults:\n%s", progress.String(), results.String())
		}
	})
	if err := b.start(t.Context(), map[string]string{"fsync": "off"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		if err := s.run(t.Context(), b); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	wanted := map[string][]string{
		"Cost/plain":                              {"WAL-B/result", "1 commits/result", "blocks/result", "4 rows-inserted/result", "2 rows-updated/result", "8 statements/result"},
		"Cost/elobot":                             {"WAL-B/result", "commits/result", "blocks/result", "rows-inserted/result", "roundtrips/result", "disk-B/result"},
		"Throughput/polling":                      {"results/s", "delivered/s", "messages/result"},
		"Throughput/webhook":                      {"results/s"},
		"Latency":                                 {"start-ms", "p50-ms", "p99-ms"},
		"Contention/instances=1":                  {"results/s", "0 conflicts", "0 given-up"},
		"Contention/instances=3":                  {"results/s", "0 given-up"},
		"Growth/matches=100":                      {"blocks/result"},
		"Replay/undo/matches=50":                  {"blocks/match", "rewritten/match"},
		"Replay/merge/matches=50":                 {"blocks/match", "rewritten/match"},
		"Web/visitors=0/results":                  {"p99-ms"},
		"Web/visitors=1/results":                  {"p99-ms"},
		"Web/visitors=1/page":                     {"p99-ms", "0 failed"},
		"Web/visitors=200/results":                {"p99-ms"},
		"Web/visitors=200/page":                   {"p99-ms", "0 failed"},
		"Views/ranking/matches=200/seasons=1":     {"p99-ms"},
		"Views/stats/idle/matches=200/seasons=12": {"p99-ms"},
	}
	if runtime.GOOS == "linux" {
		wanted["Cost/elobot"] = append(wanted["Cost/elobot"], "bot-µs/result", "db-µs/result")
		wanted["Latency"] = append(wanted["Latency"], "MB")
	}
	for name, units := range wanted {
		line := regexp.MustCompile(`(?m)^Benchmark` + regexp.QuoteMeta(name) + `\t.*$`).FindString(results.String())
		for _, unit := range units {
			if !strings.Contains(line+"\t", " "+unit+"\t") && !strings.Contains(line+"\t", "\t"+unit+"\t") {
				t.Errorf("%s has no %s: %q", name, unit, line)
			}
		}
	}
	if !strings.Contains(progress.String(), "INSERT INTO matches") {
		t.Error("the statements are not listed")
	}
	if err := b.checkDurable(t.Context()); err == nil || !strings.Contains(err.Error(), "fsync off") {
		t.Errorf("checkDurable of a server without fsync: %v", err)
	}
	checkLostResult(t, b)
}

// checkLostResult checks that a measurement fails if a stored rating is wrong afterward.
func checkLostResult(t *testing.T, b *bench) {
	t.Helper()
	err := b.onStage(t.Context(), 1, 4, func(w *workload, db database) error {
		if err := b.costOf(t.Context(), "Tampered", w, db); err != nil {
			return err
		}
		_, err := db.Exec(t.Context(), `UPDATE group_players SET elo = elo + 1 WHERE id = 1`)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "verify") {
		t.Errorf("a measurement with a wrong rating: %v", err)
	}
}
