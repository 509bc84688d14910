//go:build container

package pgtest

import (
	"syscall"
	"testing"
)

func TestContainerGoesWithTheRun(t *testing.T) {
	t.Parallel()
	r := startRun(t, "container")
	users := r.begin()
	must(t, syscall.Kill(-r.shell.Process.Pid, syscall.SIGKILL)) // the run and its processes
	awaitServerEnd(t, users[0].url, "")
}
