//go:build unix

package pgtemp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// watcherFrame runs before the script of a watcher. It reads from a pipe until the other end is
// closed, and keeps the last line in $state. The line "dismissed" ends the watcher without running
// the script. Only this process holds the other end, so the system closes it when this process
// dies. The watcher ignores the signals that a terminal or a service manager sends to all
// processes, because it must survive them to do its work.
const watcherFrame = `trap '' HUP INT TERM
PATH="${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin"
state=
while IFS= read -r line; do
	[ "$line" = dismissed ] && exit 0
	state=$line
done
`

// Watcher is a process that runs a script after this process has ended, unless it is dismissed
// first.
type Watcher struct {
	mu      sync.Mutex
	process *os.Process
	pipe    io.WriteCloser // nil once dismissed
}

// watchers keeps all watchers reachable, because the garbage collector would close their pipes. A
// server may be in use by its URL long after the last other reference to its Watcher is gone.
var watchers sync.Map

// AtExit makes /bin/sh run script after this process has ended, even by SIGKILL. The script gets
// args as $1, $2 and so on, and the last state set by Report as $state. It runs in a session of its
// own, in the folder /, with this process's environment and a longer PATH, but without this
// process's standard streams.
func AtExit(script string, args ...string) (*Watcher, error) {
	return watch(nil, script, args...)
}

// watch is like AtExit. If keep is not nil, the watcher also keeps that file open until it ends.
func watch(keep *os.File, script string, args ...string) (*Watcher, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", watcherFrame + script, "elobot-watcher"}, args...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if keep != nil {
		cmd.ExtraFiles = []*os.File{keep}
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start watcher: %w", err)
	}
	w := &Watcher{process: cmd.Process, pipe: pipe}
	watchers.Store(w, nil)
	return w, nil
}

// Report sets $state for the script. The state must be one line other than "dismissed". Report
// fails after Dismiss.
func (w *Watcher) Report(state string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe == nil {
		return errors.New("set watcher state: the watcher was dismissed")
	}
	return w.tell(state)
}

// tell writes a line to the watcher. It returns nil if the watcher was killed.
func (w *Watcher) tell(line string) error {
	if _, err := io.WriteString(w.pipe, line+"\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("tell the watcher: %w", err)
	}
	return nil
}

// Dismiss ends the watcher without running its script. Further calls after a successful one do
// nothing.
func (w *Watcher) Dismiss() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe == nil {
		return nil
	}
	err := w.tell("dismissed")
	_, waitErr := w.process.Wait()
	if err = errors.Join(err, w.pipe.Close(), waitErr); err != nil {
		return fmt.Errorf("dismiss watcher: %w", err)
	}
	w.pipe = nil
	watchers.Delete(w)
	return nil
}

// gate starts a program only after reading a line from stdin. If this process dies before it writes
// the line, the program never starts.
const gate = `read -r word && exec "$@" </dev/null`

// begin starts cmd in a session of its own, but lets cmd run only after the watcher, whose script
// must be programsScript, has been told the process group of cmd. So if this process dies at any
// moment, either the watcher sends the signal to the group, or cmd never runs.
func (w *Watcher) begin(cmd *exec.Cmd, signal string) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	cmd.Args = append([]string{"sh", "-c", gate, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = w.Report(fmt.Sprintf("%s %d", signal, cmd.Process.Pid))
	if err == nil {
		_, err = io.WriteString(input, "go\n")
	}
	return errors.Join(err, input.Close())
}

// run runs cmd to completion and returns its standard output and standard error together. cmd must
// come from exec.CommandContext. When that context ends, run kills cmd's whole process group.
func (w *Watcher) run(cmd *exec.Cmd) (string, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	name := cmd.Args[0]
	err := w.begin(cmd, "KILL")
	if cmd.Process != nil {
		err = errors.Join(err, cmd.Wait(), w.Report(""))
	}
	if err != nil {
		return output.String(), fmt.Errorf("run %s: %w: %s", name, err, lastLines(output.String()))
	}
	return output.String(), nil
}
