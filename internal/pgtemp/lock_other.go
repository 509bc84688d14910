//go:build !unix

package pgtemp

import "os"

// locksWork says that lockFile locks.
const locksWork = false

// lockFile opens a file without locking it: this system has no lock that a child process inherits.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// unlockFile closes a file.
func unlockFile(file *os.File) error { return file.Close() }

// shareLock returns nothing on this system, where processes do not inherit locks.
func (f *folder) shareLock() (*os.File, error) {
	return nil, nil //nolint:nilnil // there is nothing to hold
}
