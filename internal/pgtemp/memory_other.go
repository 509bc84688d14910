//go:build !linux

package pgtemp

// memoryFolder is a folder in memory: this system has none.
func memoryFolder() string { return "" }
