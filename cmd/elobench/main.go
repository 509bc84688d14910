// Command elobench measures the bot: the real process with a real, durable database and a simulated Telegram, all on this
// machine. Machines differ, so compare the ratios between figures of one run.
//
//	go run ./cmd/elobench --short
//	go run ./cmd/elobench --json=new.json --compare=old.json
//	go run ./cmd/elobench --scenario=memory --profile=profiles
//
// It prints its progress on standard error, and at the end a table on standard output.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// echoArgument makes this program run the echo bot.
const echoArgument = "echo"

func main() {
	os.Exit(realMain(os.Args[1:]))
}

// realMain runs the command and returns the exit code.
func realMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// a second signal ends the process immediately
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

// report prints an error, if any, on standard error and returns the exit code.
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
