//go:build !unix

package pgtemp

import (
	"fmt"
	"os/exec"
)

// run runs cmd to its end and returns its output.
func (*Watcher) run(cmd *exec.Cmd) (string, error) {
	output, err := cmd.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("run %s: %w: %s", cmd.Args[0], err, lastLines(string(output)))
	}
	return string(output), nil
}
