//go:build unix && soak

package main_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
	"elobot/internal/pgtemp/pgtest"
)

// TestFailover: the primary crashes while results come in, and its synchronous standby is promoted. With both hosts in
// DATABASE_URL the bot continues there, and every result is recorded once and answered.
func TestFailover(t *testing.T) {
	t.Parallel()
	servers := startPair(t)
	standby, err := pgxpool.New(t.Context(), servers.standby.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Close)
	sim := botsim.Start(t)
	bot := launch(t, takeOverSoon(environment(sim, servers.url(t))), "run")
	load := startLoad(t, sim, 10, 100*time.Millisecond)
	awaitAnswers(t, load.groups[0], 4)

	if err := servers.primary.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	bot.await(t, "database unavailable, updates have to wait")
	ended := time.Now()
	if _, err := standby.Exec(t.Context(), `SELECT pg_promote()`); err != nil {
		t.Fatal(err)
	}
	awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+4)
	recovered := time.Since(ended)
	load.stop()
	copies := load.checkAll(t, sim, standby, servers.standby.URL())
	t.Logf("answers came %v after the standby was promoted, %d came twice", recovered.Round(time.Millisecond), copies)
}

// pair is a PostgreSQL server and its synchronous standby, which has everything that the primary has confirmed.
type pair struct{ primary, standby *pgtemp.Server }

// url returns the address with both hosts, the standby first.
func (p pair) url(t *testing.T) string {
	t.Helper()
	both, primary := parseURL(t, p.standby.URL()), parseURL(t, p.primary.URL())
	both.Host += "," + primary.Host
	return pgtest.WithParameter(both.String(), "target_session_attrs", "read-write")
}

func parseURL(t *testing.T, address string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// startPair starts both servers. The standby begins as a copy of the primary's files, made while the primary is stopped.
func startPair(t *testing.T) pair {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "elobot-failover-") //nolint:usetesting // other users cannot enter t.TempDir of root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil { // the servers run as another user when this is root
		t.Fatal(err)
	}
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	primary := startServer(t, first)
	if err := primary.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	extend(t, filepath.Join(first, "data", "pg_hba.conf"), "host replication all all scram-sha-256")
	copyFile(t, first, second)
	extend(t, filepath.Join(first, "data", "postgresql.auto.conf"), "synchronous_standby_names = '*'")
	if err := primary.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(second, "data", "PG_VERSION"), filepath.Join(second, "data", "standby.signal"))
	extend(t, filepath.Join(second, "data", "postgresql.auto.conf"), "primary_conninfo = '"+ownAddress(t, primary)+"'")
	return pair{primary, startServer(t, second)}
}

// startServer starts a server with its data in the folder, and stops it at the end of the test.
func startServer(t *testing.T, folder string) *pgtemp.Server {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{DataDir: folder, Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

// ownAddress returns the connection string with the address that a server reports, which another server can reach even if
// each runs in a container.
func ownAddress(t *testing.T, server *pgtemp.Server) string {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var host string
	var port int
	const sql = `SELECT host(inet_server_addr()), inet_server_port()`
	if err := pool.QueryRow(t.Context(), sql).Scan(&host, &port); err != nil {
		t.Fatal(err)
	}
	user := parseURL(t, server.URL()).User
	password, _ := user.Password()
	return fmt.Sprintf("host=%s port=%d user=%s password=%s", host, port, user.Username(), password)
}

// copyFile copies a file, or a folder with its contents, and keeps the owner.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), "cp", "-Rp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", from, err, output)
	}
}

// extend adds a line to a file.
func extend(t *testing.T, path, line string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintln(file, line)
	if closeErr := file.Close(); err != nil || closeErr != nil {
		t.Fatalf("extend %s: %v, %v", path, err, closeErr)
	}
}
