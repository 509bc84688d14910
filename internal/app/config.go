package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/joho/godotenv"

	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// Config is what the bot has to be told. The values come from the environment, from a .env file in the working folder
// or from flags; a flag wins over the environment, and the environment over the file.
type Config struct {
	TelegramConfig
	DatabaseConfig
	WebhookConfig
	UndoWindow    string `env:"UNDO_WINDOW" placeholder:"DURATION" help:"How long those who played or reported a match can undo and correct it, as 90m or 24h (default: 24h)."`
	LogLevel      string `env:"LOG_LEVEL" placeholder:"LEVEL" help:"What is logged: debug, info, warn or error (default: info)."`
	LogFormat     string `env:"LOG_FORMAT" placeholder:"FORMAT" help:"How it is logged: text or json (default: text)."`
	ResultLimit   string `env:"RESULT_LIMIT" placeholder:"N" help:"How many results, undos and corrections of one person count within a minute, or off (default: 60)."`
	ListenAddr    string `env:"LISTEN_ADDR" placeholder:"ADDRESS" help:"Where the metrics and the webhook are served, as :8080 or 127.0.0.1:8080 (default: nowhere)."`
	Port          string `env:"PORT" placeholder:"N" help:"The port of the webhook where there is no LISTEN_ADDR; the metrics are not served there (default: none)."`
	SendingConfig `group:"Sending"`

	resultLimit int // what complete has read, negative for none
}

// TelegramConfig is which bot it is.
type TelegramConfig struct {
	Token       string `name:"token" env:"TELEGRAM_BOT_TOKEN" placeholder:"TOKEN" help:"The bot's token from @BotFather. Set it in the environment: flags can be seen by others."`
	TelegramURL string `name:"telegram-api-url" env:"TELEGRAM_API_URL" placeholder:"URL" help:"The Bot API server (default: https://api.telegram.org)."`
}

// DatabaseConfig is where the database is.
type DatabaseConfig struct {
	DatabaseURL string `env:"DATABASE_URL" placeholder:"URL" help:"The PostgreSQL database, as postgres://user:password@host:5432/database."`
}

// ConfigError is everything that is wrong with the configuration, one sentence for each fault.
type ConfigError struct {
	Faults []string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return "the configuration is not right yet, nothing was started:\n  - " + strings.Join(e.Faults, "\n  - ")
}

var tokenForm = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

// Resolve fills in the defaults and reports all faults together. It never repeats a token or a password.
func (c *Config) Resolve() error {
	c.LogLevel = orDefault(c.LogLevel, "info")
	c.LogFormat = orDefault(c.LogFormat, "text")
	c.UndoWindow = orDefault(c.UndoWindow, "24h")

	faults := c.TelegramConfig.Resolve()
	faults = append(faults, c.DatabaseConfig.Faults()...)
	if c.WebhookURL != "" {
		faults = append(faults, c.WebhookConfig.Faults(c.TelegramURL)...)
	}
	if window, err := time.ParseDuration(c.UndoWindow); err != nil || window < time.Minute || window%time.Minute != 0 {
		faults = append(faults, "UNDO_WINDOW must be a time of whole minutes, such as 90m or 24h")
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		faults = append(faults, "LOG_LEVEL must be debug, info, warn or error")
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		faults = append(faults, "LOG_FORMAT must be text or json")
	}
	if fault := listenFault(c.ListenAddr); fault != "" {
		faults = append(faults, fault)
	}
	if _, err := strconv.ParseUint(orDefault(c.Port, "1"), 10, 16); err != nil {
		faults = append(faults, "PORT must be the number of a port, as 8080, and can be left out")
	}
	c.resultLimit = -1
	if c.ResultLimit != "off" {
		var r settingsReader
		c.resultLimit = r.number("RESULT_LIMIT", c.ResultLimit, 60, 1, 1_000_000)
		if len(r.faults) > 0 {
			faults = append(faults, "RESULT_LIMIT must be a whole number from 1 to 1000000, or off for none")
		}
	}
	faults = append(faults, c.SendingConfig.Resolve()...)
	if len(faults) > 0 {
		return &ConfigError{faults}
	}
	return nil
}

// Resolve fills in the default and returns what is wrong.
func (c *TelegramConfig) Resolve() (faults []string) {
	c.TelegramURL = orDefault(c.TelegramURL, telegram.DefaultURL)
	switch {
	case c.Token == "":
		faults = append(faults, "TELEGRAM_BOT_TOKEN is not set: talk to @BotFather in Telegram, create a bot, and put the token that you get into the environment or into a file named .env")
	case !tokenForm.MatchString(c.Token):
		faults = append(faults, "TELEGRAM_BOT_TOKEN does not look like a token (123456789:AbC…): copy it once more from @BotFather")
	}
	if fault := telegramFault(c.TelegramURL); fault != "" {
		faults = append(faults, fault)
	}
	return faults
}

// Faults says what is wrong with DATABASE_URL, if anything is.
func (c DatabaseConfig) Faults() []string {
	if c.DatabaseURL == "" {
		return []string{"DATABASE_URL is not set: it says where PostgreSQL is, as postgres://user:password@host:5432/database"}
	}
	if _, err := pgxpool.ParseConfig(c.DatabaseURL); err != nil {
		return []string{databaseFault(err)}
	}
	return nil
}

// databaseFault says why pgx cannot use DATABASE_URL. Its own words would quote the address.
func databaseFault(err error) string {
	failed := func(step string) bool { // pgx tells its steps apart by their words alone
		var parse *pgconn.ParseConfigError
		if !errors.As(err, &parse) || parse.Unwrap() == nil {
			return false
		}
		return strings.HasSuffix(parse.Error(), ": "+step+" ("+parse.Unwrap().Error()+")")
	}
	switch {
	case failed("failed to configure TLS"):
		return "the encryption that DATABASE_URL, or a PG… variable, asks for cannot be had: sslmode must be a mode that there is, and sslrootcert, sslcert and sslkey must name files that can be read and are what they should be"
	case failed("failed to read service"):
		return "the service that DATABASE_URL, or PGSERVICE, names cannot be found: it must stand in the file that servicefile, or PGSERVICEFILE, names, which must be there"
	default:
		return "DATABASE_URL is no address of a PostgreSQL database: it looks like postgres://user:password@host:5432/database, with special characters in the password written as %XX"
	}
}

// telegramFault says what is wrong with TELEGRAM_API_URL, if anything is: the names of the methods are put behind it.
func telegramFault(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https":
		return "TELEGRAM_API_URL is no web address: it looks like " + telegram.DefaultURL + ", and can be left out"
	case u.User != nil, strings.ContainsAny(address, "?#"):
		return "TELEGRAM_API_URL must be only scheme and host, and perhaps a path: it looks like " + telegram.DefaultURL + ", and can be left out"
	default:
		return ""
	}
}

// RankingSettings returns how a complete configuration has rankings kept.
func (c *Config) RankingSettings() (ranking.Settings, error) {
	window, err := time.ParseDuration(c.UndoWindow)
	if err != nil {
		return ranking.Settings{}, fmt.Errorf("read undo window: %w", err)
	}
	return ranking.Settings{UndoWindow: window, ResultsPerMinute: c.resultLimit}, nil
}

// Logger returns the logger that a complete configuration asks for.
func (c *Config) Logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, fmt.Errorf("read log level: %w", err)
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// Dotenv resolves flags from a file of NAME=value lines, if there is one. What the environment sets wins.
func Dotenv(path string) kong.Resolver {
	values, err := readDotenv(path)
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if len(flag.Envs) == 0 {
			return nil, nil // documented by kong: no value
		}
		if err != nil {
			return nil, err
		}
		for _, name := range flag.Envs {
			value, inFile := values[name]
			if os.Getenv(name) == "" && inFile {
				return value, nil
			}
		}
		return nil, nil // documented by kong: no value
	})
}

// readDotenv reads a file of settings, if there is one. The error never quotes it: the token stands there.
func readDotenv(path string) (map[string]string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // without the file there are no settings in it
	}
	if err != nil {
		return nil, &ConfigError{[]string{
			"the file " + path + " is there and cannot be opened: it must be a file, not a folder, and one that this user may read"}}
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff")) // editors on Windows put it at the beginning
	values, err := godotenv.UnmarshalBytes(content)
	if err != nil {
		return nil, &ConfigError{[]string{
			"the file " + path + " cannot be read as settings: it needs one NAME=value on each line, and comments begin with #"}}
	}
	return values, nil
}

// WithClient calls a function with a client of the bot.
func (c *TelegramConfig) WithClient(ctx context.Context, more []string, do func(context.Context, *telegram.Client) error) error {
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
