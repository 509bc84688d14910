// Command elobot keeps Elo rankings in Telegram group chats.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set when a release is built.
var version = "dev"

// Exit codes.
const (
	exitFailure       = 1
	exitConfiguration = 2
)

type commands struct {
	Run     runCommand     `cmd:"" help:"Run the bot."`
	Demo    demoCommand    `cmd:"" help:"Play a scene with a pretended Telegram and a database of its own, then chat with the bot."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(realMain(os.Args[1:]))
}

// realMain runs the command of the arguments and returns the exit code.
func realMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// whoever asks a second time does not want to wait
	context.AfterFunc(ctx, stop)

	parser, err := kong.New(&commands{},
		kong.Name("elobot"),
		kong.Description("Elo rankings for Telegram group chats."),
		kong.Resolvers(dotenv(".env")),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return report(err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		return report(err)
	}
	err = command.Run()
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 0 // stopped because it was told to, at whatever point
	}
	return report(err)
}

// report says on standard error what went wrong and returns the exit code for it.
func report(err error) int {
	fmt.Fprintf(os.Stderr, "elobot: %v\n", err)
	var wrong *configurationError
	var usage *kong.ParseError
	switch {
	case errors.As(err, &wrong):
		return exitConfiguration
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "Try: elobot --help")
		return exitConfiguration
	default:
		return exitFailure
	}
}
