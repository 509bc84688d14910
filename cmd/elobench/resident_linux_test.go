package main

import (
	"os"
	"testing"
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

func TestKibibytes(t *testing.T) {
	t.Parallel()
	const status = "Name:\telobot VmRSS: 1 kB\nVmPeak:\t 2 kB\nVmRSS:\t   12345 kB\nVmBad:\tmuch kB\nVmLib:\t 3 MB\n"
	if got, err := kibibytes(status, "VmRSS:"); got != 12345*1024 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"VmHWM:", "VmBad:", "VmLib:"} {
		if got, err := kibibytes(status, name); err == nil {
			t.Errorf("%s = %v, want an error", name, got)
		}
	}
}
