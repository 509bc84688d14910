//go:build unix

package pgtemp

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens or creates a file and locks it. The lock lasts until all processes that inherit the file have closed it. The
// error is errInUse if another process has locked it.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
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

// processAlive reports whether there is a process with this id.
func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}

// syncFile returns when a file, or the names in a folder, are on the disk.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// memoryFolder returns a folder in memory, or "" if there is none with enough space.
func memoryFolder() string {
	const folder = "/dev/shm" // Linux has it; in containers it has little space
	const room = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return ""
	}
	return folder
}
