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
	inMemoryWarning   = "ATTENTION: the data is in memory, where durability costs nothing: " +
		"THESE FIGURES DO NOT COUNT. Set TMPDIR to a folder on a disk."
)

// inMemory reports whether a file system keeps its data in memory.
func inMemory(fileSystem string) bool { return slices.Contains([]string{"tmpfs", "ramfs"}, fileSystem) }

// fileSystemOf returns the type of a folder's file system, or unknownFileSystem.
func fileSystemOf(folder string) string {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return unknownFileSystem // not Linux
	}
	defer func() { _ = mounts.Close() }() // only read
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved // otherwise the folder belongs to another user and is not readable
	}
	return mountedAt(mounts, folder)
}

// mountedAt returns the type of the closest mount at or above a folder. Of two mounts at the same path the later one wins.
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
