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

// standbyScript makes $1, the folder of a server that is stopped, that of a primary, and $2 that of its standby at the address $3.
const standbyScript = `
echo 'host replication all all scram-sha-256' >>"$1/data/pg_hba.conf"
cp -Rp "$1" "$2"
echo "synchronous_standby_names = '*'" >>"$1/data/postgresql.auto.conf"
cp -p "$2/data/PG_VERSION" "$2/data/standby.signal"
echo "primary_conninfo = '$3'" >>"$2/data/postgresql.auto.conf"`

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
	u, err := url.Parse(primary.URL())
	if err != nil {
		tb.Fatal(err)
	}
	password, _ := u.User.Password()
	address := fmt.Sprintf("host=%s port=%s user=%s password=%s", u.Hostname(), u.Port(), u.User.Username(), password)
	if out, err := exec.CommandContext(tb.Context(), "/bin/sh", "-ec", standbyScript, "sh", first, second, address).CombinedOutput(); err != nil {
		tb.Fatalf("make a standby: %v: %s", err, out)
	}
	if err := primary.Resume(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return Pair{primary, startIn(tb, second)}
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
