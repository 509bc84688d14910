package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProfileNames(t *testing.T) {
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
		t.Errorf("names = %s", got)
	}
	nowhere, err := newProfiles("")
	if err != nil || nowhere.next() != nil || nowhere.buildFlags() != nil {
		t.Errorf("without a folder: %v, %v (%v)", nowhere.next(), nowhere.buildFlags(), err)
	}
}
