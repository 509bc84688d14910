//go:build unix

package pgtemp

import (
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asUser makes the helper run without privileges, when the test has any to give up. The test binary is copied to
// where that user can read it.
func asUser(t *testing.T, folder string) func(*exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		return func(*exec.Cmd) {}
	}
	account, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "helper")
	copyFile(t, os.Args[0], program)
	return func(cmd *exec.Cmd) {
		cmd.Path = program
		cmd.Dir = "/"
		cmd.Env = append(cmd.Env, "GOCOVERDIR=")
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close() //nolint:errcheck // only read
	// Written by another process: this one may fork while it holds the file open for writing, and the heir would
	// keep the copy from being executed.
	cmd := exec.Command("/bin/sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", to)
	cmd.Stdin = io.Reader(source)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copy the test binary: %v: %s", err, output)
	}
}

// without is an environment in which these variables are not set.
func without(environment []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

func TestRunsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	become := asUser(t, publicFolder(t))
	h := startHelper(t, order{Ways: []Way{Programs}}, func(cmd *exec.Cmd) {
		cmd.Env = append(without(cmd.Env, "HOME"), "TMPDIR=/tmp")
		become(cmd)
	})
	ready := h.await("ready", "")
	query(t, ready.URL, "SELECT 'x'")
	h.stop()
	gone(t, ready.PID, ready.URL)
}

// TestHostileEnvironment starts a server from a process whose every circumstance is against it.
func TestHostileEnvironment(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	closed := publicFolder(t)
	inside := filepath.Join(closed, "tmp")
	if err := os.Mkdir(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	temporary := inside
	if os.Geteuid() != 0 {
		temporary = "/nonexistent/tmp" // nothing that this user makes is closed to the server
	}
	h := startHelper(t, order{Ways: []Way{Programs}, Umask: 0o777}, func(cmd *exec.Cmd) {
		cmd.Dir = inside
		cmd.Env = append(without(cmd.Env, "HOME"), "TMPDIR="+temporary, "LANG=xx_XX.UTF-8", "LC_ALL=xx_XX.UTF-8",
			"PGDATA=/nonexistent", "PGHOST=/nonexistent", "PGPORT=1", "PGUSER=nobody", "PGDATABASE=none",
			"PGPASSWORD=wrong", "PGSSLMODE=require", "PGCLIENTENCODING=LATIN1", "PGTZ=Asia/Tokyo", "PGDATESTYLE=German",
			"PGOPTIONS=-c no_such_setting=1", "PG_COLOR=always")
		if os.Geteuid() != 0 {
			return
		}
		// Root can enter it, the server's user cannot.
		if err := os.Chmod(closed, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	ready := h.await("ready", "")
	for sql, want := range map[string]string{
		"SHOW timezone":        "UTC",
		"SHOW server_encoding": "UTF8",
		"SHOW lc_messages":     "C",
	} {
		if got := query(t, ready.URL, sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	data := query(t, ready.URL, "SHOW data_directory")
	if os.Geteuid() == 0 && strings.HasPrefix(data, closed) {
		t.Errorf("the data is in %s, which the server cannot reach", data)
	}
	h.stop()
	gone(t, ready.PID, ready.URL)
	if err := empty(inside); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(data)); !os.IsNotExist(err) {
		t.Errorf("the folder of %s is still there: %v", data, err)
	}
}

func TestNothingToBeHad(t *testing.T) {
	t.Parallel()
	cache := publicFolder(t)
	h := startHelper(t, order{NoFolders: true, Cache: cache, Repository: "http://127.0.0.1:1"}, func(cmd *exec.Cmd) {
		cmd.Env = append(without(cmd.Env, "PATH"), "PATH="+publicFolder(t))
	})
	sentence := h.await("failed", "").Text
	t.Log(sentence)
	for _, part := range []string{
		"install PostgreSQL 15 or newer", "start Docker", "programs: none", "docker: the docker command is not in PATH",
		"archive: fetch http://127.0.0.1:1/", "connection refused", "packages: the apt-get command is not in PATH",
	} {
		if !strings.Contains(sentence, part) {
			t.Errorf("the sentence does not say %q", part)
		}
	}
	if strings.Contains(sentence, "\n") || len(sentence) > 700 {
		t.Errorf("the sentence is no sentence: %d characters", len(sentence))
	}
	if err := empty(cache); err != nil {
		t.Error(err)
	}
}
