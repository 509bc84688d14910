// Command elobot keeps Elo rankings in Telegram group chats.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"elobot/internal/app"
	"elobot/internal/ranking"
)

// Exit codes; docs/operating.md explains them.
const (
	exitFailure       = 1 // something failed
	exitConfiguration = 2 // arguments or settings are wrong
	exitPermanent     = 3 // every start would fail until the operator changes something
)

type commands struct {
	Run      runCommand      `cmd:"" help:"Run the bot."`
	Demo     demoCommand     `cmd:"" help:"Play a month of a group on a simulated Telegram with a temporary database, then chat with the bot."`
	Health   healthCommand   `cmd:"" help:"Ask the bot on this machine whether it is ready: for health checks of containers."`
	Doctor   doctorCommand   `cmd:"" help:"Examine everything that the bot needs, and say what to do. It changes nothing, but starts the bot's own PostgreSQL for as long as it runs, if it is not running."`
	Verify   verifyCommand   `cmd:"" help:"Replay all matches, and list where the stored ratings differ."`
	Import   importCommand   `cmd:"" help:"Import the results of a file into a group's ranking, restore an export, or take an import back."`
	Export   exportCommand   `cmd:"" help:"Write all data of a group into a zip file: an export that elobot import restores, and CSV files for spreadsheets."`
	Forget   forgetCommand   `cmd:"" help:"Forget a person, whose matches stay, or delete a group."`
	Dead     deadCommand     `cmd:"" help:"List, retry or drop dead letters: updates and notices that failed for good."`
	Adopt    adoptCommand    `cmd:"" help:"Hand the database over to another bot: the one with this token."`
	Database databaseCommand `cmd:"" help:"Run a program such as psql or pg_dump on the bot's own database, which elobot run keeps without DATABASE_URL."`
	Webhook  webhookCommand  `cmd:"" help:"Show, set or delete the webhook that Telegram delivers updates to."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
	Help     helpCommand     `cmd:"" help:"Show help for elobot or for one of its commands."`

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`
}

func main() {
	// Look up TZ in the time zones that are built in, because the container image has no zone
	// files.
	if zone, ok := ranking.FindTimeZone(strings.TrimPrefix(os.Getenv("TZ"), ":")); ok {
		time.Local = ranking.Display{TimeZone: zone}.Zone()
	}
	os.Exit(realMain(os.Args[1:]))
}

// realMain runs the command in the arguments and returns the exit code.
func realMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Stop catching signals after the first, so that a second signal ends the process at once.
	context.AfterFunc(ctx, stop)

	sources := app.ReadSources(".env", os.Environ())
	parser, err := kong.New(&commands{},
		kong.Name("elobot"),
		kong.Description("Elo rankings for Telegram group chats.\n\nExit codes: 0 if all went well, 1 if something failed, "+
			"2 if arguments or settings are wrong, 3 if the same would happen at every start until you change something."),
		kong.Resolvers(sources),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Vars{"version": version()},
	)
	if err != nil {
		return report(err)
	}
	if len(args) == 0 {
		args = []string{"help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		return report(err)
	}
	switch c := command.Selected().Target.Addr().Interface().(type) {
	case *runCommand: // run and doctor list these faults together with all others
		c.Sources = *sources
	case *doctorCommand:
		c.Sources = *sources
	default:
		if err := sources.Check(); err != nil {
			return report(err)
		}
	}
	err = command.Run()
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 0 // done, or stopped by a signal
	}
	return report(err)
}

// secretLike matches what may be a token, or an address with a password. A time of day such as
// 14:00 does not match.
var secretLike = regexp.MustCompile(`[0-9]+:[A-Za-z0-9_-]{3,}|\w+://\S*@\S*`)

// addressLike matches arguments that may contain an address with a password, even an address that
// is split at its spaces.
var addressLike = regexp.MustCompile(`://.*@|\b(user|password) *=`)

// report prints an error to standard error and returns its exit code.
func report(err error) int {
	var config *app.ConfigError
	var usage *kong.ParseError
	text, code := err.Error(), exitFailure
	switch {
	case errors.As(err, &config): // without the parser's error, which names an unrelated flag
		text, code = config.Error(), exitConfiguration
	case errors.As(err, &usage): // quotes the arguments, which may contain a token by mistake
		text, code = secretLike.ReplaceAllString(text, "***"), exitConfiguration
		if addressLike.MatchString(strings.Join(usage.Context.Args, " ")) {
			text = "the arguments are wrong. They have an address with a password, " +
				"so they are not repeated here: check how the flags are spelt, and put the address in quotes, with a space as %20"
		}
		text += "\nTry: elobot --help"
	case app.IsPermanent(err):
		code = exitPermanent
	}
	fmt.Fprintln(os.Stderr, "elobot:", text)
	return code
}
