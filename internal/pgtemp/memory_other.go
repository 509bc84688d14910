//go:build !linux

package pgtemp

// memoryFolder returns "": this system has no folder in memory.
func memoryFolder() string { return "" }
