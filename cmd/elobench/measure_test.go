package main

import (
	"slices"
	"testing"
)

func TestChosenScenarios(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		command measureCommand
		want    []string // nil for an error
	}{
		"all": {measureCommand{Runs: 1}, []string{
			"throughput", "baseline", "latency", "contention", "draining", "growth", "views", "memory", "start", "size",
		}},
		"in the usual order": {measureCommand{Runs: 1, Scenario: []string{"latency", "throughput"}}, []string{"throughput", "latency"}},
		"unknown":            {measureCommand{Runs: 1, Scenario: []string{"latency", "speed"}}, nil},
		"not once":           {measureCommand{Runs: 0}, nil},
	} {
		chosen, err := tc.command.scenarios()
		var got []string
		for _, s := range chosen {
			got = append(got, s.name)
		}
		if !slices.Equal(got, tc.want) || (err == nil) != (tc.want != nil) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tc.want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--scenario"}, {"--long"}, {"--compare=nowhere.json"}} {
		if code := realMain(args); code != exitUsage {
			t.Errorf("%v ends with %d", args, code)
		}
	}
	if code := realMain([]string{"--scenario=speed"}); code != exitFailure {
		t.Errorf("an unknown scenario ends with %d", code)
	}
}
