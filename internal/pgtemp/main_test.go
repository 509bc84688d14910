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

// order tells a helper process what to do. By default it starts a server, reports it, and waits.
type order struct {
	DataDir string
	Ways    []Source
	// NoFolders makes it search for programs only in PATH.
	NoFolders bool
	Umask     int
	// Cache and Archive replace the defaults.
	Cache, Archive string
	// Script makes it call AtExit with these arguments and end, instead of starting a server.
	Script []string
}

// report is a line of a helper's output.
type report struct {
	Event string // log, ready, failed
	Text  string
	URL   string
	PID   int
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperVariable); text != "" {
		if err := runHelper(text); err != nil {
			printReport(report{Event: "failed", Text: err.Error()})
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func printReport(r report) {
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		os.Exit(2)
	}
}

func runHelper(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if o.Script != nil {
		_, err := AtExit(o.Script[0], o.Script[1:]...)
		return err
	}
	syscall.Umask(o.Umask)
	signal.Ignore(os.Interrupt)
	options := Options{DataDir: o.DataDir, Sources: o.Ways, cache: o.Cache, Log: func(msg string) { printReport(report{Event: "log", Text: msg}) }}
	if o.NoFolders {
		options.programFolders = []string{}
	}
	if o.Archive != "" {
		options.archive = &archive{address: o.Archive, timeout: testTimeout}
	}
	server, err := Start(context.Background(), options)
	if err != nil {
		return err
	}
	printReport(report{Event: "ready", Text: server.Kind(), URL: server.URL(), PID: server.PID()})
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return server.Stop(context.Background())
}

// helper is a helper process. Closing stdin makes it stop its server and end.
type helper struct {
	t       *testing.T
	cmd     *exec.Cmd
	stdin   io.Closer
	reports chan report // closed when all processes have closed the helper's standard output
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
	if adjust != nil {
		adjust(cmd)
	}
	cmd.Env = append(cmd.Env, helperVariable+"="+string(text))
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	h := &helper{t: t, cmd: cmd, stdin: stdin, reports: make(chan report, 100)}
	go func() {
		defer close(h.reports)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			var r report
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				r = report{Event: "failed", Text: "not a report: " + lines.Text()}
			}
			h.reports <- r
		}
	}()
	t.Cleanup(h.kill)
	return h
}

// kill kills the helper with SIGKILL and waits for it. The watcher must clean up.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	h.drain()
	_ = h.cmd.Wait() // the same, or it returns the signal as an error
}

// drain reads the standard output to its end, and fails if a process keeps it open.
func (h *helper) drain() {
	deadline := time.After(testTimeout)
	for open := true; open; {
		select {
		case _, open = <-h.reports:
		case <-deadline:
			h.t.Fatal("a process holds the standard output of a helper that has ended")
		}
	}
}

// await returns the next report of the event whose text contains part.
func (h *helper) await(event, part string) report {
	h.t.Helper()
	deadline := time.After(testTimeout)
	for {
		select {
		case r, open := <-h.reports:
			if !open {
				h.t.Fatalf("the helper ended without %q", event)
			}
			if r.Event == event && strings.Contains(r.Text, part) {
				return r
			}
			if r.Event == "failed" {
				h.t.Fatalf("the helper failed: %s", r.Text)
			}
		case <-deadline:
			h.t.Fatalf("the helper does not report %q", event)
		}
	}
}

// eventually polls until check returns nil. It polls slowly, because a check may start a process.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.After(testTimeout)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("in %v: %v", testTimeout, err)
		case <-time.After(wait):
		}
	}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	o.Log = func(msg string) { t.Log(msg) }
	server, err := Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

// hasPrograms reports whether PostgreSQL is installed on this machine. If not, it checks that Start reports that, which is
// all that can be tested.
func hasPrograms(t *testing.T) bool {
	t.Helper()
	if _, err := installed(t.Context(), Options{cache: t.TempDir()}, identity{}, ""); err == nil {
		return true
	}
	_, err := Start(t.Context(), Options{Sources: []Source{Programs}, cache: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "programs: ") {
		t.Errorf("without programs, Start: %v", err)
	}
	return false
}

// publicFolder returns a new folder that all users can enter. They cannot enter t.TempDir if the test runs as root.
func publicFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "elobot-pgtemp-test-") //nolint:usetesting // see above
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
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
