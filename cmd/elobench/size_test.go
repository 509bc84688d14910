package main

import (
	"strings"
	"testing"
)

func TestOutputOf(t *testing.T) {
	t.Parallel()
	if module, err := outputOf(t.Context(), "go", "list", "-m"); module != "elobot" || err != nil {
		t.Errorf("module = %q (%v)", module, err)
	}
	_, err := outputOf(t.Context(), "go", "nonsense")
	if err == nil || !strings.HasPrefix(err.Error(), "go nonsense: ") || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("error = %v", err)
	}
}
