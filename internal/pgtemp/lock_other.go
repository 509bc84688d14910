//go:build !unix

package pgtemp

import "os"

// lockFile opens a file without locking it: this system has no lock that a child process inherits.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// processLives is never asked here, because no lock is ever in use.
func processLives(int) bool { return false }
