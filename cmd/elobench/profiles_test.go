package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkProfiles: each bot leaves the profiles of its time and of its memory, and the figures say that it was profiled.
func checkProfiles(t *testing.T, measured *measurement, folder string) {
	t.Helper()
	if !measured.Profiled {
		t.Error("nothing says that the bot was profiled")
	}
	// the kinds of values that a profile has
	for name, kind := range map[string]string{
		"start-cpu.pprof": "nanoseconds", "start-heap.pprof": "inuse_space",
		"throughput-2-cpu.pprof": "nanoseconds", "throughput-2-heap.pprof": "inuse_space",
	} {
		if profile := unzip(t, filepath.Join(folder, name)); !strings.Contains(profile, kind) {
			t.Errorf("%s is no such profile:\n%q", name, profile)
		}
	}
	written, err := filepath.Glob(filepath.Join(folder, "start-*"))
	if err != nil || len(written) != 2 {
		t.Errorf("the bot that was started has written %v, %v", written, err)
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // what has been read is read
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	content, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(content)
}

func TestProfilesHaveNames(t *testing.T) {
	t.Parallel()
	p, err := newProfiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p.scenario = range []string{"latency", "throughput", "throughput", "latency", "throughput"} {
		_, name, _ := strings.Cut(p.next()[0], "ELOBOT_PROFILE="+p.folder+string(filepath.Separator))
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "latency throughput throughput-2 latency-2 throughput-3" {
		t.Errorf("the names are %s", got)
	}
	nowhere, err := newProfiles("")
	if err != nil || nowhere.next() != nil || nowhere.buildFlags() != nil {
		t.Errorf("without a folder there are %v, %v (%v)", nowhere.next(), nowhere.buildFlags(), err)
	}
}
