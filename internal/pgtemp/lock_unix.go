//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// locksWork says that lockFile locks.
const locksWork = true

// lockFile opens or creates a file and locks it. The lock lasts until all processes that inherit the file have closed it. The
// error is errInUse if another process has locked it.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unlockFile unlocks a file at once and closes it. A process that is being started may have inherited the file for a moment.
func unlockFile(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// shareLock returns the lock of a named folder once more, for a server that is started now or later. It is nil if the folder has no
// name.
func (f *folder) shareLock() (*os.File, error) {
	if f.lock == nil {
		return nil, nil //nolint:nilnil // there is nothing to hold
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.lock.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("share lock: %w", err)
	}
	return os.NewFile(uintptr(fd), f.lock.Name()), nil
}
