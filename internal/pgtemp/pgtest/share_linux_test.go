package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestReportsItsServer prints its process id and the URL of its server, for tests that run it in
// another process. If lastVariable is set, it does not return, so that its process lasts until it
// is killed.
func TestReportsItsServer(t *testing.T) {
	t.Parallel()
	fmt.Printf("%s %d %s\n", reportMark, os.Getpid(), testServer(t))
	if os.Getenv(lastVariable) != "" {
		select {}
	}
}

// reportMark is the prefix of the line that TestReportsItsServer prints. If the environment
// variable lastVariable is set, the test does not return.
const (
	reportMark   = "this is process"
	lastVariable = "ELOBOT_PGTEST_LAST"
)

// run simulates a run of go test: a shell that starts test processes, one for each line of its
// input. At the end of the input it kills them and itself.
type run struct {
	t      *testing.T
	shell  *exec.Cmd
	input  io.Writer
	output *bufio.Scanner // of all processes
}

// user is a test process of a run, with the URL of the server that it uses.
type user struct {
	pid int
	url string
}

func startRun(t *testing.T, choice string) *run {
	t.Helper()
	shell := exec.Command("/bin/sh", "-c",
		`while read -r line; do "$0" -test.run='^TestReportsItsServer$' -test.timeout=2m & done
		kill -KILL 0`, os.Args[0])
	shell.Env = append(os.Environ(), urlVariable+"=", choiceVariable+"="+choice, lastVariable+"=1")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := shell.StdinPipe()
	must(t, err)
	output, err := shell.StdoutPipe()
	must(t, errors.Join(err, output.(*os.File).SetReadDeadline(time.Now().Add(4*operationTimeout)), shell.Start()))
	t.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // all may have ended
		_ = shell.Wait()                                      // it returns the signal as an error
	})
	return &run{t, shell, input, bufio.NewScanner(output)}
}

// kill kills the run with SIGKILL, but not its test processes.
func (r *run) kill() {
	must(r.t, r.shell.Process.Kill())
	_ = r.shell.Wait() // it returns the signal as an error
}

// begin starts two test processes at once, waits until each has a server, and checks that they
// share it. It returns nil if this machine has no PostgreSQL programs.
func (r *run) begin() (users []user) {
	r.t.Helper()
	const n = 2
	_, err := io.WriteString(r.input, strings.Repeat("\n", n))
	must(r.t, err)
	for len(users) < n && r.output.Scan() {
		line := r.output.Text()
		r.t.Log(line)
		if strings.Contains(line, "programs: none") {
			return nil
		}
		if rest, found := strings.CutPrefix(line, reportMark+" "); found {
			var u user
			_, err := fmt.Sscan(rest, &u.pid, &u.url)
			must(r.t, err)
			users = append(users, u)
		}
	}
	if len(users) < n {
		r.t.Fatalf("the test processes do not become ready: %v", r.output.Err())
	}
	for _, u := range users {
		if u.url != users[0].url {
			r.t.Errorf("two processes of a run use %s and %s", users[0].url, u.url)
		}
	}
	return users
}

// awaitServerEnd waits until the server no longer listens and its folder, if any, is removed.
func awaitServerEnd(t *testing.T, address, folder string) {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	must(t, err)
	network, at := pgconn.NetworkAddress(config.Host, config.Port)
	for deadline := time.Now().Add(operationTimeout); ; <-time.After(20 * time.Millisecond) {
		conn, err := net.Dial(network, at)
		if err == nil {
			_ = conn.Close() // it was opened only to see whether the server listens
		}
		_, statErr := os.Stat(folder)
		closed := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
		if closed && (folder == "" || errors.Is(statErr, os.ErrNotExist)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server at %s in %q does not end: %v, %v", at, folder, err, statErr)
		}
	}
}

// TestOneServerPerRun checks that the test processes of a run share a server. The server outlives
// the run as long as one of these processes lives, and then ends.
func TestOneServerPerRun(t *testing.T) {
	t.Parallel()
	r := startRun(t, "programs")
	users := r.begin()
	if users == nil {
		return
	}
	r.kill()
	must(t, syscall.Kill(users[0].pid, syscall.SIGKILL))
	folder := filepath.Dir(texts(t, users[1].url, "SHOW data_directory")[0])
	must(t, syscall.Kill(users[1].pid, syscall.SIGKILL))
	awaitServerEnd(t, users[1].url, folder)
}

func listen(t *testing.T) (*net.UnixAddr, *net.UnixListener) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix"}) // the kernel chooses a name
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.UnixAddr), listener
}

// TestOthersCannotJoin checks that another user does not get the server's URL. Only root can become
// another user. Without root, the test checks that the same user gets the URL.
func TestOthersCannotJoin(t *testing.T) {
	t.Parallel()
	address, listener := listen(t)
	go serve(listener, "the URL", make(chan int, 2))
	heard := make(chan string)
	go func() {
		// The thread stays locked, so that it ends with this goroutine.
		runtime.LockOSThread()
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESUID, 4242, 4242, 4242) // fails without root
		conn, err := net.DialUnix("unix", nil, address)
		if err != nil {
			heard <- err.Error()
			return
		}
		answer := make([]byte, 100)
		n, _ := conn.Read(answer) // an error means that there is no answer
		_ = conn.Close()          // nothing was written
		heard <- string(answer[:n])
	}()
	want := "the URL\n"
	if os.Getuid() == 0 {
		want = ""
	}
	if got := <-heard; got != want {
		t.Errorf("it hears %q, want %q", got, want)
	}
}
