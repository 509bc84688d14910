//go:build unix

package pgtemp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// testTimeout limits each wait of a test.
const testTimeout = time.Minute

// helperVariable is an environment variable. If it is set, the test binary is a helper process,
// which passes its arguments to runHelper.
const helperVariable = "ELOBOT_PGTEMP_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		fmt.Println("ended", runHelper(Source(os.Args[1]), os.Args[2], os.Args[3]))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// runHelper starts a server and waits for the end of standard input. It prints the messages of
// Options.Log, and then "ready" with the server's process id and URL. If the server cannot start,
// runHelper returns the reason. Its umask denies other users everything.
func runHelper(source Source, dataDir, cache string) error {
	umask := 0o777 // which root ignores
	if os.Geteuid() != 0 {
		umask = 0o077
	}
	syscall.Umask(umask)
	signal.Ignore(os.Interrupt)
	server, err := Start(context.Background(), Options{
		DataDir: dataDir, Sources: []Source{source}, cache: cache, Log: func(msg string) { fmt.Println(msg) },
	})
	if err != nil {
		return err
	}
	fmt.Println("ready", server.PID(), server.URL())
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends or kills the helper
	return err
}

type helper struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *bufio.Scanner
}

// startHelper starts a helper in its own process group. adjust may change its environment and user.
func startHelper(t *testing.T, source Source, dataDir, cache string, adjust func(*exec.Cmd)) *helper {
	t.Helper()
	program, err := os.Executable() // unlike os.Args[0], always an absolute path
	must(t, err)
	cmd := exec.Command(program, string(source), dataDir, cache)
	cmd.Env = append(os.Environ(), helperVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adjust(cmd)
	_, err = cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	h := &helper{t, cmd, bufio.NewScanner(stdout)}
	t.Cleanup(h.kill)
	return h
}

// kill kills the helper with SIGKILL, and waits until all processes have closed its standard
// output. After that, only the watcher can clean up.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	for h.output.Scan() {
	}
	_ = h.cmd.Wait() // it returns the signal as an error
}

// await returns the rest of the next output line that begins with a prefix.
func (h *helper) await(prefix string) string {
	h.t.Helper()
	line := ""
	for h.output.Scan() {
		line = h.output.Text()
		if rest, found := strings.CutPrefix(line, prefix); found {
			return rest
		}
	}
	h.t.Fatalf("the helper ends without %q: %s", prefix, line)
	return ""
}

// awaitServer waits until the helper's server is ready, and returns its process id and its URL.
func (h *helper) awaitServer() (pid int, address string) {
	h.t.Helper()
	_, err := fmt.Sscan(h.await("ready "), &pid, &address)
	must(h.t, err)
	return pid, address
}

// eventually polls until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); ; <-time.After(20 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("in %v: %v", testTimeout, err)
		}
	}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	o.Log = func(msg string) { t.Log(msg) }
	server, err := Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop(context.Background())) })
	return server
}

// machinePrograms returns the folder with this machine's PostgreSQL programs, or "" if the machine
// has none.
func machinePrograms(t *testing.T) string {
	t.Helper()
	// An error means only that there are none.
	found, _ := installed(t.Context(), Options{cache: t.TempDir()}, identity{}, "")
	return found.bin
}

// publicFolder returns a new folder that all users can enter. If the test runs as root, the
// programs of PostgreSQL run as another user, who could not enter t.TempDir.
func publicFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "elobot-pgtemp-test-") //nolint:usetesting // see above
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(folder)) })
	must(t, os.Chmod(folder, 0o755)) //nolint:gosec // see above
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// empty returns an error unless the folder is empty.
func empty(folder string) error {
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return fmt.Errorf("%s contains %v, %w", folder, entries, err)
	}
	return nil
}
