//go:build !unix

package pgtemp

import (
	"io/fs"
	"os"
	"os/exec"
)

// identity is the user that the server runs as: on this system always that of this process.
type identity struct{}

func chooseIdentity(string) (identity, error) { return identity{}, nil }

// apply keeps this process's settings for other servers from cmd.
func (identity) apply(cmd *exec.Cmd) {
	cmd.Env = append(os.Environ(), "PGDATA=", "PGPORT=", "LC_ALL=C", "TZ=UTC")
}

func (identity) give(string) error { return nil }

func (identity) canWork(string) error { return nil }

// trusted tells whether nobody but this user or root can have put something into a folder. Temporary folders are the user's own
// on this system.
func trusted(fs.FileInfo) bool { return true }
