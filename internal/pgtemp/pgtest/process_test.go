package pgtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ory/dockertest/v3"
	"golang.org/x/sync/errgroup"

	"elobot/internal/pgtemp"
)

// asProcess runs one test of this package in a process of its own and returns what that prints.
func asProcess(t *testing.T, test string, environment ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*operationTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "TEST_DATABASE_URL=") || strings.HasPrefix(pair, "ELOBOT_TEST_POSTGRES=")
	})
	cmd.Env = append(cmd.Env, environment...)
	// A server that had the output open would keep this waiting.
	cmd.WaitDelay = 10 * time.Second
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// TestProcessesShareAServer runs processes side by side on a server where no template is yet, as a role that may
// create databases and nothing else.
func TestProcessesShareAServer(t *testing.T) {
	t.Parallel()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{Settings: settings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	do(t, server.URL(), "CREATE ROLE tester LOGIN CREATEDB PASSWORD 'tester'")
	address := strings.Replace(server.URL(), "postgres:"+password(t, server.URL())+"@", "tester:tester@", 1)
	var processes errgroup.Group
	for range 3 {
		processes.Go(func() error {
			output, err := asProcess(t, "TestClonesAreIndependent", "TEST_DATABASE_URL="+address)
			if err != nil {
				t.Errorf("%v: %s", err, output)
			}
			return err
		})
	}
	if err := processes.Wait(); err != nil {
		t.Fatal(err)
	}
	made := texts(t, server.URL(), "SELECT datname FROM pg_database WHERE datname LIKE 'elobot%'")
	name, err := migratedTemplate()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(made, []string{name}) {
		t.Errorf("left are %v, want the template %s alone", made, name)
	}
}

func password(t *testing.T, address string) string {
	t.Helper()
	_, rest, _ := strings.Cut(address, "postgres:")
	_, rest, _ = strings.Cut(rest, ":")
	secret, _, found := strings.Cut(rest, "@")
	if !found {
		t.Fatalf("no password in %s", address)
	}
	return secret
}

// awaitEmpty waits until nothing is left in a folder.
func awaitEmpty(t *testing.T, folder string) {
	t.Helper()
	deadline := time.After(operationTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s is still there", filepath.Join(folder, entries[0].Name()))
		case <-tick.C:
		}
	}
}

// TestServerGoesWithTheProcess needs the programs; without them it shows that a test which is told to use them fails.
func TestServerGoesWithTheProcess(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("/tmp", "elobot-pgtest-") //nolint:usetesting // other users cannot enter t.TempDir of root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil { // the server runs as another user when this is root
		t.Fatal(err)
	}
	probe, err := pgtemp.Start(t.Context(), pgtemp.Options{Ways: []pgtemp.Way{pgtemp.Programs}})
	if err == nil {
		err = probe.Stop(t.Context())
	}
	output, runErr := asProcess(t, "TestClonesAreIndependent", "ELOBOT_TEST_POSTGRES=programs", "TMPDIR="+folder)
	if err != nil {
		mustFail(t, output, runErr, "no PostgreSQL for the tests")
		return
	}
	if runErr != nil {
		t.Fatalf("%v: %s", runErr, output)
	}
	awaitEmpty(t, folder)
}

func mustFail(t *testing.T, output string, err error, sentence string) {
	t.Helper()
	if err == nil || strings.Contains(output, "--- SKIP") || !strings.Contains(output, sentence) {
		t.Errorf("without a database the test ends with %v and does not say %q: %s", err, sentence, output)
	}
}

func TestContainerGoesWithTheProcess(t *testing.T) {
	t.Parallel()
	pool, err := dockertest.NewPool("")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Client.HTTPClient.CloseIdleConnections()
	answers := pool.Client.Ping() == nil
	output, err := asProcess(t, "TestReportsItsServer", "ELOBOT_TEST_POSTGRES=container")
	if !answers {
		mustFail(t, output, err, "no Docker engine answers")
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	_, rest, _ := strings.Cut(output, "server is ")
	address, _, found := strings.Cut(rest, "\n")
	if !found {
		t.Fatalf("the test does not say where its server is: %s", output)
	}
	deadline, cancel := context.WithTimeout(t.Context(), operationTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for execute(deadline, address, ping(deadline)) == nil {
		select {
		case <-deadline.Done():
			t.Fatal("the container is still there")
		case <-tick.C:
		}
	}
}

// TestReportsItsServer is what the test above runs in another process.
func TestReportsItsServer(t *testing.T) {
	t.Parallel()
	New(t)
	t.Logf("server is %s", Server(t))
}

func TestNoDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	for sentence, environment := range map[string][]string{
		"TEST_DATABASE_URL: it must begin with postgres://": {"TEST_DATABASE_URL=localhost"},
		"which is neither programs nor container":           {"ELOBOT_TEST_POSTGRES=sqlite"},
		"no Docker engine answers":                          {"ELOBOT_TEST_POSTGRES=container", "DOCKER_HOST=unix:///nonexistent/docker.sock"},
		"connect":                                           {"TEST_DATABASE_URL=postgres://127.0.0.1:1/x?sslmode=disable"},
	} {
		output, err := asProcess(t, "TestReportsItsServer", environment...)
		mustFail(t, output, err, sentence)
	}
}
