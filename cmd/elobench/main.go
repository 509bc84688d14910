// Command elobench measures the bot: the real process, on a real and durable database, with a simulated Telegram, all on
// this machine. Machines differ, so what counts are the ratios between figures of one run.
//
//	go run ./cmd/elobench --short
//	go run ./cmd/elobench --json=new.json --compare=old.json
//	go run ./cmd/elobench --scenario=memory --profile=profiles
//
// It prints what it does on standard error, and at the end a table on standard output.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// echoArgument has this program be the echo bot.
const echoArgument = "echo"

func main() {
	os.Exit(realMain(os.Args[1:]))
}

// realMain does what the arguments say and returns the exit code.
func realMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// whoever asks a second time does not want to wait
	context.AfterFunc(ctx, stop)

	if slices.Equal(args, []string{echoArgument}) {
		return report(runEcho(ctx))
	}
	parser, err := kong.New(&measureCommand{},
		kong.Name("elobench"),
		kong.Description("Measures elobot on this machine."),
		kong.Vars{"scenarios": describeScenarios()},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return report(err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		return report(err)
	}
	return report(command.Run())
}

// report says on standard error what went wrong, if anything did, and returns the exit code for it.
func report(err error) int {
	var usage *kong.ParseError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "elobench:", err)
		fmt.Fprintln(os.Stderr, "Try: elobench --help")
		return exitUsage
	default:
		fmt.Fprintln(os.Stderr, "elobench:", err)
		return exitFailure
	}
}

// forgetDatabaseSettings removes the variables of PostgreSQL's programs from this process: they mean the reader's own
// server, and would otherwise complete the address of the one that is measured.
func forgetDatabaseSettings() error {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "PG") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("forget %s: %w", name, err)
		}
	}
	return nil
}
