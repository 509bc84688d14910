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
	Short    bool     `help:"Measure with little of everything, in about a minute."`
	Huge     bool     `help:"Measure growth also with ten million matches, which takes up to an hour and 20 GB."`
	Scenario []string `placeholder:"NAME" help:"Only these: ${scenarios}. The default is all."`
	Runs     int      `default:"1" placeholder:"N" help:"How often everything is measured; the figures are the medians (default: 1)."`
	Elobot   string   `type:"existingfile" xor:"program" placeholder:"FILE" help:"The elobot to be measured (default: one that is built from the sources)."`
	Profile  string   `type:"path" xor:"program" placeholder:"DIR" help:"Where each bot writes CPU and heap profiles. Figures that come of it cannot be compared."`
	JSON     string   `name:"json" type:"path" placeholder:"FILE" help:"Where the figures are written as JSON."`
	Compare  string   `type:"existingfile" placeholder:"FILE" help:"The JSON of an earlier run, to be shown beside this one."`
}

// Run measures, shows the figures and writes them.
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
	env, err := newEnvironment(ctx, size, m.Elobot, m.Profile, asInstalled, newProgress(os.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.close()) }()
	if err := env.checkDurable(ctx); err != nil {
		return err
	}
	now, failed := m.measure(ctx, env, chosen)
	if ctx.Err() != nil {
		return failed // half a run is none
	}
	printTable(os.Stdout, now, old)
	if m.JSON != "" {
		failed = errors.Join(failed, now.write(m.JSON))
	}
	return failed
}

// scenarios returns what is to be measured, in the usual order.
func (m *measureCommand) scenarios() ([]scenario, error) {
	if m.Runs < 1 {
		return nil, errors.New("--runs must be at least 1")
	}
	all := scenarios()
	for _, name := range m.Scenario {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
			return nil, fmt.Errorf("there is no scenario %q", name)
		}
	}
	if len(m.Scenario) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(s scenario) bool { return !slices.Contains(m.Scenario, s.name) }), nil
}

// measure runs the scenarios as often as asked for. One that fails does not keep the others from being measured: with an
// error it returns the figures that there are.
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

// runScenarios runs scenarios once, one after another.
func runScenarios(ctx context.Context, env *environment, chosen []scenario) ([]figure, error) {
	var figures []figure
	var failures []error
	for _, s := range chosen {
		env.progress.say("%s: %s", s.name, s.description)
		env.profiles.scenario = s.name
		found, err := s.run(ctx, env)
		figures = append(figures, found...)
		for _, f := range found {
			env.progress.say("%s: %s %s", f.Name, formatValue(f.Value), f.Unit)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", s.name, err))
			env.progress.say("%s has failed: %v", s.name, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return figures, errors.Join(failures...)
}

// describeScenarios names all scenarios, for the help.
func describeScenarios() string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}
