//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"elobot/internal/crashpoint"
	"elobot/internal/pgtemp/pgtest"
)

// TestKilledImporting checks that an import, a restore, or the undo of one takes effect as a whole
// or not at all, wherever it is killed, and that running it again has the same end as running it
// once. A result that is reported during an import is recorded and answered once.
func TestKilledImporting(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	alice, bob := c.sim.User("alice"), c.sim.User("bob")
	group := c.sim.Group("Club", alice, bob)
	newClub(t, c.pool, group.ID())
	folder := t.TempDir()
	var text strings.Builder
	text.WriteString("date,a,b,score\n")
	for i := range 1200 {
		pair := [][2]string{{"Bob", "Ann"}, {"Ann", "Cid"}, {"Cid", "Bob"}}[i%3]
		day := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		fmt.Fprintf(&text, "%s,%s,%s,%d:%d\n", day, pair[0], pair[1], i%4, 1+i%3)
	}
	must(t, os.WriteFile(filepath.Join(folder, "results.csv"), []byte(text.String()), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "people.csv"), []byte("name,who\nCid,guest\n"), 0o600))
	path, err := crashingBinary()
	must(t, err)
	command := "import"
	start := func(args ...string) *process {
		p := prepare([]string{"DATABASE_URL=" + pgtest.WithParameter(c.url, "application_name", "import"),
			crashpoint.Variable + "=" + c.plan},
			append([]string{command, fmt.Sprintf("--group=%d", group.ID())}, args...)...)
		p.cmd.Path, p.cmd.Dir = path, folder
		c.names[p] = "import"
		p.start(t)
		return p
	}
	run := func(args ...string) {
		t.Helper()
		p := start(args...)
		if code := p.wait(t); code != 0 {
			t.Fatalf("import %v exits with %d:\n%s", args, code, p.output)
		}
	}
	file := []string{"results.csv", "--people=people.csv"}
	empty := imported(t, c.pool)
	run(file...)
	full := imported(t, c.pool)
	kill := func(point crashpoint.Point, visit int, before, after []string, args ...string) {
		t.Helper()
		where := fmt.Sprintf("import %v killed at visit %d to %s", args, visit, point)
		c.at(point, visit, crashpoint.End)
		p := start(args...)
		c.awaitCarriedOut(p)
		c.mustCrash(p)
		c.awaitDeparture(p)
		if point == crashpoint.Applied {
			before = after
		}
		equal(t, imported(t, c.pool), before, "%s", where)
	}
	// An import that was killed may have used up a number.
	last := func() int { return count(t, c.pool, `SELECT max(number) FROM imports WHERE undone_at IS NULL`) }
	undo := func() []string { return []string{fmt.Sprintf("--undo=%d", last())} }
	for _, tc := range []struct {
		point crashpoint.Point
		visit int
	}{
		{crashpoint.Applying, 1}, {crashpoint.Importing, 1}, {crashpoint.Importing, 2}, {crashpoint.Importing, 4},
		{crashpoint.Importing, 6}, {crashpoint.Importing, 9}, {crashpoint.Importing, 10}, {crashpoint.Applied, 1},
	} {
		if tc.visit < 4 {
			kill(tc.point, tc.visit, full, empty, undo()...)
		}
		if tc.point != crashpoint.Applied {
			run(undo()...)
		}
		equal(t, imported(t, c.pool), empty, "after undo, before %s", tc.point)
		kill(tc.point, tc.visit, empty, full, file...)
		run(file...)
		equal(t, imported(t, c.pool), full, "after import, at %s", tc.point)
	}
	command = "export"
	run("export.zip")
	command = "import"
	run(undo()...)
	for visit := range 11 {
		point := []crashpoint.Point{crashpoint.Applying, crashpoint.Importing, crashpoint.Applied}[min(visit, 1)+visit/10]
		kill(point, max(visit%10, 1), imported(t, c.pool), full, "export.zip")
		if point != crashpoint.Applied {
			run("export.zip")
			equal(t, imported(t, c.pool), full, "after a restore")
		}
		run(undo()...)
	}

	// Years become seasons, which an export holds, and which an undo removes.
	seasons := func(want int, when string) {
		t.Helper()
		equal(t, count(t, c.pool, `SELECT count(*) FROM seasons`), want, "seasons %s", when)
	}
	divided := append(file, "--seasons=yearly")
	empty = imported(t, c.pool)
	run(divided...)
	full = imported(t, c.pool)
	seasons(5, "after an import")
	command = "export"
	run("seasons.zip")
	command = "import"
	kill(crashpoint.Importing, 3, full, empty, undo()...)
	seasons(5, "before the undo")
	run(undo()...)
	equal(t, imported(t, c.pool), empty, "after the undo of seasons")
	seasons(1, "after the undo")
	for _, visit := range []int{1, 4, 6, 9, 13} {
		kill(crashpoint.Importing, visit, empty, full, divided...)
		seasons(1, "before the import")
	}
	kill(crashpoint.Applied, 1, empty, full, divided...)
	seasons(5, "after the import")
	run(undo()...)
	run("seasons.zip")
	equal(t, imported(t, c.pool), full, "after a restore of seasons")
	seasons(5, "after a restore")
	run(undo()...)

	c.start("SEND_MERGE=off")
	c.at(crashpoint.Importing, 5, crashpoint.Stop)
	p := start(file...)
	c.awaitCarriedOut(p)
	posted := group.Say(alice, "/match @bob 7:6")
	c.await("a result is answered while rows are written", func() bool { return len(answersTo(group, posted)) == 1 })
	must(t, p.cmd.Process.Signal(syscall.SIGCONT))
	equal(t, p.wait(t), 0, "exit code of the import")
	c.settle()
	equal(t, len(answersTo(group, posted)), 1, "answers to a result during the import")
	equal(t, count(t, c.pool, `SELECT count(*) FROM matches`), 1201, "matches")
	verifyClean(t, c.url)
}
