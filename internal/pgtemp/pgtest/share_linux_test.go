package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// run simulates a run of go test: a shell that starts test processes.
type run struct {
	t        *testing.T
	shell    *exec.Cmd
	commands io.Writer
	lines    *bufio.Scanner // the output of all processes
}

// user is a test process of a run.
type user struct {
	pid int
	url string
}

func startRun(t *testing.T, environment ...string) *run {
	t.Helper()
	hold, release, err := os.Pipe() // the test processes last until the write end is closed
	if err != nil {
		t.Fatal(err)
	}
	output, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("/bin/sh")
	shell.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, urlVariable+"=") })
	shell.Env = append(shell.Env, environment...)
	shell.ExtraFiles = []*os.File{hold}
	shell.Stdout, shell.Stderr = writer, writer
	commands, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(shell.Start(), hold.Close(), writer.Close(), output.SetReadDeadline(time.Now().Add(4*operationTimeout))); err != nil {
		t.Fatal(err)
	}
	r := &run{t, shell, commands, bufio.NewScanner(output)}
	t.Cleanup(func() {
		r.kill()
		if err := release.Close(); err != nil {
			t.Error(err)
		}
		for r.lines.Scan() { // until all processes have ended
			t.Log(r.lines.Text())
		}
		_ = output.Close() // only read
	})
	return r
}

// kill kills the run with SIGKILL, but not its test processes.
func (r *run) kill() {
	if r.shell.ProcessState == nil {
		_ = r.shell.Process.Kill() // it may have ended
		_ = r.shell.Wait()         // returns the signal as an error
	}
}

// begin starts n test processes at once.
func (r *run) begin(n int) {
	r.t.Helper()
	program, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	command := fmt.Sprintf("'%s' -test.run='^TestReportsItsServer$' -test.timeout=2m <&3 &\n", program)
	if _, err := io.WriteString(r.commands, strings.Repeat(command, n)); err != nil {
		r.t.Fatal(err)
	}
}

// report waits until a test process has a database. It returns false if this machine has no PostgreSQL programs.
func (r *run) report() (u user, ok bool) {
	r.t.Helper()
	var output []string
	for r.lines.Scan() {
		line := r.lines.Text()
		output = append(output, line)
		if rest, found := strings.CutPrefix(line, reportMark+" "); found {
			if _, err := fmt.Sscan(rest, &u.pid, &u.url); err != nil {
				r.t.Fatal(err)
			}
			return u, true
		}
		if strings.Contains(line, "programs: none") {
			return u, false
		}
	}
	r.t.Fatalf("a test process does not become ready: %v, %q", r.lines.Err(), output)
	return u, false
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
}

// awaitServerEnd waits until the server no longer listens and its folder, if any, is removed.
func awaitServerEnd(t *testing.T, address, folder string) {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(operationTimeout)
	for {
		conn, err := net.Dial("tcp", parsed.Host)
		if err == nil {
			_ = conn.Close() // the connection succeeded
		}
		_, statErr := os.Stat(folder)
		if errors.Is(err, syscall.ECONNREFUSED) && (folder == "" || errors.Is(statErr, os.ErrNotExist)) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the server at %s in %q does not end: %v, %v", parsed.Host, folder, err, statErr)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestOneServerPerRun also kills the owner of the server: the next process must get another server.
func TestOneServerPerRun(t *testing.T) {
	t.Parallel()
	const processes = 3
	r := startRun(t, choiceVariable+"=programs")
	r.begin(processes) // at once: one of them starts the owner
	var users []user
	for range processes {
		u, ok := r.report()
		if !ok {
			return
		}
		users = append(users, u)
	}
	for _, u := range users[1:] {
		if u.url != users[0].url {
			t.Errorf("two processes of a run use %s and %s", users[0].url, u.url)
		}
	}
	first := serverAt(t, users[0].url)
	for fd := range 3 { // go test waits until all processes have closed its output
		if file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", first.owner, fd)); file != os.DevNull {
			t.Errorf("the owner has %s as file %d, %v", file, fd, err)
		}
	}
	kill(t, first.owner)
	awaitServerEnd(t, users[0].url, first.folder)

	r.begin(2)
	next, _ := r.report()
	last, _ := r.report()
	if next.url == users[0].url || last.url != next.url {
		t.Errorf("after %s, the processes use %s and %s", users[0].url, next.url, last.url)
	}
	second := serverAt(t, next.url)
	// While the server has a user, it survives the end of the run and of the process that started the owner.
	r.kill()
	kill(t, next.pid)
	if got := texts(t, last.url, "SHOW data_directory")[0]; filepath.Dir(got) != second.folder {
		t.Errorf("the data is in %s, then in %s", second.folder, got)
	}
	kill(t, last.pid)
	awaitServerEnd(t, last.url, second.folder)
}

// place is the owner and the data folder of a server.
type place struct {
	owner  int // the process that owns the server
	folder string
}

func serverAt(t *testing.T, address string) place {
	t.Helper()
	folder := texts(t, address, "SHOW data_directory")[0]
	content, err := os.ReadFile(filepath.Join(folder, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, _, _ := strings.Cut(string(content), "\n")
	output, err := exec.Command("ps", "-o", "ppid=", "-p", pid).Output()
	if err != nil {
		t.Fatal(err)
	}
	owner, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil {
		t.Fatal(err)
	}
	return place{owner, filepath.Dir(folder)}
}

// TestEachRunHasItsOwnSocket: processes that must not share a server have different sockets.
func TestEachRunHasItsOwnSocket(t *testing.T) {
	t.Parallel()
	one, other := socketName(1, "x"), socketName(1, "x")
	if one != other {
		t.Error("two processes of a run have different sockets")
	}
	if one == socketName(2, "x") || one == socketName(1, "y") {
		t.Error("processes of two runs, or with different environments, have the same socket")
	}
}

// TestOwnerAnswers: users get the URL or the reason why there is none, and know an owner that ends without an answer.
func TestOwnerAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		wordURL + "postgres://x": "<nil>", wordFailed + "no disk": "no disk", "": errOwnerEnded.Error(),
	} {
		address := &net.UnixAddr{Net: "unix", Name: "@elobot-pgtest-" + cloneName()}
		listener, err := net.ListenUnix("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		users := make(chan int, 2)
		go serve(listener, answer, users)
		s, err := join(address)
		if fmt.Sprint(err) != want || err == nil && s.url != "postgres://x" {
			t.Errorf("%q: joined %+v, %v", answer, s, err)
		}
		if s.hold != nil {
			_ = s.hold.Close() // the owner notices
		}
		if come, gone := <-users, <-users; come != 1 || gone != -1 {
			t.Errorf("%q: %d users come and %d go", answer, come, -gone)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestServerWaitsForNextProcess: while the run continues, a server without users waits for idleTime.
func TestServerWaitsForNextProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		users, ended := make(chan int), make(chan struct{})
		go func() {
			awaitEnd(os.Getpid(), users)
			close(ended)
		}()
		users <- 1
		for range 3 { // each joins before the previous one leaves, or soon after
			users <- 1
			users <- -1
			time.Sleep(3 * idleTime) //nolint:forbidigo // the clock of synctest
			users <- -1
			time.Sleep(idleTime / 2) //nolint:forbidigo // the clock of synctest
			users <- 1
		}
		users <- -1
		last := time.Now()
		if <-ended; time.Since(last) < idleTime || time.Since(last) > idleTime+time.Second {
			t.Errorf("it ends %v after the last user", time.Since(last))
		}
	})
}

// TestOthersCannotJoin needs root to become somebody else.
func TestOthersCannotJoin(t *testing.T) {
	t.Parallel()
	address := &net.UnixAddr{Net: "unix", Name: "@elobot-pgtest-" + cloneName()}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // not needed any more
	for user, ok := range map[int]bool{os.Getuid(): true, 4242: false} {
		if user != os.Getuid() && os.Getuid() != 0 {
			continue
		}
		joined := make(chan error, 1)
		go func() {
			runtime.LockOSThread() // never unlocked, so that the thread ends with this goroutine
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)); errno != 0 {
				joined <- errno
				return
			}
			conn, err := net.DialUnix("unix", nil, address)
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
				_ = conn.Close() // everything has been read
			}
			joined <- err
		}()
		conn, err := listener.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		if err := checkSameUser(conn); (err == nil) != ok {
			t.Errorf("user %d: %v", user, err)
		}
		_ = conn.Close() // unblocks the peer
		if err := <-joined; !errors.Is(err, io.EOF) {
			t.Errorf("user %d: %v", user, err)
		}
	}
}
