package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestResident(t *testing.T) {
	t.Parallel()
	now, peak, err := resident(os.Getpid())
	if err != nil || now < 1e6 || peak < now || peak > 1e11 {
		t.Errorf("this process has %v bytes, peak %v (%v)", now, peak, err)
	}
	if _, _, err := resident(-1); err == nil {
		t.Error("got the memory of a missing process")
	}
}

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	// one child that has ended, and one that has not
	shell := exec.CommandContext(t.Context(), "sh", "-c", `
		sh -c 'n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done'
		echo ended; read line; echo $line`)
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	used, err := processorTime(shell.Process.Pid)
	if err != nil || used < 2*clockTick || used > time.Minute {
		t.Errorf("a shell whose child counted used %v (%v)", used, err)
	}
	if all, err := processorTime(os.Getpid()); err != nil || all < used {
		t.Errorf("this process and the shell used %v, the shell %v (%v)", all, used, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	_ = shell.Wait() // fails, because there is no line to read
	if _, err := processorTime(-1); err == nil {
		t.Error("got the time of a missing process")
	}
}
