//go:build !unix

package main_test

import (
	"os/exec"
	"testing"
)

// asNobody is not called here, because the effective user id is never 0 on this system.
func asNobody(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	t.Fatal("there are no users to become")
	return nil
}
