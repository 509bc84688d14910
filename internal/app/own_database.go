package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"elobot/internal/pgtemp"
)

const (
	// dataDir is the default folder of the bot's own database, in the working directory.
	dataDir = "elobot-data"
	// systemDataDir replaces dataDir if root runs the bot in a directory that other users cannot
	// enter, and dataDir has no database. PostgreSQL refuses to run as root, so it runs as another
	// user, who must be able to enter the folder.
	systemDataDir = "/var/lib/elobot"
	// noDataDir is the value of DATA_DIR that forbids a database of the bot's own.
	noDataDir = "off"
)

// own reports whether the bot keeps its own database.
func (c DatabaseConfig) own() bool { return c.DatabaseURL == "" }

// ownDir returns the folder of the bot's own database, and a note for the operator if it chose
// systemDataDir over dataDir. It returns a *ConfigError if the operator must act before a folder
// can be used.
func (c DatabaseConfig) ownDir() (dir, note string, err error) {
	if dir = c.DataDir; dir == "" {
		fits, err := pgtemp.Enterable(dataDir)
		if err != nil {
			return "", "", fmt.Errorf("choose a folder for the database: %w", err)
		}
		dir, note, err = chooseDir(fits, pgtemp.HasData(dataDir), os.Geteuid() == 0 && pgtemp.HasData(systemDataDir))
		if err != nil {
			return "", "", err
		}
	}
	switch err := pgtemp.CheckFolder(dir); {
	case errors.Is(err, pgtemp.ErrForeignFolder):
		return "", "", &ConfigError{[]string{"the folder " + absolute(dir) +
			" is not empty, and elobot did not make it: set DATA_DIR to an " +
			"empty folder, or to one that does not exist yet. If an older elobot made it, put an empty file named " +
			pgtemp.MarkerName + " into it"}}
	case err != nil:
		return "", "", fmt.Errorf("look into DATA_DIR, the folder of the bot's own database: %w", err)
	}
	return dir, note, nil
}

// chooseDir chooses between dataDir and systemDataDir. It must not pass over existing data, or the
// bot would silently start from scratch.
//
// fits reports whether PostgreSQL can use dataDir; hasData and systemHasData report whether dataDir
// and systemDataDir hold a database. systemHasData is false unless this user is root.
func chooseDir(fits, hasData, systemHasData bool) (dir, note string, err error) {
	switch {
	case fits && systemHasData:
		return "", "", &ConfigError{[]string{systemDataDir + " has a database, and " + dataDir +
			" in this directory would be used too: " +
			"set DATA_DIR to the one that you mean"}}
	case fits:
		return dataDir, "", nil
	case hasData:
		return "", "", &ConfigError{[]string{"PostgreSQL does not run as root, " +
			"and no other user can enter the folder " + dataDir +
			", which has a database: let others enter the directories above it, or run the bot as the folder's owner"}}
	default:
		return systemDataDir, "PostgreSQL does not run as root, and no other user can enter this directory", nil
	}
}

// serverOptions returns the options of the bot's own server. The log of a running server is never
// rotated, so the settings keep it short and free of data. JIT is off, because a hardened service
// is not allowed to generate code at run time, and no query of the bot runs long enough to gain
// from it.
func serverOptions(dir string, report func(string)) pgtemp.Options {
	return pgtemp.Options{
		DataDir: dir, Log: report,
		Settings: map[string]string{
			"log_checkpoints": "off", "log_error_verbosity": "terse", "log_min_error_statement": "panic", "jit": "off",
		},
	}
}

func (c DatabaseConfig) startOwn(ctx context.Context, log *slog.Logger) (*pgtemp.Server, error) {
	dir, note, err := c.ownDir()
	if err != nil {
		return nil, err
	}
	attributes := []any{"folder", absolute(dir)}
	if note != "" {
		attributes = append(attributes, "reason", note)
	}
	log.InfoContext(ctx, "DATABASE_URL is not set, the bot keeps its own database", attributes...)
	if err := pgtemp.UnsetVariables(); err != nil {
		return nil, err
	}
	server, err := pgtemp.Start(ctx,
		serverOptions(dir, func(progress string) { log.InfoContext(ctx, "own database", "progress", progress) }))
	if err != nil {
		return nil, fmt.Errorf("start the bot's own database: %w", err)
	}
	return server, nil
}

// keepOwn restarts the bot's own server whenever the server ends, until the context ends or a
// restart fails.
func keepOwn(ctx context.Context, own *pgtemp.Server, log *slog.Logger) error {
	return own.Keep(ctx, func(reason error) {
		log.WarnContext(ctx, "the bot's own database ended, starting it again", "error", reason)
	})
}

// WithOwn calls do with the URL and the folder of the bot's own database. If the database is not
// running, WithOwn starts it and stops it afterward. It returns a *ConfigError if the bot has no
// database of its own.
func (c DatabaseConfig) WithOwn(ctx context.Context, do func(url, dir string) error) error {
	if !c.own() || c.DataDir == noDataDir {
		return &ConfigError{[]string{"the bot does not keep its own database: DATABASE_URL is set, or DATA_DIR is off"}}
	}
	dir, _, err := c.ownDir()
	if err != nil {
		return err
	}
	if !pgtemp.HasData(dir) {
		return &ConfigError{[]string{"DATABASE_URL is not set, " +
			"and the bot has not made its own database in " + dir + " yet: " +
			"use this in the directory where `elobot run` runs, or set DATABASE_URL or DATA_DIR"}}
	}
	if err := pgtemp.UnsetVariables(); err != nil {
		return err
	}
	url, release, err := pgtemp.Use(ctx, serverOptions(dir, func(progress string) { fmt.Fprintln(os.Stderr, progress) }))
	if err != nil {
		return err
	}
	defer stopServer(ctx, release)
	return do(url, dir)
}

// stopServer calls stop, which ends this process's use of the bot's own server, even if ctx has
// ended. It prints any error.
func stopServer(ctx context.Context, stop func(context.Context) error) {
	if err := stop(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, "elobot:", err)
	}
}
