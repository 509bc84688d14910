//go:build unix && soak

package dbtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"elobot/internal/pgtemp"
)

// Pair is a server with a synchronous standby. The primary confirms a commit only when the commit
// is on the disks of both servers.
type Pair struct{ Primary, Standby *pgtemp.Server }

// standbyScript turns the stopped server in the folder $1 into a primary, and creates its standby
// in the folder $2. The standby connects to the primary with the connection string $3.
const standbyScript = `
echo 'host replication all all scram-sha-256' >>"$1/data/pg_hba.conf"
cp -Rp "$1" "$2"
echo "synchronous_standby_names = '*'" >>"$1/data/postgresql.auto.conf"
cp -p "$2/data/PG_VERSION" "$2/data/standby.signal"
echo "primary_conninfo = '$3'" >>"$2/data/postgresql.auto.conf"`

// StartPair starts a primary and its standby, which stop when the test ends. The standby begins as
// a copy of the primary's files, made while the primary is stopped.
func StartPair(t *testing.T) Pair {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "elobot-pair-") //nolint:usetesting // other users cannot enter t.TempDir of root
	Must(t, err)
	t.Cleanup(func() { Must(t, os.RemoveAll(home)) })
	Must(t, os.Chmod(home, 0o755)) //nolint:gosec // the servers run as another user when this is root
	first, second := filepath.Join(home, "first"), filepath.Join(home, "second")
	primary := startIn(t, first)
	Must(t, primary.Pause(t.Context(), false))
	u, err := url.Parse(primary.URL())
	Must(t, err)
	password, _ := u.User.Password()
	address := fmt.Sprintf("host=%s port=%s user=%s password=%s", u.Hostname(), u.Port(), u.User.Username(), password)
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-ec", standbyScript,
		"sh", first, second, address).CombinedOutput(); err != nil {
		t.Fatalf("make a standby: %v: %s", err, out)
	}
	Must(t, primary.Resume(t.Context()))
	return Pair{primary, startIn(t, second)}
}

func startIn(t *testing.T, folder string) *pgtemp.Server {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{DataDir: folder})
	Must(t, err)
	t.Cleanup(func() { Must(t, server.Stop(context.Background())) })
	return server
}

// Promote makes the standby the primary.
func (p Pair) Promote(t *testing.T) {
	t.Helper()
	Value[bool](t, Open(t, p.Standby.URL()), `SELECT pg_promote()`)
}
