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

// environment is what all scenarios share.
type environment struct {
	sizes      sizes
	progress   *progress
	profiles   *profiles
	server     *pgtemp.Server
	fileSystem string // that the data lies on
	elobot     string // the program that is measured
	self       string // this program, which is the echo bot too
	folder     string // for what is gone at the end
	databases  int    // how many have been made
	hasModel   bool   // whether the migrated database is there that all others are copies of
}

// asInstalled are the settings of a server as PostgreSQL is installed, where pgtemp has others.
var asInstalled = map[string]string{"shared_buffers": "128MB"}

// newEnvironment starts a server with these settings, and builds the bot unless a program is named. One that is built
// writes profiles to a folder if there is one.
func newEnvironment(
	ctx context.Context, sizes sizes, elobot, profileFolder string, settings map[string]string, progress *progress,
) (_ *environment, err error) {
	e := &environment{sizes: sizes, progress: progress, elobot: elobot}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if err := forgetDatabaseSettings(); err != nil {
		return nil, err
	}
	if e.profiles, err = newProfiles(profileFolder); err != nil {
		return nil, err
	}
	if e.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if e.folder, err = os.MkdirTemp("", "elobench-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if e.elobot == "" {
		progress.say("building elobot")
		if err := e.build(ctx); err != nil {
			return nil, err
		}
	}
	e.server, err = pgtemp.Start(ctx, pgtemp.Options{Settings: settings, Log: func(s string) { progress.say("%s", s) }})
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

// findFileSystem finds out what the data lies on.
func (e *environment) findFileSystem(ctx context.Context) error {
	folder, err := e.setting(ctx, "data_directory")
	if err != nil {
		return err
	}
	e.fileSystem = unknownFileSystem
	if e.server.PID() != 0 { // the folder of a container means nothing here
		e.fileSystem = fileSystemOf(folder)
	}
	e.progress.say("the data lies on %s, in %s", e.fileSystem, folder)
	if inMemory(e.fileSystem) {
		e.progress.say("%s", inMemoryWarning)
	}
	return nil
}

// checkDurable returns an error unless what the server has committed outlives a crash of the machine.
func (e *environment) checkDurable(ctx context.Context) error {
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		value, err := e.setting(ctx, name)
		switch {
		case err != nil:
			return err
		case value != "on":
			return fmt.Errorf("the server has %s %s: figures without durability mean nothing", name, value)
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

// close ends the server and removes everything.
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

// database is a migrated database of a scenario's own.
type database struct {
	*pgxpool.Pool
	url string
}

// model is the name of the migrated database that all others are copies of.
const model = "elobench_model"

// database makes a database and has the server write everything to disk, so that no scenario pays for the one before it.
// The returned function drops it.
func (e *environment) database(ctx context.Context) (database, func(), error) {
	if err := e.makeModel(ctx); err != nil {
		return database{}, nil, err
	}
	e.databases++
	name := fmt.Sprintf("elobench_%d", e.databases)
	db, err := e.create(ctx, name, model)
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

// makeModel makes the model, once.
func (e *environment) makeModel(ctx context.Context) error {
	if e.hasModel {
		return nil
	}
	db, err := e.create(ctx, model, "template0")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := postgres.Migrate(ctx, db.Pool, migrations.FS); err != nil {
		return fmt.Errorf("prepare a database: %w", err)
	}
	e.hasModel = true
	return nil
}

// create makes a database that is a copy of another one.
func (e *environment) create(ctx context.Context, name, of string) (database, error) {
	address, err := url.Parse(e.server.URL())
	if err != nil {
		return database{}, fmt.Errorf("read the server's address: %w", err)
	}
	address.Path = "/" + name
	err = e.asSuperuser(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE "+of)
		return err
	})
	if err != nil {
		return database{}, fmt.Errorf("make a database: %w", err)
	}
	db := database{url: address.String()}
	if db.Pool, err = pgxpool.New(ctx, db.url); err != nil {
		return db, fmt.Errorf("open a database: %w", err)
	}
	return db, nil
}

// drop removes a database. One that cannot be removed goes with the server.
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
		e.progress.say("cannot drop the database %s: %v", name, err)
	}
}
