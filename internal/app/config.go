package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// Config is the configuration of the bot. The values come from flags, the environment, or a .env
// file in the working directory: flags override the environment, which overrides the file.
type Config struct {
	TelegramConfig
	DatabaseConfig
	WebhookConfig
	UndoWindow  string `env:"UNDO_WINDOW" placeholder:"DURATION" help:"How long the players and the reporter of a match can undo or correct it, and an undo can be taken back, such as 90m or 24h (default: 24h)."`
	LogLevel    string `env:"LOG_LEVEL" placeholder:"LEVEL" help:"Lowest level to log: debug, info, warn or error (default: info)."`
	LogFormat   string `env:"LOG_FORMAT" placeholder:"FORMAT" help:"Log format: text or json (default: text)."`
	ResultLimit string `env:"RESULT_LIMIT" placeholder:"N" help:"How many results, undos, restores and corrections each person may send per minute, or off for no limit (default: 60)."`
	AskUnusual  string `env:"ASK_UNUSUAL" placeholder:"on|off" help:"Whether to ask about results that are probably a mistake: the same one reported twice, a new username that is nearly a known one, or a correction that changes the winner: on or off (default: on)."`
	ServingConfig
	SendingConfig `group:"Sending"`
	// Sources are the file and the environment that the settings come from. Resolve adds their
	// faults to its own.
	Sources Sources `kong:"-"`

	// Resolve sets these.
	undoWindow  time.Duration
	logLevel    slog.Level
	resultLimit int // negative for no limit
	askUnusual  bool
}

// TelegramConfig identifies the bot and its Bot API server.
type TelegramConfig struct {
	Token       string `name:"token" env:"TELEGRAM_BOT_TOKEN" placeholder:"TOKEN" help:"The bot's token from @BotFather. Set it in the environment: other users of the machine can see flags."`
	TelegramURL string `name:"telegram-api-url" env:"TELEGRAM_API_URL" placeholder:"URL" help:"Bot API server (default: https://api.telegram.org)."`
}

// DatabaseConfig locates the database. Without a DatabaseURL, the bot keeps its own database.
type DatabaseConfig struct {
	DatabaseURL string `env:"DATABASE_URL" placeholder:"URL" help:"PostgreSQL database, such as postgres://user:password@host:5432/database; without one, the bot keeps its own (default: none)."`
	DataDir     string `name:"data" env:"DATA_DIR" placeholder:"DIR" help:"Folder in which the bot keeps its own database if DATABASE_URL is not set, or off to make DATABASE_URL required (default: elobot-data)."`
}

// ConfigError lists faults of the configuration, one sentence each.
type ConfigError struct {
	Faults []string
}

func (e *ConfigError) Error() string {
	return "the configuration is not valid, nothing was started:\n  - " + strings.Join(e.Faults, "\n  - ")
}

// tokenForm matches anything that may be a token. Real tokens have 35 characters after the colon,
// but Telegram does not document that, so 25 are enough.
var tokenForm = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]{25,}$`)

// Resolve fills in the defaults and checks the configuration. If there are faults, it returns a
// *ConfigError that lists all of them. The faults never quote a token or a password.
func (c *Config) Resolve() error {
	c.LogLevel = cmp.Or(c.LogLevel, "info")
	c.LogFormat = cmp.Or(c.LogFormat, "text")
	c.UndoWindow = cmp.Or(c.UndoWindow, "24h")
	r := settingsReader{slices.Concat(c.Sources.faults, c.TelegramConfig.Resolve(), c.DatabaseConfig.Faults())}
	if c.WebhookURL != "" {
		r.wrong(c.WebhookConfig.Faults(c.TelegramURL)...)
	}
	if c.undoWindow = duration(c.UndoWindow); c.undoWindow < time.Minute || c.undoWindow%time.Minute != 0 {
		r.wrong("UNDO_WINDOW must be a duration in whole minutes, such as 90m or 24h")
	}
	if err := c.logLevel.UnmarshalText([]byte(c.LogLevel)); err != nil {
		r.wrong("LOG_LEVEL must be debug, info, warn or error")
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		r.wrong("LOG_FORMAT must be text or json")
	}
	c.askUnusual = r.toggle("ASK_UNUSUAL", c.AskUnusual)
	r.wrong(c.ServingConfig.faults(c.WebhookURL)...)
	c.resultLimit = -1
	if c.ResultLimit != "off" {
		var limit settingsReader
		c.resultLimit = limit.number("RESULT_LIMIT", c.ResultLimit, 60, 1, 1_000_000)
		if len(limit.faults) > 0 {
			r.wrong("RESULT_LIMIT must be a whole number from 1 to 1000000, or off for no limit")
		}
	}
	c.SendingConfig.resolve(&r)
	if c.Token == "" {
		r.wrong(c.Sources.tokens...)
	}
	if len(r.faults) > 0 {
		return &ConfigError{append(r.faults, c.Sources.hints...)} // a hint may explain a fault
	}
	return nil
}

// Resolve fills in the default of TelegramURL. It returns the faults of the configuration, one
// sentence each, or nil for none.
func (c *TelegramConfig) Resolve() (faults []string) {
	c.TelegramURL = cmp.Or(c.TelegramURL, telegram.DefaultURL)
	switch {
	case c.Token == "":
		faults = append(faults, "TELEGRAM_BOT_TOKEN is not set: create a bot with @BotFather in Telegram, "+
			"and put its token into the environment or into a file named .env")
	case !tokenForm.MatchString(c.Token):
		faults = append(faults, "TELEGRAM_BOT_TOKEN does not look like a token, which is a number, a colon, "+
			"and 35 letters, digits, _ or -: copy it again from @BotFather")
	}
	if readAddress(c.TelegramURL) == nil {
		faults = append(faults, "TELEGRAM_API_URL must be a web address without a query, user or password, such as "+
			telegram.DefaultURL+", or not be set")
	}
	return faults
}

// Faults returns the faults of DATABASE_URL, or of DATA_DIR if the bot keeps its own database.
func (c DatabaseConfig) Faults() []string {
	if c.own() {
		if c.DataDir == noDataDir {
			return []string{"DATABASE_URL is not set: set it to the address of a PostgreSQL database, " +
				"such as postgres://user:password@host:5432/database"}
		}
		var invalid *ConfigError
		if _, _, err := c.ownDir(); errors.As(err, &invalid) {
			return invalid.Faults
		}
		return nil // the code that uses the folder reports other errors
	}
	if _, err := postgres.ParseURL(c.DatabaseURL); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// readAddress parses a web address without a query, fragment, user or password. It returns nil for
// any other address, and for any address with an @, because what comes before an @ may be part of a
// password.
func readAddress(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" ||
		strings.ContainsAny(address, "?#@") {
		return nil
	}
	return u
}

// isProxy reports whether net/http can use address as a proxy, and address has no path other than
// /, no query and no fragment. The address may be a host and a port without a scheme.
func isProxy(address string) bool {
	full := address
	if !strings.Contains(address, "://") {
		full = "http://" + address
	}
	u, err := url.Parse(full)
	return err == nil && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) &&
		u.Hostname() != "" && (u.Port() != "" || full == address) &&
		// What follows the host may be part of a password.
		u.RequestURI() == "/" && u.Fragment == ""
}

func (c *Config) rankingSettings() ranking.Settings {
	return ranking.Settings{UndoWindow: c.undoWindow, ResultsPerMinute: c.resultLimit, AskUnusual: c.askUnusual}
}

// Logger returns the logger of a resolved configuration. It writes to standard error.
func (c *Config) Logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: c.logLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// WithClient calls do with a Telegram client and a context that ends after requestTimeout, and
// closes the client afterward. It returns a *ConfigError if the configuration has faults, or if
// more, which lists other faults that the caller has found, is not empty.
func (c *TelegramConfig) WithClient(
	ctx context.Context, more []string, do func(context.Context, *telegram.Client) error,
) error {
	if faults := append(c.Resolve(), more...); len(faults) > 0 {
		return &ConfigError{faults}
	}
	client, err := telegram.NewClient(c.Token, c.TelegramURL)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return do(ctx, client)
}
