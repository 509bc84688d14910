package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// TestImportKilledAnywhere checks that imports of results and of start ratings, and their undos,
// take effect as a whole or not at all, before whichever message to the database they are killed,
// and that running them again has the same end as running them once. The messages are spread over
// the whole run.
func TestImportKilledAnywhere(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	newClub(t, pool, -100)
	proxy := dbtest.NewProxy(t, url)
	proxied := pgtest.WithParameter(proxy.URL, "application_name", "import")
	folder := t.TempDir()
	var results strings.Builder
	results.WriteString("date,a,b,score\n")
	for i := range 60 {
		pair := [][2]string{{"Bob", "Ann"}, {"Ann", "Cid"}, {"Cid", "Bob"}}[i%3]
		day := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		fmt.Fprintf(&results, "%s,%s,%s,%d:%d\n", day, pair[0], pair[1], i%4, 1+i%3)
	}
	for name, text := range map[string]string{
		"results.csv": results.String(), "ratings.csv": "player,rating\nBob,1700\nAnn,1400\nCid,1600\n",
		"people.csv": "name,who\nCid,guest\n",
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	// run runs the command, and kills it before its nth message unless n is 0. It returns the
	// number of messages, and whether the command was killed.
	run := func(n int64, args ...string) (messages int64, isKilled bool) {
		t.Helper()
		var sent atomic.Int64
		reached, killed := make(chan struct{}), make(chan struct{})
		proxy.OnMessage(func(byte, []byte) bool {
			if sent.Add(1) != n {
				return false
			}
			close(reached)
			<-killed
			return true
		})
		p := prepare([]string{"DATABASE_URL=" + proxied}, append([]string{"import", "--group=-100"}, args...)...)
		p.cmd.Dir = folder
		p.start(t)
		select {
		case <-reached:
			isKilled = true
			p.kill()
		case <-p.ended:
		}
		close(killed)
		eventually(t, "the command has left the database", func() bool {
			return count(t, pool, `
				SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'import'`) == 0
		})
		return sent.Load(), isKilled
	}
	kills := 0
	for _, tc := range []struct {
		file   string
		points int64
	}{{"results.csv", 30}, {"ratings.csv", 10}} {
		do := []string{tc.file, "--people=people.csv"}
		undo := func() []string {
			last := count(t, pool, `SELECT coalesce(max(number), 0) FROM imports WHERE undone_at IS NULL`)
			return []string{fmt.Sprint("--undo=", last)}
		}
		empty := imported(t, pool)
		messages, _ := run(0, do...)
		full := imported(t, pool)
		if len(full) == len(empty) {
			t.Fatalf("%s is not imported", tc.file)
		}
		undoMessages, _ := run(0, undo()...)
		equal(t, imported(t, pool), empty, "after the undo of %s", tc.file)
		for i := range tc.points {
			for _, step := range []struct {
				before, after []string
				messages      int64
				args          func() []string
			}{{empty, full, messages, func() []string { return do }}, {full, empty, undoMessages, undo}} {
				at := 1 + i*(step.messages-1)/(tc.points-1)
				if _, isKilled := run(at, step.args()...); isKilled {
					kills++
				}
				if state := imported(t, pool); fmt.Sprint(state) != fmt.Sprint(step.after) {
					equal(t, state, step.before, "%v killed before message %d of %d", step.args(), at, step.messages)
					run(0, step.args()...)
				}
				equal(t, imported(t, pool), step.after, "%v again", step.args())
			}
		}
	}
	if kills < 60 {
		t.Errorf("%d commands were killed", kills)
	}
	verifyClean(t, url)
}
