package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const profiledWarning = "ATTENTION: the bot was profiled meanwhile, which takes time and memory: " +
	"these figures cannot be compared with those of a bot that was not."

// profiles are where each bot that is launched writes what it does with its time and its memory.
type profiles struct {
	folder   string // "" for nowhere
	scenario string
	launched map[string]int // bots by scenario
}

func newProfiles(folder string) (*profiles, error) {
	p := &profiles{folder: folder, launched: make(map[string]int)}
	if folder == "" {
		return p, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for the profiles: %w", err)
	}
	return p, nil
}

// buildFlags has a bot be built that can be profiled. Others cannot: nobody but this program has a use for it.
func (p *profiles) buildFlags() []string {
	if p.folder == "" {
		return nil
	}
	return []string{"-tags", "profile"}
}

// next tells the next bot where its profiles belong: those of the first one in scenario-cpu.pprof and
// scenario-heap.pprof, those of the second in scenario-2-cpu.pprof, and so on.
func (p *profiles) next() []string {
	if p.folder == "" {
		return nil
	}
	p.launched[p.scenario]++
	name := p.scenario
	if n := p.launched[p.scenario]; n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []string{"ELOBOT_PROFILE=" + filepath.Join(p.folder, name)}
}
