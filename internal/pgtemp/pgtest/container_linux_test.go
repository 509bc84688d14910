//go:build container

package pgtest

import "testing"

func TestContainerGoesWithTheRun(t *testing.T) {
	t.Parallel()
	r := startRun(t, choiceVariable+"=container")
	r.begin(2)
	first, failure := r.report()
	second, more := r.report()
	if failure+more != "" || host(t, first.url) != host(t, second.url) {
		t.Fatalf("%v and %v: %s", first, second, failure+more)
	}
	r.kill()
	kill(t, first.pid)
	kill(t, second.pid)
	awaitServerEnd(t, first.url, "")
}
