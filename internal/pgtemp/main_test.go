//go:build unix

package pgtemp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// testTimeout limits each wait of a test.
const testTimeout = time.Minute

// helperVariable contains the order for a helper process, which a test starts from the test binary.
const helperVariable = "ELOBOT_PGTEMP_HELPER"

// order tells a helper process how to start a server. The helper prints its log and then "ready" with the server's process id and URL, or
// "ended" with the reason why there is none.
type order struct {
	DataDir string
	Ways    []Source
	// NoFolders makes it search for programs only in PATH.
	NoFolders bool
	Umask     int
	Cache     string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperVariable); text != "" {
		fmt.Println("ended", runHelper(text))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func runHelper(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	syscall.Umask(o.Umask)
	signal.Ignore(os.Interrupt)
	options := Options{DataDir: o.DataDir, Sources: o.Ways, cache: o.Cache, Log: func(msg string) { fmt.Println(msg) }}
	if o.NoFolders {
		options.programFolders = []string{}
	}
	server, err := Start(context.Background(), options)
	if err != nil {
		return err
	}
	fmt.Println("ready", server.PID(), server.URL())
	_, err = io.Copy(io.Discard, os.Stdin) // until the end of the test, if nothing kills it before
	return err
}

// helper is a helper process.
type helper struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // closed when all processes have closed the helper's standard output
}

// startHelper starts a helper in its own process group. adjust may change its environment and user.
func startHelper(t *testing.T, o order, adjust func(*exec.Cmd)) *helper {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	program, err := os.Executable() // unlike os.Args[0], always an absolute path
	must(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adjust(cmd)
	cmd.Env = append(cmd.Env, helperVariable+"="+string(text))
	_, err = cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	h := &helper{t, cmd, make(chan string, 100)}
	go func() {
		defer close(h.lines)
		for output := bufio.NewScanner(stdout); output.Scan(); {
			h.lines <- output.Text()
		}
	}()
	t.Cleanup(h.kill)
	return h
}

// kill kills the helper with SIGKILL and waits until all processes have closed its standard output. The watcher must clean up.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	for range h.lines {
	}
	_ = h.cmd.Wait() // it returns the signal as an error
}

// await returns the rest of the next line of the output that begins with a prefix.
func (h *helper) await(prefix string) string {
	h.t.Helper()
	var line string
	for line = range h.lines {
		if rest, found := strings.CutPrefix(line, prefix); found {
			return rest
		}
	}
	h.t.Fatalf("the helper ends without %q: %s", prefix, line)
	return ""
}

// awaitServer waits until the helper's server is ready.
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

// hasPrograms reports whether PostgreSQL is installed on this machine. If not, a server cannot be tried.
func hasPrograms(t *testing.T) bool {
	t.Helper()
	_, err := installed(t.Context(), Options{cache: t.TempDir()}, identity{}, "")
	return err == nil
}

// publicFolder returns a new folder that all users can enter. They cannot enter t.TempDir if the test runs as root.
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

// exists returns an error unless something has a name that matches the pattern.
func exists(pattern string) error {
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) == 0 {
		err = os.ErrNotExist
	}
	return err
}
