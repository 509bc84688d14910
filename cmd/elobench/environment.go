package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp"
	"elobot/internal/postgres"
	"elobot/migrations"
)

// environment is shared by all scenarios.
type environment struct {
	sizes       sizes
	progress    *progress
	profiles    *profiles
	server      *pgtemp.Server
	fileSystem  string // of the data
	elobot      string // path of the program to measure
	self        string // path of this program, which is also the echo bot
	folder      string // removed at the end
	databases   int    // number of databases created
	hasTemplate bool   // whether templateDatabase exists
}

// installedDefaults are PostgreSQL's default settings where pgtemp's are different.
var installedDefaults = map[string]string{"shared_buffers": "128MB"}

// newEnvironment starts a server with the given settings. It builds the bot unless elobot names a program. A bot built here
// writes profiles to profileFolder, unless that is empty.
func newEnvironment(
	ctx context.Context, sizes sizes, elobot, profileFolder string, settings map[string]string, progress *progress,
) (_ *environment, err error) {
	e := &environment{sizes: sizes, progress: progress, elobot: elobot}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if err := pgtemp.UnsetVariables(); err != nil {
		return nil, err
	}
	if e.profiles, err = newProfiles(profileFolder); err != nil {
		return nil, err
	}
	if e.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if e.folder, err = os.MkdirTemp("", "elobench-"); err != nil {
		return nil, fmt.Errorf("create a folder: %w", err)
	}
	if e.elobot == "" {
		progress.log("building elobot")
		if err := e.build(ctx); err != nil {
			return nil, err
		}
	}
	e.server, err = pgtemp.Start(ctx, pgtemp.Options{Settings: settings, Log: func(s string) { progress.log("%s", s) }})
	if err != nil {
		return nil, err
	}
	return e, e.findFileSystem(ctx)
}

// build builds the bot as the Dockerfile does.
func (e *environment) build(ctx context.Context) error {
	e.elobot = filepath.Join(e.folder, "elobot")
	args := []string{"build", "-o", e.elobot, "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}
	build := exec.CommandContext(ctx, "go", append(append(args, e.profiles.buildFlags()...), "elobot/cmd/elobot")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build elobot: %w: %s", err, out)
	}
	return nil
}

// findFileSystem determines the file system of the data.
func (e *environment) findFileSystem(ctx context.Context) error {
	folder, err := e.setting(ctx, "data_directory")
	if err != nil {
		return err
	}
	e.fileSystem = unknownFileSystem
	if e.server.PID() != 0 { // a folder inside a container is not on this machine
		e.fileSystem = fileSystemOf(folder)
	}
	e.progress.log("the data is on %s, in %s", e.fileSystem, folder)
	if inMemory(e.fileSystem) {
		e.progress.log("%s", inMemoryWarning)
	}
	return nil
}

// checkDurable returns an error unless commits survive a crash of the machine.
func (e *environment) checkDurable(ctx context.Context) error {
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		value, err := e.setting(ctx, name)
		switch {
		case err != nil:
			return err
		case value != "on":
			return fmt.Errorf("the server has %s %s: figures without durability are meaningless", name, value)
		}
	}
	return nil
}

// setting returns a setting of the server.
func (e *environment) setting(ctx context.Context, name string) (value string, err error) {
	err = e.asSuperuser(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value)
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return value, nil
}

func (e *environment) asSuperuser(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, e.server.URL())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// close stops the server and removes everything.
func (e *environment) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if e.server != nil {
		err = e.server.Stop(ctx)
	}
	if e.folder != "" {
		err = errors.Join(err, os.RemoveAll(e.folder))
	}
	return err
}

// database is a migrated database for one scenario.
type database struct {
	*pgxpool.Pool
	url string
}

// templateDatabase is the name of the migrated database that all others are copied from.
const templateDatabase = "elobench_model"

// database creates a database and runs a checkpoint, so that no scenario pays for the previous one. The returned function
// drops the database.
func (e *environment) database(ctx context.Context) (database, func(), error) {
	if err := e.makeTemplate(ctx); err != nil {
		return database{}, nil, err
	}
	e.databases++
	name := fmt.Sprintf("elobench_%d", e.databases)
	db, err := e.create(ctx, name, templateDatabase)
	drop := func() { e.drop(db, name) }
	if err == nil {
		_, err = db.Exec(ctx, "CHECKPOINT")
	}
	if err != nil {
		drop()
		return database{}, nil, fmt.Errorf("prepare a database: %w", err)
	}
	return db, drop, nil
}

// makeTemplate creates templateDatabase unless it exists.
func (e *environment) makeTemplate(ctx context.Context) error {
	if e.hasTemplate {
		return nil
	}
	db, err := e.create(ctx, templateDatabase, "template0")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := postgres.Migrate(ctx, db.Pool, migrations.FS); err != nil {
		return fmt.Errorf("prepare a database: %w", err)
	}
	e.hasTemplate = true
	return nil
}

// create creates a database as a copy of another one.
func (e *environment) create(ctx context.Context, name, of string) (database, error) {
	address, err := url.Parse(e.server.URL())
	if err != nil {
		return database{}, fmt.Errorf("parse the server's URL: %w", err)
	}
	address.Path = "/" + name
	err = e.asSuperuser(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE "+of)
		return err
	})
	if err != nil {
		return database{}, fmt.Errorf("create a database: %w", err)
	}
	db := database{url: address.String()}
	if db.Pool, err = pgxpool.New(ctx, db.url); err != nil {
		return db, fmt.Errorf("open a database: %w", err)
	}
	return db, nil
}

// drop drops a database. If that fails, the database is removed together with the server.
func (e *environment) drop(db database, name string) {
	if db.Pool != nil {
		db.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := e.asSuperuser(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		return err
	})
	if err != nil {
		e.progress.log("failed to drop the database %s: %v", name, err)
	}
}
