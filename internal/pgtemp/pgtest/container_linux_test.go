//go:build container

package pgtest

import "testing"

func TestContainerGoesWithTheRun(t *testing.T) {
	t.Parallel()
	r := startRun(t, choiceVariable+"=container")
	r.begin(2)
	first, _ := r.report()
	second, _ := r.report()
	if first.url != second.url {
		t.Errorf("two processes of a run use %s and %s", first.url, second.url)
	}
	r.kill()
	kill(t, first.pid)
	kill(t, second.pid)
	awaitServerEnd(t, first.url, "")
}
