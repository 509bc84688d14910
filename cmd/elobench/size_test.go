package main

import (
	"strings"
	"testing"
)

func TestAnswerOf(t *testing.T) {
	t.Parallel()
	if module, err := answerOf(t.Context(), "go", "list", "-m"); module != "elobot" || err != nil {
		t.Errorf("the module is %q (%v)", module, err)
	}
	_, err := answerOf(t.Context(), "go", "nonsense")
	if err == nil || !strings.HasPrefix(err.Error(), "go nonsense: ") || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("it fails with %v", err)
	}
}
