//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
)

// query returns the single value of a query.
func query(t *testing.T, address, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var value string
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// storeValue stores a value in the database, and checkValue checks that it is still there.
func storeValue(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 'x' AS a")
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func checkValue(t *testing.T, address string) {
	t.Helper()
	if got := query(t, address, "SELECT a FROM kept"); got != "x" {
		t.Errorf("stored value = %q", got)
	}
}

// portFree returns an error while the server's port is in use.
func portFree(t *testing.T, address string) error {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", parsed.Host)
	if err != nil {
		return err
	}
	return listener.Close()
}

// processGone returns an error while the process runs. A zombie counts as gone.
func processGone(pid int) error {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) || strings.HasPrefix(string(state), "Z") {
		return nil
	}
	return fmt.Errorf("process %d is in state %q (%w)", pid, state, err)
}

// awaitGone waits until the server's process has ended and its port is free.
func awaitGone(t *testing.T, pid int, address string) {
	t.Helper()
	eventually(t, func() error {
		if err := portFree(t, address); err != nil {
			return err
		}
		return processGone(pid)
	})
}

// mustHaveSettings checks a server in memory that was started with the settings of TestArchiveIsFetchedOnce.
func mustHaveSettings(t *testing.T, server *Server) {
	t.Helper()
	for sql, want := range map[string]string{
		"SHOW work_mem":                                    "5MB",
		"SHOW shared_buffers":                              "1MB",
		"SHOW application_name":                            "it's a=b",
		"SHOW server_encoding":                             "UTF8",
		"SHOW listen_addresses":                            "127.0.0.1",
		"SHOW unix_socket_directories":                     "",
		"SELECT current_user || '@' || current_database()": "postgres@postgres",
	} {
		if got := query(t, server.URL(), sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	if want := query(t, server.URL(), "SHOW server_version"); !strings.HasPrefix(want, server.Version()) || server.Version() == "" {
		t.Errorf("Version is %q, the server says %q", server.Version(), want)
	}
	if !strings.HasPrefix(server.Kind(), "PostgreSQL "+server.Version()+" from /") {
		t.Errorf("Kind is %q", server.Kind())
	}
	home := server.engine.(*programs).home
	if !strings.HasPrefix(home, memoryFolder()) {
		t.Errorf("the data is in %s, want %s", home, memoryFolder())
	}
	mustBePrivate(t, home)
	if conn, err := pgx.Connect(t.Context(), serverURL(server.port, "postgres")); err == nil {
		t.Errorf("another password is accepted, and the connection closed: %v", conn.Close(t.Context()))
	}
}

// mustStopAfterKill kills a server and then stops it.
func mustStopAfterKill(t *testing.T, server *Server) {
	t.Helper()
	pid, address, home := server.PID(), server.URL(), server.engine.(*programs).home
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := server.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	awaitGone(t, pid, address) // its children end with a delay
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s still exists: %v", home, err)
	}
	if server.PID() != 0 {
		t.Errorf("a stopped server has process %d", server.PID())
	}
	if err := server.Restart(t.Context(), false); err == nil {
		t.Error("Restart of a stopped server succeeded")
	}
}

// mustBePrivate checks that only the server's user, never root, has access to the folder.
func mustBePrivate(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner == 0 || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder belongs to user %d with mode %v", owner, info.Mode())
	}
}

// mustRestart checks that the port and the data survive a restart, also after failed attempts to start.
func mustRestart(t *testing.T, server *Server) {
	t.Helper()
	for _, immediate := range []bool{false, true} {
		before, address := server.PID(), server.URL()
		if err := server.Pause(t.Context(), immediate); err != nil {
			t.Fatal(err)
		}
		if err := processGone(before); err != nil {
			t.Error(err)
		}
		if !immediate {
			mustExplainFailedLaunches(t, server.engine.(*programs))
		}
		if err := server.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if server.PID() == before || server.URL() != address {
			t.Errorf("immediate %v: process %d, then %d; %s, then %s", immediate, before, server.PID(), address, server.URL())
		}
		checkValue(t, server.URL())
	}
}

// mustStopInAnyCase checks that neither an open connection nor a cancelled context prevents a stop.
func mustStopInAnyCase(t *testing.T, server *Server) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the server has stopped
	pid, address := server.PID(), server.URL()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ended); err != nil {
		t.Errorf("Stop with a cancelled context: %v", err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection is still alive")
	}
	if err := errors.Join(processGone(pid), portFree(t, address)); err != nil {
		t.Error(err)
	}
}

// mustExplainFailedLaunches makes launches of a paused server fail in several ways, and restores it afterwards.
func mustExplainFailedLaunches(t *testing.T, p *programs) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nobody connects
	port, url, settings := p.port, p.url, p.options.Settings
	p.port = listener.Addr().(*net.TCPAddr).Port
	p.url = serverURL(p.port, "x")
	if _, err := p.launch(t.Context()); !errors.Is(err, errPortTaken) {
		t.Errorf("a server on a taken port: %v", err)
	}
	p.port, p.url = port, url
	p.options.Settings = map[string]string{"no_such_setting": "1"}
	if _, err := p.launch(t.Context()); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a server with an unknown setting: %v", err)
	}
	p.options.Settings = settings
}

// TestKeepGivesUp: a server that cannot be started again is an error, with the reason of its end.
func TestKeepGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reason, broken := errors.New("the disk is full"), errors.New("no space for a lock file")
		server := &Server{started: started{engine: brokenEngine{reason, broken}}, log: func(string, ...any) {}}
		begun, reports := time.Now(), 0
		err := server.Keep(t.Context(), func(error) { reports++ })
		if !errors.Is(err, reason) || !errors.Is(err, broken) || reports != 1 {
			t.Errorf("Keep: %v, %d reports", err, reports)
		}
		if took := time.Since(begun); took < reviveTimeout {
			t.Errorf("it gives up after %v", took)
		}
	})
}

// brokenEngine is a server that has ended and cannot be started again.
type brokenEngine struct{ ended, broken error }

func (brokenEngine) pid() int                           { return 0 }
func (brokenEngine) pause(context.Context, bool) error  { return nil }
func (e brokenEngine) resume(context.Context) error     { return e.broken }
func (brokenEngine) stop(context.Context) error         { return nil }
func (e brokenEngine) checkAlive(context.Context) error { return e.ended }

func TestStartEndsWithContext(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	cause := errors.New("somebody pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Start(ctx, Options{Log: func(string) { cancel(cause) }})
	if !errors.Is(err, cause) {
		t.Errorf("Start: %v", err)
	}
}

func TestDataOfAnotherVersionIsNotTouched(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := publicFolder(t)
	if err := errors.Join(mark(folder), os.Mkdir(filepath.Join(folder, "data"), 0o700)); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(folder, "data", "PG_VERSION")
	if err := os.WriteFile(version, []byte("9.6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{DataDir: folder, Sources: []Source{Programs}})
	for _, part := range []string{"install PostgreSQL 9.6", folder, "cannot read data of version 9.6"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Start does not say %q: %v", part, err)
		}
	}
	if content, err := os.ReadFile(version); err != nil || string(content) != "9.6\n" {
		t.Errorf("the data was changed: %q, %v", content, err)
	}
}

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

// mustUse checks that Use finds the server of the folder, or starts one if want is "".
func mustUse(t *testing.T, folder, want string) {
	t.Helper()
	address, release, err := Use(t.Context(), Options{DataDir: folder, Sources: []Source{Programs}})
	if err != nil {
		t.Fatal(err)
	}
	if checkValue(t, address); want != "" && address != want {
		t.Errorf("the server that runs is %s, but %s is used", want, address)
	}
	if err := release(t.Context()); err != nil {
		t.Error(err)
	}
}

// mustKeep checks that a server is started again after SIGKILL, with its data and at the same URL.
func mustKeep(t *testing.T, server *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	kept, reasons := make(chan error, 1), make(chan error, 1)
	go func() { kept <- server.Keep(ctx, func(reason error) { reasons <- reason }) }()
	if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if reason := <-reasons; !strings.Contains(reason.Error(), "the server ended") {
		t.Errorf("the reason is %v", reason)
	}
	server.PID() // waits until it is started again
	checkValue(t, server.URL())
	stop()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}

// TestNamedFolder uses one data folder from two processes. The first has no privileges; the test uses its server, but cannot start
// another one. When the first is killed, its server ends, and the data stays. The server of the test then waits for that end, finds the
// data and runs as its owner. When it is killed, it is started again.
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
	mustUse(t, folder, ready.URL)
	h.kill()
	mustUse(t, folder, "")
	server := start(t, Options{DataDir: folder, Sources: []Source{Programs}, Settings: map[string]string{"fsync": "off", "shared_buffers": "1MB"}})
	checkValue(t, server.URL())
	mustRestart(t, server)
	mustKeep(t, server)
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
