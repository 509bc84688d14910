package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

type measureCommand struct {
	Short    bool     `help:"Measure with small sizes, in about a minute."`
	Huge     bool     `help:"Also measure growth with ten million matches. This takes up to an hour and 20 GB."`
	Scenario []string `placeholder:"NAME" help:"Measure only these scenarios: ${scenarios}. The default is all."`
	Runs     int      `default:"1" placeholder:"N" help:"Number of runs; the figures are the medians (default: 1)."`
	Elobot   string   `type:"existingfile" xor:"program" placeholder:"FILE" help:"The elobot program to measure (default: built from the sources)."`
	Profile  string   `type:"path" xor:"program" placeholder:"DIR" help:"Folder for CPU and heap profiles of each bot. Figures of a profiled bot cannot be compared."`
	JSON     string   `name:"json" type:"path" placeholder:"FILE" help:"Write the figures to this file as JSON."`
	Compare  string   `type:"existingfile" placeholder:"FILE" help:"JSON file of an earlier run to compare with."`
}

// Run measures, prints the figures and writes them to a file if requested.
func (m *measureCommand) Run(ctx context.Context) (err error) {
	chosen, err := m.scenarios()
	if err != nil {
		return err
	}
	var old *measurement
	if m.Compare != "" {
		if old, err = readMeasurement(m.Compare); err != nil {
			return err
		}
	}
	size := fullSizes
	if m.Short {
		size = shortSizes
	}
	if m.Huge {
		size.bulk = slices.Concat(size.bulk, hugeBulk)
	}
	env, err := newEnvironment(ctx, size, m.Elobot, m.Profile, installedDefaults, newProgress(os.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.close()) }()
	if err := env.checkDurable(ctx); err != nil {
		return err
	}
	now, failed := m.measure(ctx, env, chosen)
	if ctx.Err() != nil {
		return failed // an incomplete run is worthless
	}
	printTable(os.Stdout, now, old)
	if m.JSON != "" {
		failed = errors.Join(failed, now.write(m.JSON))
	}
	return failed
}

// scenarios returns the scenarios to measure, in the usual order.
func (m *measureCommand) scenarios() ([]scenario, error) {
	if m.Runs < 1 {
		return nil, errors.New("--runs must be at least 1")
	}
	all := scenarios()
	for _, name := range m.Scenario {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
			return nil, fmt.Errorf("unknown scenario %q", name)
		}
	}
	if len(m.Scenario) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(s scenario) bool { return !slices.Contains(m.Scenario, s.name) }), nil
}

// measure runs the scenarios the requested number of times. A failed scenario does not stop the others: with an error,
// measure also returns the available figures.
func (m *measureCommand) measure(ctx context.Context, env *environment, chosen []scenario) (*measurement, error) {
	now := &measurement{
		Started: time.Now().UTC().Truncate(time.Second), Short: m.Short, Runs: m.Runs,
		CPUs: runtime.NumCPU(), Go: runtime.Version(), Postgres: env.server.Kind(), FileSystem: env.fileSystem,
		Profiled: m.Profile != "",
	}
	var failures []error
	for range m.Runs {
		figures, err := runScenarios(ctx, env, chosen)
		if err != nil {
			failures = append(failures, err)
		}
		if ctx.Err() != nil {
			break
		}
		now.add(append(figures, ratios(figures)...))
	}
	return now, errors.Join(failures...)
}

// runScenarios runs each scenario once.
func runScenarios(ctx context.Context, env *environment, chosen []scenario) ([]figure, error) {
	var figures []figure
	var failures []error
	for _, s := range chosen {
		env.progress.log("%s: %s", s.name, s.description)
		env.profiles.scenario = s.name
		found, err := s.run(ctx, env)
		figures = append(figures, found...)
		for _, f := range found {
			env.progress.log("%s: %s %s", f.Name, formatValue(f.Value), f.Unit)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", s.name, err))
			env.progress.log("%s failed: %v", s.name, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return figures, errors.Join(failures...)
}

// describeScenarios returns the names of all scenarios for the help.
func describeScenarios() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}
