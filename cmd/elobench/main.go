// Command elobench measures elobot: the real program, with a real and durable PostgreSQL and a
// simulated Telegram, all on this machine. It prints results in Go's benchmark format on standard
// output, and its progress on standard error. Machines differ, so compare only figures from the
// same machine, with benchstat:
//
//	go run ./cmd/elobench --short
//	go run ./cmd/elobench --count 5 --elobot ./elobot.before > before.txt
//	go run ./cmd/elobench --count 5 > after.txt
//	benchstat before.txt after.txt
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	command := kong.Parse(&measureCommand{}, kong.Description("Measures elobot on this machine."),
		kong.Vars{"scenarios": strings.Join(names, ", ")}, kong.BindTo(ctx, (*context.Context)(nil)))
	command.FatalIfErrorf(command.Run())
}

type scenario struct {
	name string
	// run measures once and reports its results. It leaves nothing running.
	run func(context.Context, *bench) error
}

// scenarios lists all scenarios in the order in which they run.
var scenarios = []scenario{
	{"cost", measureCost},
	{"throughput", measureThroughput},
	{"latency", measureLatency},
	{"contention", measureContention},
	{"growth", measureGrowth},
	{"replay", measureReplay},
	{"views", measureViews},
	{"web", measureWeb},
}

type measureCommand struct {
	Short    bool     `help:"Measure with small sizes, in about a minute."`
	Scenario []string `placeholder:"NAME" help:"Measure only these scenarios: ${scenarios}. The default is all."`
	Count    int      `default:"1" placeholder:"N" help:"Measure N times, for benchstat (default: 1)."`
	Elobot   string   `type:"existingfile" placeholder:"FILE" help:"The elobot program to measure (default: built from the sources)."`
}

func (m *measureCommand) Run(ctx context.Context) (err error) {
	for _, name := range m.Scenario {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name }) {
			return fmt.Errorf("unknown scenario %q", name)
		}
	}
	b := &bench{sizes: fullSizes, elobot: m.Elobot, results: os.Stdout, progress: log.New(os.Stderr, "", log.Ltime)}
	if m.Short {
		b.sizes = shortSizes
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.start(ctx, nil); err != nil {
		return err
	}
	for range m.Count {
		for _, s := range scenarios {
			if len(m.Scenario) > 0 && !slices.Contains(m.Scenario, s.name) {
				continue
			}
			b.progress.Printf("%s", s.name)
			if err := s.run(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}
