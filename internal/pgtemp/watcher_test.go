//go:build unix

package pgtemp

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

func inFolder(folder string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "TMPDIR="+folder) }
}

// TestKilledDuringStart kills the process when the start has got as far as making a certain file.
func TestKilledDuringStart(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	for _, file := range []string{"", "data.new/PG_VERSION", "log", "data/postmaster.pid"} {
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

// TestNamedFolderKeepsData shows that a folder serves one process at a time, and that when that is killed its server goes
// and the data stays.
func TestNamedFolderKeepsData(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := filepath.Join(publicFolder(t), "a b", "data dir")
	h := startHelper(t, order{DataDir: folder, Ways: []Way{Programs}}, nil)
	ready := h.await("ready", "")
	keep(t, ready.URL)
	if _, err := Start(t.Context(), Options{DataDir: folder}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second server on the same folder: %v", err)
	}
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
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner == 0 || info.Mode().Perm() != 0o700 {
		t.Errorf("the data belongs to user %d with mode %v", owner, info.Mode())
	}
}

// TestInterruptStaysWithTheProcess sends what Ctrl-C and a closed terminal send: a signal to the whole group. It also
// shows that nothing stays of a server whose process had no chance to clean up.
func TestInterruptStaysWithTheProcess(t *testing.T) {
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
