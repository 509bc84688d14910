//go:build unix

package pgtemp

import (
	"fmt"
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

// asUser makes the helper run without privileges if the test runs as root. It copies the test binary to a folder that the
// other user can read.
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
	// Let another process write the file: this one may fork while it holds the file open for writing, and a child that
	// inherits the open file would prevent its execution.
	cmd := exec.Command("/bin/sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", to)
	cmd.Stdin = io.Reader(source)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copy the test binary: %v: %s", err, output)
	}
}

// without returns the environment without the named variables.
func without(environment []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

// TestHostileEnvironment starts a server in the worst circumstances: the process has nothing but apt, and as root its umask
// lets other users read nothing. Ctrl-C and a service manager signal its whole process group: the server must run until the process
// ends, and nothing must remain of it afterwards.
func TestHostileEnvironment(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	closed, public := publicFolder(t), publicFolder(t)
	inside := filepath.Join(closed, "tmp")
	if err := os.Mkdir(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	temporary, umask := inside, 0o777
	if os.Geteuid() != 0 {
		temporary, umask = "/nonexistent/tmp", 0o077 // the server runs as this same user
	}
	putApt(t, public)
	cache := filepath.Join(public, "cache")
	h := startHelper(t, order{Ways: []Source{Packages}, Cache: cache, NoFolders: true, Umask: umask}, func(cmd *exec.Cmd) {
		cmd.Dir = inside
		cmd.Env = append(without(cmd.Env, "HOME", "PATH"), "PATH="+public+":"+os.Getenv("PATH"),
			"TMPDIR="+temporary, "LANG=xx_XX.UTF-8", "LC_ALL=xx_XX.UTF-8",
			"PGDATA=/nonexistent", "PGHOST=/nonexistent", "PGPORT=1", "PGUSER=nobody", "PGDATABASE=none",
			"PGPASSWORD=wrong", "PGSSLMODE=require", "PGCLIENTENCODING=LATIN1", "PGTZ=Asia/Tokyo", "PGDATESTYLE=German",
			"PGOPTIONS=-c no_such_setting=1", "PG_COLOR=always")
		if os.Geteuid() != 0 {
			return
		}
		// Root can enter the folder, the server's user cannot.
		if err := os.Chmod(closed, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	ready := h.await("ready", "")
	if !strings.Contains(ready.Kind, "cache/packages-postgresql/usr/lib/postgresql/15/bin") {
		t.Errorf("Kind is %q", ready.Kind)
	}
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
	mustHavePackages(t, cache)

	if group, err := syscall.Getpgid(ready.PID); err != nil || group == h.cmd.Process.Pid {
		t.Errorf("the server is in process group %d (%v), which is that of the process that started it", group, err)
	}
	const begun = "SELECT pg_postmaster_start_time()::text"
	started := query(t, ready.URL, begun)
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if again := query(t, ready.URL, begun); again != started {
		t.Errorf("the server was started at %s, then at %s", started, again)
	}
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGTERM); err != nil { // ends the process, not the watcher
		t.Fatal(err)
	}
	awaitGone(t, ready.PID, ready.URL)
	eventually(t, func() error {
		if _, err := os.Stat(filepath.Dir(data)); !os.IsNotExist(err) {
			return fmt.Errorf("the folder of %s still exists: %w", data, err)
		}
		return empty(inside)
	})
}

// TestNamedFolder uses one data folder from two processes. The first has no privileges; the test cannot start another server. When the
// first is killed, its server ends, and the data stays. The server of the test then waits for that end, finds the data and runs as its
// owner.
func TestNamedFolder(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	public := publicFolder(t)
	become := asUser(t, public)
	folder := filepath.Join(public, "a b", "data dir")
	if err := os.Mkdir(filepath.Dir(folder), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(folder), 0o777); err != nil {
		t.Fatal(err)
	}
	h := startHelper(t, order{Ways: []Source{Programs}, DataDir: folder}, func(cmd *exec.Cmd) {
		cmd.Env = append(without(cmd.Env, "HOME"), "TMPDIR=/tmp")
		become(cmd)
	})
	ready := h.await("ready", "")
	storeValue(t, ready.URL)
	inUse := fmt.Sprintf("process %d is using it", h.cmd.Process.Pid)
	if _, err := Start(t.Context(), Options{DataDir: folder}); err == nil || !strings.Contains(err.Error(), inUse) {
		t.Errorf("a second server on the same folder: %v", err)
	}
	h.kill()
	server := start(t, Options{DataDir: folder, Sources: []Source{Programs}, Settings: map[string]string{"fsync": "off", "shared_buffers": "1MB"}})
	checkValue(t, server.URL())
	mustRestart(t, server)
	mustStopInAnyCase(t, server)
	if _, err := os.Stat(filepath.Join(folder, "port")); !os.IsNotExist(err) {
		t.Errorf("the port of a server that was stopped is still there: %v", err)
	}
	mustBePrivate(t, filepath.Join(folder, "data"))
}

func TestNoWayWorks(t *testing.T) {
	t.Parallel()
	cache := publicFolder(t)
	h := startHelper(t, order{NoFolders: true, Cache: cache, Archive: "http://127.0.0.1:1/postgres.jar"}, func(cmd *exec.Cmd) {
		cmd.Env = append(without(cmd.Env, "PATH"), "PATH="+publicFolder(t))
	})
	sentence := h.await("failed", "").Text
	t.Log(sentence)
	for _, part := range []string{
		"install PostgreSQL 15 or newer", "start Docker", "programs: none", "docker: the docker command is not in PATH",
		"archive: fetch http://127.0.0.1:1/postgres.jar", "connection refused", "packages: the apt-get command is not in PATH",
	} {
		if !strings.Contains(sentence, part) {
			t.Errorf("the error does not contain %q", part)
		}
	}
	if strings.Contains(sentence, "\n") || len(sentence) > 700 {
		t.Errorf("the error is not one sentence: %d characters", len(sentence))
	}
	if err := empty(cache); err != nil {
		t.Error(err)
	}
}
