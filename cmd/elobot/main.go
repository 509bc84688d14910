// Command elobot keeps Elo rankings in Telegram group chats.
package main

import (
	"context"
	"elobot/internal/app"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
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
	Demo    demoCommand    `cmd:"" help:"Play a scene on a simulated Telegram with a temporary database, then chat with the bot."`
	Verify  verifyCommand  `cmd:"" help:"Replay all ratings from the first match, and list what differs from the database."`
	Dead    deadCommand    `cmd:"" help:"List, retry or drop what could not be handled or sent."`
	Adopt   adoptCommand   `cmd:"" help:"Hand the database over to another bot, the one with this token."`
	Webhook webhookCommand `cmd:"" help:"Show how Telegram delivers updates, and change it."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Help    helpCommand    `cmd:"" help:"Show help for elobot or for one of its commands."`

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`
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
	defer profile(ctx)()

	parser, err := kong.New(&commands{},
		kong.Name("elobot"),
		kong.Description("Elo rankings for Telegram group chats."),
		kong.Resolvers(app.Dotenv(".env")),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Vars{"version": "elobot " + version},
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

// secretLike finds in a command line what may be a token, or an address with a password.
var secretLike = regexp.MustCompile(`[0-9]+:[A-Za-z0-9_-]+|\w+://\S*@\S*`)

// report says on standard error what went wrong and returns the exit code for it.
func report(err error) int {
	var wrong *app.ConfigError
	var usage *kong.ParseError
	switch {
	case errors.As(err, &wrong): // alone: the parser would name the flag at which it found out
		fmt.Fprintln(os.Stderr, "elobot:", wrong)
		return exitConfiguration
	case errors.As(err, &usage): // quotes the arguments, in which a token does not belong but may stand
		fmt.Fprintln(os.Stderr, "elobot:", secretLike.ReplaceAllString(err.Error(), "***"))
		fmt.Fprintln(os.Stderr, "Try: elobot --help")
		return exitConfiguration
	default:
		fmt.Fprintln(os.Stderr, "elobot:", err)
		return exitFailure
	}
}
