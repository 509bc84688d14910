//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/pgtemp"
)

// Pair is a server with a synchronous standby. Whatever the primary confirms is on the disks of both.
type Pair struct{ Primary, Standby *pgtemp.Server }

// StartPair starts a primary and its standby, which stop when the test ends. The standby begins as a copy of the primary's
// files, made while the primary is stopped.
func StartPair(tb testing.TB) Pair {
	tb.Helper()
	home, err := os.MkdirTemp("/tmp", "elobot-pair-") //nolint:usetesting // other users cannot enter tb.TempDir of root
	if err != nil {
		tb.Fatal(err)
	}
	cleanupWith(tb, func() error { return os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil { //nolint:gosec // the servers run as another user when this is root
		tb.Fatal(err)
	}
	first, second := filepath.Join(home, "first"), filepath.Join(home, "second")
	primary := startIn(tb, first)
	if err := primary.Pause(tb.Context(), false); err != nil {
		tb.Fatal(err)
	}
	extend(tb, filepath.Join(first, "data", "pg_hba.conf"), "host replication all all scram-sha-256")
	copyAll(tb, first, second)
	// The copy is not that of a server whose container was left behind.
	if err := os.RemoveAll(filepath.Join(second, "container")); err != nil {
		tb.Fatal(err)
	}
	extend(tb, filepath.Join(first, "data", "postgresql.auto.conf"), "synchronous_standby_names = '*'")
	if err := primary.Resume(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	copyAll(tb, filepath.Join(second, "data", "PG_VERSION"), filepath.Join(second, "data", "standby.signal"))
	extend(tb, filepath.Join(second, "data", "postgresql.auto.conf"), "primary_conninfo = '"+ownAddress(tb, primary)+"'")
	return Pair{primary, startIn(tb, second)}
}

// Promote makes the standby the primary.
func (p Pair) Promote(tb testing.TB) {
	tb.Helper()
	err := execute(tb.Context(), p.Standby.URL(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(tb.Context(), `SELECT pg_promote()`)
		return err
	})
	if err != nil {
		tb.Fatalf("promote the standby: %v", err)
	}
}

// startIn starts a server with its data in the folder.
func startIn(tb testing.TB, folder string) *pgtemp.Server {
	tb.Helper()
	server, err := pgtemp.Start(tb.Context(), pgtemp.Options{DataDir: folder})
	if err != nil {
		tb.Fatal(err)
	}
	cleanupWith(tb, func() error { return server.Stop(context.Background()) })
	return server
}

// ownAddress returns the connection string with the address that a server reports, which another server can reach even if
// each runs in a container.
func ownAddress(tb testing.TB, server *pgtemp.Server) string {
	tb.Helper()
	address, err := url.Parse(server.URL())
	if err != nil {
		tb.Fatal(err)
	}
	var host string
	var port int
	err = execute(tb.Context(), server.URL(), func(conn *pgx.Conn) error {
		return conn.QueryRow(tb.Context(), `SELECT host(inet_server_addr()), inet_server_port()`).Scan(&host, &port)
	})
	if err != nil {
		tb.Fatal(err)
	}
	password, _ := address.User.Password()
	return fmt.Sprintf("host=%s port=%d user=%s password=%s", host, port, address.User.Username(), password)
}

// copyAll copies a file, or a folder with its contents, and keeps the owner.
func copyAll(tb testing.TB, from, to string) {
	tb.Helper()
	if output, err := exec.CommandContext(tb.Context(), "cp", "-Rp", from, to).CombinedOutput(); err != nil {
		tb.Fatalf("copy %s: %v: %s", from, err, output)
	}
}

// extend adds a line to a file.
func extend(tb testing.TB, path, line string) {
	tb.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = fmt.Fprintln(file, line)
	if closeErr := file.Close(); err != nil || closeErr != nil {
		tb.Fatalf("extend %s: %v, %v", path, err, closeErr)
	}
}
