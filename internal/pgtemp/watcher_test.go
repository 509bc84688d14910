//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatcher checks that, once the pipe is closed, the script runs with its arguments and the last
// state, unless the watcher was dismissed. The script's output goes to /dev/null: if the script
// held this process's output open, a pipeline such as "elobot | cat" would not end before the
// watcher does.
func TestWatcher(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "m a r k")
	watcher, err := AtExit(
		`[ /dev/stdout -ef /dev/null ] && [ /dev/stderr -ef /dev/null ] && printf %s "$state" >"$1"`, mark)
	must(t, err)
	dismissed, err := AtExit(`rm -f "$1"`, mark)
	must(t, err)
	must(t, watcher.Report("first"))
	must(t, watcher.Report(`second \n * one`))
	must(t, watcher.pipe.Close()) // as happens when the process ends
	_, err = watcher.process.Wait()
	must(t, err)
	must(t, errors.Join(dismissed.Dismiss(), dismissed.Dismiss()))
	if content, err := os.ReadFile(mark); err != nil || string(content) != `second \n * one` {
		t.Errorf("the script found %q, %v", content, err)
	}
	if err := dismissed.Report("late"); err == nil {
		t.Error("Report succeeded on a dismissed watcher")
	}
}

// slowPrograms are scripts that stand in for the programs of a start. They outlast the test, except
// for postgres --version, and for initdb if there is no file named slow next to it.
var slowPrograms = map[string]string{
	"initdb": `for option; do case $option in --pgdata=*) data=${option#*=} ;; esac; done
	: >"$data/PG_VERSION"
	[ ! -e "${0%/*}/slow" ] || sleep 1000
	exit`,
	"postgres": `[ "$1" = --version ] && exec echo 'postgres (PostgreSQL) 17.0'
	: >"$2/postmaster.pid"
	sleep 1000
	exit`,
	"apt-get": `: >begun
	sleep 1000
	exit`,
}

// TestKilledDuringStart checks that, if a process is killed at any stage of a start, nothing
// remains except a named folder, which the next start can use.
func TestKilledDuringStart(t *testing.T) {
	t.Parallel()
	const temporary = "elobot-postgres-*/"
	for name, tc := range map[string]struct {
		file        string
		way         Source
		slow, named bool
	}{
		"before initdb":           {file: temporary, way: Programs},
		"while initdb runs":       {file: temporary + "data.new/PG_VERSION", way: Programs, slow: true},
		"before the server":       {file: temporary + "log", way: Programs},
		"while the server starts": {file: temporary + "data/postmaster.pid", way: Programs},
		"while apt-get runs":      {file: "new-*/apt/begun", way: Packages},
		"on a named folder":       {file: "named/data.new/PG_VERSION", way: Programs, slow: true, named: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, programs := publicFolder(t), publicFolder(t)
			putScripts(t, programs, slowPrograms)
			if tc.slow {
				fill(t, programs, "slow")
			}
			named := ""
			if tc.named {
				named = filepath.Join(folder, "named")
			}
			h := startHelper(t, tc.way, named, folder, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "PATH="+programs+":"+os.Getenv("PATH"), "TMPDIR="+folder)
			})
			eventually(t, func() error {
				if found, err := filepath.Glob(filepath.Join(folder, tc.file)); err != nil || len(found) == 0 {
					return fmt.Errorf("there is no %s, %w", tc.file, err)
				}
				return nil
			})
			h.kill()
			eventually(t, func() error { return noProcessWith(t, folder) })
			if !tc.named {
				eventually(t, func() error { return empty(folder) })
			} else if machinePrograms(t) != "" {
				start(t, Options{DataDir: named, Sources: []Source{Programs}, Settings: map[string]string{"fsync": "off"}})
			}
		})
	}
}

// noProcessWith returns an error if a process, such as initdb, the server or a watcher, has the
// text in its arguments.
func noProcessWith(t *testing.T, text string) error {
	t.Helper()
	output, err := exec.Command("ps", "-axww", "-o", "args=").Output()
	must(t, err)
	if strings.Contains(string(output), text) {
		return fmt.Errorf("there is still a process with %s", text)
	}
	return nil
}
