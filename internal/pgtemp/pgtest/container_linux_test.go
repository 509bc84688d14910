//go:build container

package pgtest

import "testing"

func TestContainerGoesWithTheRun(t *testing.T) {
	t.Parallel()
	r := startRun(t, "container")
	users := r.begin(2)
	r.kill()
	kill(t, users[0].pid, users[1].pid)
	awaitServerEnd(t, users[0].url, "")
}
