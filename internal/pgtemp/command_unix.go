//go:build unix

package pgtemp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// gate starts a program only after it has read a line from stdin. If this process dies before it writes that line, the
// program never starts.
const gate = `read -r word && exec "$@" </dev/null`

// begin starts cmd in its own session and lets it run only after the watcher knows its process group. If this process
// dies at any moment, either the watcher sends the signal to the group, or cmd never runs.
func (w *Watcher) begin(cmd *exec.Cmd, signal string) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	cmd.Args = append([]string{"sh", "-c", gate, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.Stdin = reader
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	if err := errors.Join(cmd.Start(), reader.Close()); err != nil {
		return errors.Join(err, writer.Close())
	}
	err = w.Report(fmt.Sprintf("%s %d", signal, cmd.Process.Pid))
	if err == nil {
		_, err = writer.WriteString("go\n")
	}
	return errors.Join(err, writer.Close())
}

// run runs cmd to its end and returns its output. cmd must come from exec.CommandContext: when that context ends, run
// kills the whole process group of cmd.
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
