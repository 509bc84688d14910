//go:build profile

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profileVariable is the environment variable with the prefix of the profiles' file names.
const profileVariable = "ELOBOT_PROFILE"

// profile writes a CPU profile to NAME-cpu.pprof and a heap profile to NAME-heap.pprof, where NAME is the value of
// ELOBOT_PROFILE. It takes the heap profile when ctx ends, before anything is freed. Call finish at the end.
func profile(ctx context.Context) (finish func()) {
	name := os.Getenv(profileVariable)
	if name == "" {
		return func() {}
	}
	cpu, err := os.Create(name + "-cpu.pprof")
	if err == nil {
		err = pprof.StartCPUProfile(cpu)
	}
	if err != nil {
		warn(err)
		return func() {}
	}
	heap := make(chan error, 1)
	writeHeap := func() { heap <- writeHeapProfile(name + "-heap.pprof") }
	unwatch := context.AfterFunc(ctx, writeHeap)
	return func() {
		if unwatch() { // ctx has not ended
			writeHeap()
		}
		pprof.StopCPUProfile()
		if err := errors.Join(<-heap, cpu.Close()); err != nil {
			warn(err)
		}
	}
}

// writeHeapProfile writes a profile of the memory in use.
func writeHeapProfile(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC() // the profile shows the state at the last collection
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}

func warn(err error) { fmt.Fprintln(os.Stderr, "elobot: write profile:", err) }
