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

	"github.com/jackc/pgx/v5"
)

// query asks one value of the server.
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

// keep puts something into the database, and kept finds it again.
func keep(t *testing.T, address string) {
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

func kept(t *testing.T, address string) {
	t.Helper()
	if got := query(t, address, "SELECT a FROM kept"); got != "x" {
		t.Errorf("%q is kept", got)
	}
}

func hostPort(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}

// portFree is an error while the server's port cannot be had.
func portFree(t *testing.T, address string) error {
	t.Helper()
	listener, err := net.Listen("tcp", hostPort(t, address))
	if err != nil {
		return err
	}
	return listener.Close()
}

// processGone is an error while the process runs. One that has died and waits to be collected is gone.
func processGone(pid int) error {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) || strings.HasPrefix(string(state), "Z") {
		return nil
	}
	return fmt.Errorf("process %d is in state %q (%w)", pid, state, err)
}

// gone waits until nothing of the server is left.
func gone(t *testing.T, pid int, address string) {
	t.Helper()
	eventually(t, func() error {
		if err := portFree(t, address); err != nil {
			return err
		}
		return processGone(pid)
	})
}

// mustBeSet checks what a server in memory is that was started with the settings of TestArchiveIsFetchedOnce.
func mustBeSet(t *testing.T, server *Server) {
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
		t.Errorf("the data is in %s and not in %s", home, memoryFolder())
	}
	othersStayOut(t, server.URL(), home)
}

// mustGoThoughItDied kills a server and stops it.
func mustGoThoughItDied(t *testing.T, server *Server) {
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
	gone(t, pid, address) // its children end a little later
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is still there: %v", home, err)
	}
	if server.PID() != 0 {
		t.Errorf("a stopped server has process %d", server.PID())
	}
	if err := server.Restart(t.Context(), false); err == nil {
		t.Error("a stopped server can be restarted")
	}
}

// othersStayOut shows that neither a connection without the password nor another user's file access gets anything.
func othersStayOut(t *testing.T, address, home string) {
	t.Helper()
	for _, user := range []*url.Userinfo{url.User("postgres"), url.UserPassword("postgres", "postgres")} {
		stranger, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		stranger.User = user
		conn, err := pgx.Connect(t.Context(), stranger.String())
		if err == nil {
			t.Errorf("%s can connect", user)
			if err := conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	mustBePrivate(t, home)
}

// mustBePrivate checks that a folder is the server's alone, which never runs as root.
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

// mustRestart checks that the port and the data stay, after attempts to start that must fail too.
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
		kept(t, server.URL())
	}
}

// mustStopInAnyCase stops a server: neither an open connection nor a context that has ended keeps it from that.
func mustStopInAnyCase(t *testing.T, server *Server) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // its server is gone by then
	pid, address := server.PID(), server.URL()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ended); err != nil {
		t.Errorf("Stop under a context that has ended: %v", err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection is still alive")
	}
	if err := errors.Join(processGone(pid), portFree(t, address)); err != nil {
		t.Error(err)
	}
}

// mustExplainFailedLaunches has a server that is paused fail to start in some ways, and leaves it as it was.
func mustExplainFailedLaunches(t *testing.T, p *programs) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
	port, url, settings := p.port, p.url, p.settings
	p.port = listener.Addr().(*net.TCPAddr).Port
	p.url = serverURL(p.port, "x")
	if _, err := p.launch(t.Context()); !errors.Is(err, errPortTaken) {
		t.Errorf("a server on a taken port: %v", err)
	}
	p.port, p.url = port, url
	p.settings = map[string]string{"no_such_setting": "1"}
	if _, err := p.launch(t.Context()); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a server with an unknown setting: %v", err)
	}
	p.settings = settings
}

func TestStartGivesUpWithItsContext(t *testing.T) {
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

func TestDataOfAnotherVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := publicFolder(t)
	if err := os.Mkdir(filepath.Join(folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(folder, "data", "PG_VERSION")
	if err := os.WriteFile(version, []byte("9.6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{DataDir: folder, Ways: []Way{Programs}})
	if err == nil || !strings.Contains(err.Error(), "cannot read data of version 9.6") {
		t.Errorf("Start: %v", err)
	}
	if content, err := os.ReadFile(version); err != nil || string(content) != "9.6\n" {
		t.Errorf("the data was changed: %q, %v", content, err)
	}
}
