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

func TestAtExitRunsAfterProcessEnd(t *testing.T) {
	t.Parallel()
	folder := publicFolder(t)
	permission, done := filepath.Join(folder, "permission"), filepath.Join(folder, "d o n e")
	h := startHelper(t, order{Script: []string{
		`while [ ! -e "$1" ]; do sleep 0.05; done; : >"$2"`, permission, done,
	}}, nil)
	// The script cannot end yet. A watcher that held the standard output would block a "| cat" after the program, and
	// this wait as well.
	h.drain()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("the helper ended with %v", err)
	}
	must(t, os.WriteFile(permission, nil, 0o600))
	eventually(t, func() error { _, err := os.Stat(done); return err })
}

func TestWatcherReportAndDismiss(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	watcher, err := AtExit(`printf %s "$state" >"$1"`, mark)
	must(t, err)
	dismissed, err := AtExit(`rm -f "$1"`, mark)
	must(t, err)
	must(t, watcher.Report("first"))
	must(t, watcher.Report(`second \n * one`))
	must(t, watcher.pipe.Close()) // as the end of the process does
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

// slowPrograms do their work but do not end. initdb does not end if there is a file "slow" next to it.
var slowPrograms = map[string]string{
	"initdb": `for option; do case $option in --pgdata=*) data=${option#*=} ;; esac; done
	: >"$data/PG_VERSION"
	[ ! -e "${0%/*}/slow" ] || sleep 1000
	exit`,
	"postgres": `[ "$1" = --version ] && exec echo 'postgres (PostgreSQL) 17.0'
	: >"$2/postmaster.pid"
	sleep 1000
	exit`,
}

// mustGoOn starts a server on a folder whose first start was killed.
func mustGoOn(t *testing.T, folder string) {
	t.Helper()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{DataDir: folder, Sources: []Source{Programs}, Settings: map[string]string{"fsync": "off"}})
	storeValue(t, server.URL())
	mustBePrivate(t, filepath.Join(folder, "data"))
}

// TestWatcherIsKilled: a server whose watcher was killed can be restarted and stopped, and leaves nothing.
func TestWatcherIsKilled(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{Sources: []Source{Programs}})
	p := server.engine.(*programs)
	must(t, p.watcher.process.Kill())
	must(t, errors.Join(server.Pause(t.Context(), true), server.Resume(t.Context())))
	must(t, server.Stop(t.Context()))
	if _, err := os.Stat(p.home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s still exists: %v", p.home, err)
	}
}

// TestKilledDuringStart kills the process as soon as the start has made a certain file. Nothing must remain except a named folder, on
// which the next start goes on.
func TestKilledDuringStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file        string
		slow, named bool
	}{
		"before initdb": {}, "while initdb runs": {file: "data.new/PG_VERSION", slow: true},
		"before the server": {file: "log"}, "while the server starts": {file: "data/postmaster.pid"},
		"on a named folder": {file: "data.new/PG_VERSION", slow: true, named: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, programs := publicFolder(t), publicFolder(t)
			for name, script := range slowPrograms {
				putScript(t, filepath.Join(programs, name), "#!/bin/sh -e\n"+script)
			}
			if tc.slow {
				putScript(t, filepath.Join(programs, "slow"), "")
			}
			o := order{Ways: []Source{Programs}}
			home := filepath.Join(folder, "elobot-postgres-*")
			if tc.named {
				home = filepath.Join(folder, "named")
				o.DataDir = home
			}
			h := startHelper(t, o, func(cmd *exec.Cmd) {
				cmd.Env = append(without(cmd.Env, "PATH", "TMPDIR"), "PATH="+programs+":"+os.Getenv("PATH"), "TMPDIR="+folder)
			})
			eventually(t, func() error {
				found, err := filepath.Glob(filepath.Join(home, tc.file))
				if err == nil && len(found) == 0 {
					err = os.ErrNotExist
				}
				return err
			})
			h.kill()
			eventually(t, func() error { return noProcessWith(t, folder) })
			if tc.named {
				mustGoOn(t, home)
				return
			}
			eventually(t, func() error { return empty(folder) })
		})
	}
}

// noProcessWith returns an error while a process has the text in its arguments: initdb, the server, a watcher.
func noProcessWith(t *testing.T, text string) error {
	t.Helper()
	if left := processesWith(t, text); len(left) > 0 {
		return fmt.Errorf("there are still %d processes with %s", left, text)
	}
	return nil
}

func processesWith(t *testing.T, text string) (pids []int) {
	t.Helper()
	output, err := exec.Command("ps", "-axww", "-o", "pid=,args=").Output()
	must(t, err)
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, text) {
			var pid int
			_, err := fmt.Sscan(line, &pid)
			must(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}
