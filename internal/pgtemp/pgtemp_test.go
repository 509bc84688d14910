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
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
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
