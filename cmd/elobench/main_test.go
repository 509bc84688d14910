package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

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
