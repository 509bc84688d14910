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

// profileVariable is how the names begin of the files that the profiles are written to.
const profileVariable = "ELOBOT_PROFILE"

// profile writes what this process does with its time and its memory to NAME-cpu.pprof and NAME-heap.pprof, where
// ELOBOT_PROFILE is that NAME. The heap is the one of the moment at which ctx ends, while everything is there still.
// What is returned must run at the end.
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
		complain(err)
		return func() {}
	}
	heap := make(chan error, 1)
	writeHeap := func() { heap <- writeHeapProfile(name + "-heap.pprof") }
	unwatch := context.AfterFunc(ctx, writeHeap)
	return func() {
		if unwatch() { // nobody has ended it
			writeHeap()
		}
		pprof.StopCPUProfile()
		if err := errors.Join(<-heap, cpu.Close()); err != nil {
			complain(err)
		}
	}
}

// writeHeapProfile writes what is in use.
func writeHeapProfile(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC() // otherwise it would be what was in use at the last one
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}

func complain(err error) { fmt.Fprintln(os.Stderr, "elobot: there is no profile:", err) }
