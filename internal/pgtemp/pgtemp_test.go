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
	eventually(t, func() error { return errors.Join(processGone(pid), portFree(t, address)) })
}

func TestStartQueryStop(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{
		Ways:     []Way{Programs},
		InMemory: true,
		Settings: map[string]string{"work_mem": "5MB", "shared_buffers": "1MB", "port": "1", "application_name": "it's a=b"},
	})
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
	pid, address := server.PID(), server.URL()
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(processGone(pid), portFree(t, address)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is still there: %v", home, err)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Errorf("a second Stop: %v", err)
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
	info, err := os.Stat(home)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
}

func TestRestartKeepsPortAndData(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{Ways: []Way{Programs}})
	keep(t, server.URL())
	for _, immediate := range []bool{false, true} {
		before, address := server.PID(), server.URL()
		if err := server.Restart(t.Context(), immediate); err != nil {
			t.Fatal(err)
		}
		if server.PID() == before || server.URL() != address {
			t.Errorf("immediate %v: process %d, then %d; %s, then %s", immediate, before, server.PID(), address, server.URL())
		}
		if err := processGone(before); err != nil {
			t.Error(err)
		}
		kept(t, server.URL())
	}
	// Neither an open connection nor a context that has ended keeps it from stopping.
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // its server is gone by then
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ended); err != nil {
		t.Errorf("Stop under a context that has ended: %v", err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection is still alive")
	}
}

func TestStopAfterTheServerDied(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{Ways: []Way{Programs}})
	if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	home := server.engine.(*programs).home
	if err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is still there: %v", home, err)
	}
}

func TestFailedLaunchIsExplained(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	server := start(t, Options{Ways: []Way{Programs}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := server.engine.(*programs)
	if err := p.halt(t.Context(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.port = listener.Addr().(*net.TCPAddr).Port
	p.url = serverURL(p.port, "x")
	if _, err := p.launch(t.Context()); !errors.Is(err, errPortTaken) {
		t.Errorf("a server on a taken port: %v", err)
	}
	p.settings = map[string]string{"no_such_setting": "1"}
	if _, err := p.launch(t.Context()); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a server with an unknown setting: %v", err)
	}
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
