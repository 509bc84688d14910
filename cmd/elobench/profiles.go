package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const profiledWarning = "ATTENTION: the bot was profiled, which takes time and memory: " +
	"do not compare these figures with those of a bot that was not profiled."

// profiles assigns the files for CPU and heap profiles to each launched bot.
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
		return nil, fmt.Errorf("create the folder for profiles: %w", err)
	}
	return p, nil
}

// buildFlags returns the flags to build a bot with profiling. Other builds cannot be profiled.
func (p *profiles) buildFlags() []string {
	if p.folder == "" {
		return nil
	}
	return []string{"-tags", "profile"}
}

// next returns the environment for the profiles of the next bot. The first bot of a scenario writes scenario-cpu.pprof and
// scenario-heap.pprof, the second scenario-2-cpu.pprof, and so on.
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
