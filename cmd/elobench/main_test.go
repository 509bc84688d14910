package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestFailingScenario: the figures of the other scenarios are available, and the error names the failed one.
func TestFailingScenario(t *testing.T) {
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
		t.Errorf("error = %v", err)
	}
	if len(figures) != 2 {
		t.Errorf("figures = %v", figures)
	}
}
