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

// run simulates a run of go test: a process that starts test processes.
type run struct {
	t        *testing.T
	shell    *exec.Cmd
	commands io.Writer
	lines    chan string // closed when the run and its processes have ended
}

// user is a test process of a run.
type user struct {
	pid int
	url string
}

func startRun(t *testing.T, environment ...string) *run {
	t.Helper()
	// The test processes last until the write end of this pipe is closed.
	hold, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("/bin/sh")
	shell.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, urlVariable+"=") })
	shell.Env = append(shell.Env, environment...)
	shell.ExtraFiles = []*os.File{hold}
	commands, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stdout, shell.Stderr = writer, writer
	if err := errors.Join(shell.Start(), hold.Close(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, shell: shell, commands: commands, lines: make(chan string, 1000)}
	go func() {
		defer close(r.lines)
		defer output.Close() //nolint:errcheck // only read
		for lines := bufio.NewScanner(output); lines.Scan(); {
			r.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		r.kill()
		if err := release.Close(); err != nil {
			t.Error(err)
		}
		for line := range r.lines {
			t.Log(line)
		}
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

// report waits until a test process has a database. If the process fails, it returns the output instead.
func (r *run) report() (user, string) {
	r.t.Helper()
	deadline := time.After(2 * operationTimeout)
	var output []string
	for {
		select {
		case line := <-r.lines:
			output = append(output, line)
			if rest, ok := strings.CutPrefix(line, reportMark+" "); ok {
				var u user
				if _, err := fmt.Sscan(rest, &u.pid, &u.url); err != nil {
					r.t.Fatal(err)
				}
				return u, ""
			}
			if line == "FAIL" {
				return user{}, strings.Join(output, "\n")
			}
		case <-deadline:
			r.t.Fatalf("a test process does not become ready: %q", output)
		}
	}
}

// one starts a test process and waits for its database. ok is false if this machine has no PostgreSQL programs.
func (r *run) one() (u user, ok bool) {
	r.t.Helper()
	r.begin(1)
	u, failure := r.report()
	if failure != "" && !strings.Contains(failure, "programs: none") {
		r.t.Fatal(failure)
	}
	return u, failure == ""
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
}

func host(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	deadline := time.After(operationTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-deadline:
			t.Fatalf("not within %v: %s", operationTimeout, what)
		case <-tick.C:
		}
	}
}

// awaitServerEnd waits until the server no longer listens and its folder, if any, is removed.
func awaitServerEnd(t *testing.T, address, folder string) {
	t.Helper()
	eventually(t, "the server ends", func() bool {
		conn, err := net.Dial("tcp", host(t, address))
		if err == nil {
			_ = conn.Close() // the connection succeeded
			return false
		}
		_, statErr := os.Stat(folder)
		return errors.Is(err, syscall.ECONNREFUSED) && (folder == "" || errors.Is(statErr, os.ErrNotExist))
	})
}

// TestOneServerPerRun also kills the owner of the server: the next process must get another server.
func TestOneServerPerRun(t *testing.T) {
	t.Parallel()
	const processes = 3
	r := startRun(t, choiceVariable+"=programs")
	r.begin(processes) // at once: one of them starts the owner
	var users []user
	for range processes {
		u, failure := r.report()
		if strings.Contains(failure, "programs: none") {
			return
		}
		if failure != "" {
			t.Fatal(failure)
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

	next, _ := r.one()
	last, _ := r.one()
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

// TestOwnerOfDeadServer: a new user does not get the server's address, and the owner ends, so that another one can start.
func TestOwnerOfDeadServer(t *testing.T) {
	t.Parallel()
	address := &net.UnixAddr{Net: "unix", Name: "@elobot-pgtest-" + cloneName()}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	o := newOwner(listener, os.Getpid())
	o.messages.add(wordURL, "postgres://127.0.0.1:1/x")
	go o.accept()
	ended := make(chan error, 1)
	go func() { ended <- o.await() }()
	if s, err := join(address, func(string) {}); !errors.Is(err, errOwnerEnded) {
		t.Errorf("join = %+v, %v", s, err)
	}
	if err := <-ended; err == nil {
		t.Error("the owner ends without an error")
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if err := <-o.dead; !errors.Is(err, net.ErrClosed) {
		t.Errorf("join after the owner's end: %v", err)
	}
}

// TestServerWaitsForNextProcess: while the run continues, a server without users waits for idleTime.
func TestServerWaitsForNextProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: os.Getpid(), joined: make(chan struct{}), left: make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- o.await() }()
		o.joined <- struct{}{}
		for range 3 { // each joins before the previous one leaves, or soon after
			o.joined <- struct{}{}
			o.left <- struct{}{}
			time.Sleep(3 * idleTime) //nolint:forbidigo // the clock of synctest
			o.left <- struct{}{}
			time.Sleep(idleTime / 2) //nolint:forbidigo // the clock of synctest
			o.joined <- struct{}{}
		}
		o.left <- struct{}{}
		last := time.Now()
		if err := <-ended; err != nil || time.Since(last) < idleTime || time.Since(last) > idleTime+time.Second {
			t.Errorf("it ends %v after the last user: %v", time.Since(last), err)
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
