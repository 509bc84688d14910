//go:build !unix

package pgtemp

import (
	"io/fs"
	"os"
	"os/exec"
)

// identity is the user that the server runs as. On this system it is always the user of this process.
type identity struct{}

func chooseIdentity(string) (identity, error) { return identity{}, nil }

// apply removes this process's settings for other servers from the environment of cmd.
func (identity) apply(cmd *exec.Cmd) {
	cmd.Env = append(os.Environ(), "PGDATA=", "PGPORT=", "LC_ALL=C", "TZ=UTC")
}

func (identity) chown(string) error { return nil }

func (identity) checkAccess(string) error { return nil }

func (identity) canEnter(string) bool { return true }

// trusted reports whether only this user or root can write to a folder. On this system each user has their own temporary
// folder.
func trusted(fs.FileInfo) bool { return true }
