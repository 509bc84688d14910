//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// query runs SQL and returns the first value of the last statement's result.
func query(t *testing.T, address, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // it has answered
	results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	must(t, err)
	return string(results[len(results)-1].Rows[0][0])
}

// checkValue checks that the value stored by TestNamedFolder is still there.
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
	must(t, err)
	listener, err := net.Listen("tcp", parsed.Host)
	if err != nil {
		return err
	}
	return listener.Close()
}

// awaitGone waits until the server's process has ended, or is a zombie, and its port is free.
func awaitGone(t *testing.T, pid int, address string) {
	t.Helper()
	eventually(t, func() error {
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err == nil && !strings.HasPrefix(string(state), "Z") {
			return fmt.Errorf("process %d is in state %q", pid, state)
		}
		return portFree(t, address)
	})
}

// mustHaveSettings checks that the server in TestArchiveIsFetchedOnce has the expected settings and
// access rules.
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
	version, _, _ := strings.Cut(query(t, server.URL(), "SHOW server_version"), " ")
	if !strings.HasPrefix(server.Kind(), "PostgreSQL "+version+" from /") {
		t.Errorf("Kind is %q", server.Kind())
	}
	p := server.engine.(*programs)
	mustBePrivate(t, p.path)
	if _, err := askVersion(t.Context(), serverURL(p.port, "postgres"), testTimeout); err == nil {
		t.Error("another password is accepted")
	}
}

// mustStopAfterKill kills a server and then stops it twice. Nothing must remain of the server, and
// it must not be resumed.
func mustStopAfterKill(t *testing.T, server *Server) {
	t.Helper()
	pid, address, home := server.PID(), server.URL(), server.engine.(*programs).path
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	must(t, errors.Join(server.Stop(t.Context()), server.Stop(t.Context())))
	awaitGone(t, pid, address) // its children end with a delay
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s still exists: %v", home, err)
	}
	if err := server.Resume(t.Context()); err == nil || server.PID() != 0 {
		t.Errorf("a server that was stopped has process %d, and is resumed: %v", server.PID(), err)
	}
}

// mustBePrivate checks that the folder does not belong to root, and that its mode gives access only
// to its owner.
func mustBePrivate(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	must(t, err)
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner == 0 || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder belongs to user %d with mode %v", owner, info.Mode())
	}
}

// mustRestart checks that the port and the data survive a restart, even after failed attempts to
// start and without a watcher.
func mustRestart(t *testing.T, server *Server) {
	t.Helper()
	must(t, server.engine.(*programs).watcher.process.Kill())
	for _, immediate := range []bool{false, true} {
		before, address := server.PID(), server.URL()
		must(t, server.Pause(t.Context(), immediate))
		awaitGone(t, before, address)
		if !immediate {
			mustExplainFailedLaunches(t, server.engine.(*programs))
		}
		must(t, server.Resume(t.Context()))
		if server.PID() == before || server.URL() != address {
			t.Errorf("immediate %v: process %d, then %d; %s, then %s", immediate, before, server.PID(), address, server.URL())
		}
		checkValue(t, server.URL())
	}
}

// mustStopInAnyCase checks that neither an open connection nor a canceled context prevents a stop.
func mustStopInAnyCase(t *testing.T, server *Server) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	must(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // the server has stopped
	pid, address := server.PID(), server.URL()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, server.Stop(ended))
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection is still alive")
	}
	awaitGone(t, pid, address)
}

// mustExplainFailedLaunches makes launches of a paused server fail in several ways, and checks the
// errors.
func mustExplainFailedLaunches(t *testing.T, p *programs) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close() //nolint:errcheck // nobody connects
	taken := *p
	taken.port = listener.Addr().(*net.TCPAddr).Port
	taken.url = serverURL(taken.port, "x")
	if err := taken.launch(t.Context()); !errors.Is(err, errPortTaken) {
		t.Errorf("a server on a taken port: %v", err)
	}
	wrong := *p
	wrong.options.Settings = map[string]string{"no_such_setting": "1"}
	if err := wrong.launch(t.Context()); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a server with an unknown setting: %v", err)
	}
}

// TestKeepGivesUp checks that, if all attempts to restart the server fail for reviveTimeout, Keep
// returns an error that tells why the server ended, and why it cannot be restarted.
func TestKeepGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reason, broken := errors.New("the disk is full"), errors.New("no space for a lock file")
		server := &Server{engine: brokenEngine{ended: reason, broken: broken}}
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

// brokenEngine is a server that has ended and cannot be restarted.
type brokenEngine struct {
	engine
	ended, broken error
}

func (e brokenEngine) resume(context.Context) error { return e.broken }
func (e brokenEngine) checkAlive() error            { return e.ended }

func TestStartEndsWithContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("somebody pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Start(ctx, Options{Log: func(string) { cancel(cause) }})
	if !errors.Is(err, cause) {
		t.Errorf("Start: %v", err)
	}
}

func TestDataOfAnotherVersionIsNotTouched(t *testing.T) {
	t.Parallel()
	programs, folder := publicFolder(t), publicFolder(t)
	putPrograms(t, programs, "17.1")
	fill(t, folder, MarkerName, "data/PG_VERSION")
	version := filepath.Join(folder, "data", "PG_VERSION")
	must(t, os.WriteFile(version, []byte("9.6\n"), 0o600))
	before := listing(t, folder+"/data")
	_, err := Start(t.Context(), Options{
		DataDir: folder, Sources: []Source{Programs, Docker, Archive}, programFolders: []string{programs}, cache: t.TempDir(),
	})
	for _, part := range []string{
		"install PostgreSQL 9.6", folder, "a container keeps no data",
		"17.1 in " + programs + " cannot read data of version 9.6", archiveVersion + " cannot read data of version 9.6",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Start does not say %q: %v", part, err)
		}
	}
	if diff := cmp.Diff(before, listing(t, folder+"/data")); diff != "" {
		t.Errorf("the data was changed (-before +after):\n%s", diff)
	}
}

// becomeNobody makes cmd run this test binary as the user nobody, if the test runs as root.
func becomeNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	nobody, err := lookUp("nobody")
	must(t, errors.Join(err, os.Chmod(cmd.Path, 0o755))) //nolint:gosec // a program
	cmd.Path = "/proc/self/exe"                          // needs no access to its folder
	cmd.Dir = "/"
	cmd.SysProcAttr.Credential = nobody
}

// TestHostileEnvironment checks that a server from packages starts in a process whose environment
// variables are wrong for it, and whose umask denies other users everything. A signal to the whole
// process group, as from Ctrl-C or a service manager, does not end the server before the process
// ends. Nothing remains of the server afterward.
func TestHostileEnvironment(t *testing.T) {
	t.Parallel()
	machine := machinePrograms(t)
	if machine == "" {
		return
	}
	closed, cache := publicFolder(t), filepath.Join(publicFolder(t), "cache")
	inside := filepath.Join(closed, "tmp")
	must(t, os.Mkdir(inside, 0o777)) //nolint:gosec // others cannot enter the folder around it
	temporary := "/nonexistent/tmp"
	if os.Geteuid() == 0 { // root can enter the folder, the server's user cannot
		temporary = inside
		must(t, os.Chmod(closed, 0o700)) //nolint:gosec // a folder
	}
	apt, err := filepath.Abs("testdata/apt")
	must(t, err)
	h := startHelper(t, Packages, "", cache, func(cmd *exec.Cmd) {
		cmd.Dir = inside
		cmd.Env = append(cmd.Env, "HOME=", "MACHINE="+machine, "PATH="+apt+":"+os.Getenv("PATH"),
			"TMPDIR="+temporary, "LANG=xx_XX.UTF-8", "LC_ALL=xx_XX.UTF-8",
			"PGDATA=/nonexistent", "PGHOST=/nonexistent", "PGPORT=1", "PGUSER=nobody", "PGDATABASE=none",
			"PGPASSWORD=wrong", "PGSSLMODE=require", "PGCLIENTENCODING=LATIN1", "PGTZ=Asia/Tokyo", "PGDATESTYLE=German",
			"PGOPTIONS=-c no_such_setting=1", "PG_COLOR=always")
	})
	pid, address := h.awaitServer()
	const state = `SELECT concat_ws(' ', current_setting('timezone'), current_setting('server_encoding'),
		current_setting('lc_messages'), pg_postmaster_start_time())`
	began := query(t, address, state)
	if !strings.HasPrefix(began, "UTC UTF8 C ") {
		t.Errorf("the server is not as it should be: %s", began)
	}
	data := query(t, address, "SHOW data_directory")
	if os.Geteuid() == 0 && strings.HasPrefix(data, closed) {
		t.Errorf("the data is in %s, which the server cannot reach", data)
	}
	mustHavePackages(t, cache)

	group := h.cmd.Process.Pid
	must(t, syscall.Kill(-group, syscall.SIGINT))
	if now := query(t, address, state); now != began {
		t.Errorf("the server was %s and is %s", began, now)
	}
	must(t, syscall.Kill(-group, syscall.SIGTERM)) // ends the process, not the watcher
	awaitGone(t, pid, address)
	eventually(t, func() error {
		if _, err := os.Stat(filepath.Dir(data)); !os.IsNotExist(err) {
			return fmt.Errorf("the folder of %s still exists: %w", data, err)
		}
		return empty(inside)
	})
}

// TestNamedFolder checks that two processes can use one data folder one after the other. When the
// first process, which has no privileges, is killed, its server ends and the data stays. The next
// server waits for the first one to end, and keeps its data.
func TestNamedFolder(t *testing.T) {
	t.Parallel()
	if machinePrograms(t) == "" {
		return
	}
	folder := filepath.Join(publicFolder(t), "a b", "data dir")
	must(t, os.Mkdir(filepath.Dir(folder), 0o777)) //nolint:gosec // another user makes the data folder
	must(t, os.Chmod(filepath.Dir(folder), 0o777)) //nolint:gosec // the same
	h := startHelper(t, Programs, folder, "", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "HOME=", "TMPDIR=/tmp")
		becomeNobody(t, cmd)
	})
	_, address := h.awaitServer()
	query(t, address, "CREATE TABLE kept AS SELECT 'x' AS a; SELECT a FROM kept")
	h.kill()
	o := Options{DataDir: folder, Sources: []Source{Programs},
		Settings: map[string]string{"fsync": "off", "shared_buffers": "1MB"}}
	server := start(t, o)
	used, release, err := Use(t.Context(), o)
	must(t, errors.Join(err, release(t.Context())))
	checkValue(t, used)
	mustRestart(t, server)
	mustStopInAnyCase(t, server)
	mustBePrivate(t, filepath.Join(folder, "data"))
}

func TestNoWayWorks(t *testing.T) {
	t.Setenv("PATH", publicFolder(t))
	cache := publicFolder(t)
	_, err := Start(t.Context(), Options{programFolders: []string{}, cache: cache,
		archive: &archive{address: "http://127.0.0.1:1/postgres.jar", timeout: testTimeout}})
	for _, part := range []string{
		"install PostgreSQL 15 or newer", "start Docker", "programs: none", "docker: the docker command is not in PATH",
		"archive: fetch http://127.0.0.1:1/postgres.jar", "connection refused", `"apt-cache": executable file not found`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not contain %q: %v", part, err)
		}
	}
	if sentence := fmt.Sprint(err); strings.Contains(sentence, "\n") || len(sentence) > 800 {
		t.Errorf("the error is not one sentence: %d characters", len(sentence))
	}
	must(t, empty(cache))
}
