//go:build unix

package main_test

import (
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// asNobody returns a function that makes a command run as the user nobody.
func asNobody(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	account, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseInt(account.Uid, 10, 64) // -2 on macOS
	must(t, err)
	gid, err := strconv.ParseInt(account.Gid, 10, 64)
	must(t, err)
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}
