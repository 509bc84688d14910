//go:build !unix

package main_test

import (
	"os/exec"
	"testing"
)

// asNobody fails, because this system has no root.
func asNobody(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	t.Fatal("there are no users to become")
	return nil
}
