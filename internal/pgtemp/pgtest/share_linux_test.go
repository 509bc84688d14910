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

// run stands for a run of go test: a process that starts test processes.
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
	// The processes last until the other end of this is closed.
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

// kill ends the run as no process can prevent, and leaves its test processes alone.
func (r *run) kill() {
	if r.shell.ProcessState == nil {
		_ = r.shell.Process.Kill() // it may have ended
		_ = r.shell.Wait()         // by a signal, of course
	}
}

// begin starts that many test processes at once.
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

// report waits until a test process has a database. Without one it returns what the process says instead.
func (r *run) report() (user, string) {
	r.t.Helper()
	deadline := time.After(2 * operationTimeout)
	var said []string
	for {
		select {
		case line := <-r.lines:
			said = append(said, line)
			if rest, ok := strings.CutPrefix(line, reportMark+" "); ok {
				var u user
				if _, err := fmt.Sscan(rest, &u.pid, &u.url); err != nil {
					r.t.Fatal(err)
				}
				return u, ""
			}
			if line == "FAIL" {
				return user{}, strings.Join(said, "\n")
			}
		case <-deadline:
			r.t.Fatalf("a test process does not get ready: %q", said)
		}
	}
}

// one starts a test process that has a database, or tells that this machine has no programs for that.
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
			t.Fatalf("not in %v: %s", operationTimeout, what)
		case <-tick.C:
		}
	}
}

// awaitEnd waits until nobody listens any more, and the folder is gone if there was one.
func awaitEnd(t *testing.T, address, folder string) {
	t.Helper()
	eventually(t, "the server ends", func() bool {
		conn, err := net.Dial("tcp", host(t, address))
		if err == nil {
			_ = conn.Close() // it has said enough
			return false
		}
		_, statErr := os.Stat(folder)
		return errors.Is(err, syscall.ECONNREFUSED) && (folder == "" || errors.Is(statErr, os.ErrNotExist))
	})
}

// TestOneServerForARun also has the owner of the server killed: the next process gets another one.
func TestOneServerForARun(t *testing.T) {
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
	for fd := range 3 { // go test waits until nobody has its output any more
		if file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", first.owner, fd)); file != os.DevNull {
			t.Errorf("the owner has %s as file %d, %v", file, fd, err)
		}
	}
	kill(t, first.owner)
	awaitEnd(t, users[0].url, first.folder)

	next, _ := r.one()
	last, _ := r.one()
	if next.url == users[0].url || last.url != next.url {
		t.Errorf("after %s the processes use %s and %s", users[0].url, next.url, last.url)
	}
	second := serverAt(t, next.url)
	// Neither the end of the run nor that of whoever started the owner matters while there is a user.
	r.kill()
	kill(t, next.pid)
	if got := texts(t, last.url, "SHOW data_directory")[0]; filepath.Dir(got) != second.folder {
		t.Errorf("the data is in %s, then in %s", second.folder, got)
	}
	kill(t, last.pid)
	awaitEnd(t, last.url, second.folder)
}

// place is where a server is.
type place struct {
	owner  int // the process that the server goes with
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

// TestEachRunHasItsSocket: those who must not share a server do not meet.
func TestEachRunHasItsSocket(t *testing.T) {
	t.Parallel()
	one, other := socketName(1, "x"), socketName(1, "x")
	if one != other {
		t.Error("two processes of a run do not meet")
	}
	if one == socketName(2, "x") || one == socketName(1, "y") {
		t.Error("processes of two runs meet, or such as want different servers")
	}
}

// TestOwnerOfADeadServer: whoever joins is not told where it was, and the owner ends, so that another one can be started.
func TestOwnerOfADeadServer(t *testing.T) {
	t.Parallel()
	address := &net.UnixAddr{Net: "unix", Name: "@elobot-pgtest-" + cloneName(time.Now())}
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
		t.Errorf("whoever joins is told %+v, %v", s, err)
	}
	if err := <-ended; err == nil {
		t.Error("the owner ends as if nothing were wrong")
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if err := <-o.dead; !errors.Is(err, net.ErrClosed) {
		t.Errorf("nobody can join any more: %v", err)
	}
}

// TestServerWaitsForTheNextProcess: while the run goes on, a server without users is kept for a while.
func TestServerWaitsForTheNextProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: os.Getpid(), joined: make(chan struct{}), left: make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- o.await() }()
		o.joined <- struct{}{}
		for range 3 { // each comes before the one before it leaves, or soon after that
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
	address := &net.UnixAddr{Net: "unix", Name: "@elobot-pgtest-" + cloneName(time.Now())}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing is left to do with it
	for user, ok := range map[int]bool{os.Getuid(): true, 4242: false} {
		if user != os.Getuid() && os.Getuid() != 0 {
			continue
		}
		joined := make(chan error, 1)
		go func() {
			runtime.LockOSThread() // and never unlock it: the thread ends with this
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)); errno != 0 {
				joined <- errno
				return
			}
			conn, err := net.DialUnix("unix", nil, address)
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
				_ = conn.Close() // all has been read
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
		_ = conn.Close() // lets the other end go on
		if err := <-joined; !errors.Is(err, io.EOF) {
			t.Errorf("user %d: %v", user, err)
		}
	}
}
