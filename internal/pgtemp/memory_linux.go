package pgtemp

import "syscall"

// memoryFolder is a folder in memory, or "" when it has too little room.
func memoryFolder() string {
	const folder = "/dev/shm"
	const room = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Type != 0x01021994 || fs.Bavail*uint64(fs.Bsize) < room {
		return "" // containers have little, and some systems no such folder
	}
	return folder
}
