//go:build unix

package pgtemp

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAtExitRunsWhenTheProcessHasEnded(t *testing.T) {
	t.Parallel()
	folder := publicFolder(t)
	permission, done := filepath.Join(folder, "permission"), filepath.Join(folder, "d o n e")
	h := startHelper(t, order{Script: []string{
		`while [ ! -e "$1" ]; do sleep 0.05; done; : >"$2"`, permission, done,
	}}, nil)
	// The script cannot end before it is permitted to. A watcher with the standard output in hand would keep a
	// "| cat" behind the program waiting, and this as well.
	h.drain()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("the helper ended with %v", err)
	}
	if err := os.WriteFile(permission, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { _, err := os.Stat(done); return err })
}

func TestWatcherTellAndDismiss(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	told, err := AtExit(`printf %s "$state" >"$1"`, mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"first", `second \n * one`} {
		if err := told.Tell(state); err != nil {
			t.Fatal(err)
		}
	}
	if err := told.Tell("two\nlines"); err == nil {
		t.Error("a state of two lines is taken")
	}
	// Closing the pipe is what the end of the process does.
	if err := syscall.Close(told.pipe); err != nil {
		t.Fatal(err)
	}
	if _, err := waitFor(told.pid, 0); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(mark); err != nil || string(content) != `second \n * one` {
		t.Errorf("the script found %q, %v", content, err)
	}

	dismissed, err := AtExit(`rm -f "$1"`, mark)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := dismissed.Dismiss(); err != nil {
			t.Fatal(err)
		}
	}
	if err := dismissed.Tell("late"); err == nil {
		t.Error("a dismissed watcher can be told")
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the script of a dismissed watcher ran: %v", err)
	}
}

// TestKilledAfterStart is the promise of the package: nothing stays, although nobody had a chance to clean up.
func TestKilledAfterStart(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := publicFolder(t)
	h := startHelper(t, order{Ways: []Way{Programs}}, inFolder(folder))
	ready := h.await("ready", "")
	if err := empty(folder); err == nil {
		t.Fatal("the server is not where the test looks for it")
	}
	h.kill()
	gone(t, ready.PID, ready.URL)
	eventually(t, func() error { return empty(folder) })
}

func inFolder(folder string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "TMPDIR="+folder) }
}

// TestKilledDuringStart kills the process when the start has got as far as making a certain file.
func TestKilledDuringStart(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	for _, file := range []string{"", "password", "data.new", "data.new/PG_VERSION", "data", "log", "data/postmaster.pid"} {
		t.Run("at "+file, func(t *testing.T) {
			t.Parallel()
			folder := publicFolder(t)
			h := startHelper(t, order{Ways: []Way{Programs}}, inFolder(folder))
			eventually(t, func() error {
				found, err := filepath.Glob(filepath.Join(folder, "elobot-postgres-*", file))
				if err == nil && len(found) == 0 {
					err = os.ErrNotExist
				}
				return err
			})
			h.kill()
			eventually(t, func() error { return errors.Join(empty(folder), noProcessNames(folder)) })
		})
	}
}

// noProcessNames is an error while a process has the folder in its arguments: initdb, the server, a watcher.
func noProcessNames(folder string) error {
	output, err := exec.Command("ps", "-axww", "-o", "pid=,args=").Output()
	if err != nil {
		return err
	}
	return containsNone(string(output), folder)
}

// TestKilledWithNamedFolder shows that the server goes, that its data stays, and that the folder can be used again.
func TestKilledWithNamedFolder(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := filepath.Join(publicFolder(t), "named")
	h := startHelper(t, order{DataDir: folder, Ways: []Way{Programs}}, nil)
	ready := h.await("ready", "")
	keep(t, ready.URL)
	h.kill()
	gone(t, ready.PID, ready.URL)
	eventually(t, func() error {
		named, err := openFolder(folder)
		if err != nil {
			return err
		}
		return named.close()
	})
	server := start(t, Options{DataDir: folder, Ways: []Way{Programs}})
	kept(t, server.URL())
}

// TestInterruptStaysWithTheProcess sends what Ctrl-C and a closed terminal send: a signal to the whole group.
func TestInterruptStaysWithTheProcess(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := publicFolder(t)
	h := startHelper(t, order{Ways: []Way{Programs}}, inFolder(folder))
	ready := h.await("ready", "")
	if group, err := syscall.Getpgid(ready.PID); err != nil || group == h.cmd.Process.Pid {
		t.Errorf("the server is in the process group %d (%v), as whoever started it", group, err)
	}
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	h.await("interrupted", "")
	started := query(t, ready.URL, "SELECT pg_postmaster_start_time()::text")
	if again := query(t, ready.URL, "SELECT pg_postmaster_start_time()::text"); again != started {
		t.Errorf("the server was started at %s, then at %s", started, again)
	}
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGHUP); err != nil { // ends the process, not the watcher
		t.Fatal(err)
	}
	gone(t, ready.PID, ready.URL)
	eventually(t, func() error { return empty(folder) })
}
