package pgtemp

import "syscall"

// memoryFolder returns a folder in memory, or "" if there is none with enough space.
func memoryFolder() string {
	const folder = "/dev/shm"
	const room = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Type != 0x01021994 || fs.Bavail*uint64(fs.Bsize) < room {
		return "" // containers have little space, and some systems have no such folder
	}
	return folder
}
