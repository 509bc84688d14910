package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	unknownFileSystem = "unknown"
	inMemoryWarning   = "ATTENTION: the data lies in memory, where making it durable costs nothing: " +
		"THESE FIGURES DO NOT COUNT. Set TMPDIR to a folder on a disk."
)

// inMemory tells whether what is written to a file system stays in memory.
func inMemory(fileSystem string) bool { return slices.Contains([]string{"tmpfs", "ramfs"}, fileSystem) }

// fileSystemOf returns the kind of file system that a folder lies on, where the machine tells.
func fileSystemOf(folder string) string {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return unknownFileSystem // not Linux
	}
	defer func() { _ = mounts.Close() }() // what has been read is read
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved // otherwise another user's folder, which cannot be looked into
	}
	return mountedAt(mounts, folder)
}

// mountedAt finds the kind of what is mounted nearest above a folder. Of two at the same place the later one counts.
func mountedAt(mounts io.Reader, folder string) string {
	kind, nearest := unknownFileSystem, ""
	spaces := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		at := spaces.Replace(fields[1])
		above := folder == at || strings.HasPrefix(folder, strings.TrimSuffix(at, "/")+"/")
		if above && len(at) >= len(nearest) {
			kind, nearest = fields[2], at
		}
	}
	return kind
}
