package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func exampleMeasurement() *measurement {
	return &measurement{
		Started: time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC), Short: true, Runs: 1,
		CPUs: 2, Go: "go1.26.0", Postgres: "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin", FileSystem: "ext4",
		Figures: []figure{
			{Name: "throughput.recorded", Value: 1234.56, Unit: "results/s", Better: higher},
			{Name: "throughput.messages", Value: 412, Unit: "messages", Better: lower},
			{Name: "baseline.pgbench", Value: 1500, Unit: "transactions/s", Better: higher},
			{Name: "latency.p50", Value: 1.478, Unit: "ms", Better: lower},
			{Name: "latency.p99", Value: 12.34, Unit: "ms", Better: lower},
			{Name: "ratio.recorded", Value: 0.823, Unit: "×", Better: higher},
		},
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	var m measurement
	for _, p50 := range []float64{5, 1, 3} {
		m.add([]figure{{Name: "latency.p50", Value: p50, Unit: "ms", Better: lower}})
	}
	m.add([]figure{{Name: "other", Value: 2}, {Name: "latency.p50", Value: 2, Unit: "ms", Better: lower}})
	want := []figure{
		{Name: "latency.p50", Value: 2.5, Unit: "ms", Better: lower, Values: []float64{5, 1, 3, 2}},
		{Name: "other", Value: 2, Values: []float64{2}},
	}
	if diff := cmp.Diff(want, m.Figures); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	m := exampleMeasurement()
	m.Figures[0].Values = []float64{1234.56, 1300}
	path := filepath.Join(t.TempDir(), "figures.json")
	if err := m.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readMeasurement(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"file_system": "ext4"`, `"name": "latency.p50"`, `"better": "lower"`, `"value": 1.478`} {
		if !strings.Contains(string(content), part) {
			t.Errorf("the JSON does not contain %s:\n%s", part, content)
		}
	}
}

func TestInvalidJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "figures.json")
	if _, err := readMeasurement(path); err == nil {
		t.Error("reading a missing file succeeded")
	}
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readMeasurement(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("reading invalid JSON: %v", err)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	alone := exampleMeasurement()
	old := exampleMeasurement()
	old.Started = old.Started.Add(-48 * time.Hour)
	old.Short, old.CPUs = false, 8
	old.Figures = []figure{
		{Name: "throughput.recorded", Value: 1000, Unit: "results/s", Better: higher},
		{Name: "throughput.messages", Value: 412, Unit: "messages", Better: lower},
		{Name: "baseline.pgbench", Value: 0, Unit: "transactions/s", Better: higher},
		{Name: "latency.p50", Value: 2, Unit: "ms", Better: lower},
		{Name: "latency.p99", Value: 10, Unit: "ms", Better: lower},
	}
	inMemory := exampleMeasurement()
	inMemory.FileSystem, inMemory.Runs = "tmpfs", 5
	profiled := exampleMeasurement()
	profiled.Profiled = true
	for name, tc := range map[string]struct{ now, old *measurement }{
		"alone":    {alone, nil},
		"compared": {alone, old},
		"memory":   {inMemory, inMemory},
		"profiled": {profiled, alone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			printTable(&got, tc.now, tc.old)
			golden(t, filepath.Join("testdata", name+".golden"), got.Bytes())
		})
	}
}

// golden compares with a golden file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
