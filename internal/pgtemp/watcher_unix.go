//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// watcherFrame runs before the script of a watcher. It reads from a pipe until the other end is closed, at the latest by
// the death of this process, which alone holds that end. The watcher ignores the signals that a terminal or a service
// manager sends to all processes, because they must not end it before its work is done.
const watcherFrame = `trap '' HUP INT TERM
PATH="${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin"
state=
while IFS= read -r line; do
	[ "$line" = dismissed ] && exit 0
	state=$line
done
`

// Watcher is a process that cleans up after this one.
type Watcher struct {
	mu  sync.Mutex
	pid int
	// pipe is a raw descriptor because an os.File is closed when it is garbage-collected, and a server may be in use by
	// its URL long after the last reference to its Watcher is gone.
	pipe int
}

// AtExit makes /bin/sh run script after this process has ended, even by SIGKILL. The script gets args as $1, $2 and so
// on, and the last state set by Tell as $state. It runs in its own session, in the folder /, with this process's
// environment and without its standard streams.
func AtExit(script string, args ...string) (*Watcher, error) {
	return watch(nil, script, args...)
}

// watch is AtExit with a file that the watcher keeps open while it lives.
func watch(keep *os.File, script string, args ...string) (*Watcher, error) {
	var ends [2]int
	// No process may be forked before the pipe is close-on-exec: a child that inherits the write end would keep the
	// watcher waiting.
	syscall.ForkLock.RLock()
	err := syscall.Pipe(ends[:])
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("start watcher: make pipe: %w", err)
	}
	reader := os.NewFile(uintptr(ends[0]), "watcher pipe")
	cmd := exec.Command("/bin/sh", append([]string{"-c", watcherFrame + script, "elobot-watcher"}, args...)...)
	cmd.Dir = "/"
	cmd.Stdin = reader
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if keep != nil {
		cmd.ExtraFiles = []*os.File{keep}
	}
	if err := errors.Join(cmd.Start(), reader.Close()); err != nil {
		return nil, fmt.Errorf("start watcher: %w", errors.Join(err, syscall.Close(ends[1])))
	}
	w := &Watcher{pid: cmd.Process.Pid, pipe: ends[1]}
	return w, cmd.Process.Release()
}

// Report sets $state for the script. The state must be one line.
func (w *Watcher) Report(state string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.setState(state)
}

func (w *Watcher) setState(state string) error {
	if w.pipe < 0 {
		return errors.New("set watcher state: the watcher was dismissed")
	}
	if strings.Contains(state, "\n") {
		return errors.New("set watcher state: the state must be one line")
	}
	for rest := []byte(state + "\n"); len(rest) > 0; {
		n, err := syscall.Write(w.pipe, rest)
		if errors.Is(err, syscall.EPIPE) {
			return nil // the watcher was killed, and nobody can be told
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("set watcher state: %w", err)
		}
		rest = rest[max(n, 0):]
	}
	return nil
}

// Dismiss ends the watcher without running its script. A second call does nothing.
func (w *Watcher) Dismiss() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe < 0 {
		return nil
	}
	err := errors.Join(w.setState("dismissed"), syscall.Close(w.pipe))
	w.pipe = -1
	_, waitErr := waitFor(w.pid, 0)
	if err = errors.Join(err, waitErr); err != nil {
		return fmt.Errorf("dismiss watcher: %w", err)
	}
	return nil
}

// waitFor is wait4 that retries after EINTR. It reports whether the process has ended.
//
// It is used for long-lived processes in place of os/exec, which needs a goroutine for each: leak detectors in tests
// would report the goroutine of a server that lasts as long as the test process.
func waitFor(pid, options int) (ended bool, err error) {
	for {
		got, err := syscall.Wait4(pid, nil, options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("wait for process %d: %w", pid, err)
		default:
			return got == pid, nil
		}
	}
}
