package pgtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// runTestProcess runs one test of this package in its own process and returns its output.
func runTestProcess(t *testing.T, test string, environment ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*operationTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "TEST_DATABASE_URL=") || strings.HasPrefix(pair, "ELOBOT_TEST_POSTGRES=")
	})
	cmd.Env = append(cmd.Env, environment...)
	// A server that held the output open would block this.
	cmd.WaitDelay = 10 * time.Second
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func mustFail(t *testing.T, output string, err error, sentence string) {
	t.Helper()
	if err == nil || strings.Contains(output, "--- SKIP") || !strings.Contains(output, sentence) {
		t.Errorf("without a database the test ends with %v, and its output does not contain %q: %s", err, sentence, output)
	}
}

// TestReportsItsServer is run by other tests in another process. It lasts until its standard input ends.
func TestReportsItsServer(t *testing.T) {
	t.Parallel()
	fmt.Printf("%s %d %s\n", reportMark, os.Getpid(), Server(t))
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// reportMark is the prefix of the line that such a process prints.
const reportMark = "this is process"

func TestNoDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	for sentence, environment := range map[string][]string{
		"TEST_DATABASE_URL: it must begin with postgres://": {"TEST_DATABASE_URL=localhost"},
		"which is neither programs nor container":           {"ELOBOT_TEST_POSTGRES=sqlite"},
		"no Docker engine answers":                          {"ELOBOT_TEST_POSTGRES=container", "DOCKER_HOST=unix:///nonexistent/docker.sock"},
		"connect":                                           {"TEST_DATABASE_URL=postgres://127.0.0.1:1/x?sslmode=disable"},
	} {
		output, err := runTestProcess(t, "TestEmptyHasNoTables", environment...)
		mustFail(t, output, err, sentence)
	}
}
