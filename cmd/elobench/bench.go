package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp"
)

// bench is the state that all scenarios share.
type bench struct {
	sizes     sizes
	elobot    string    // program to measure; if empty, it is built from the sources
	results   io.Writer // in Go's benchmark format
	progress  *log.Logger
	server    *pgtemp.Server
	folder    string // removed by close
	databases int    // number of databases created
}

// sizes holds the sizes of all measurements. If a comment names scenarios, only these use the size.
type sizes struct {
	groups, people int   // number of groups, and of people in each group
	known, costed  int   // cost and growth: results before and during the counting
	waiting        int   // throughput: results that arrive all at once
	rate, seconds  int   // latency: results per second; latency and web: duration in seconds
	contended      int   // contention: results of one group
	grown          []int // growth: matches in each database
	replayed       []int // replay: matches of the group
	viewed         []int // views: matches in each ladder; web uses the one at index len/2
	members        int   // views: members of each ladder
	views          int   // views: how often each question is measured
	// careful is how long a bot with a webhook runs before it is measured. Such a bot starts in
	// careful mode, in which it handles updates one at a time. If careful is zero, the bot is
	// measured in that mode.
	careful time.Duration
}

var (
	fullSizes = sizes{
		groups: 100, people: 10, known: 1000, costed: 5000, waiting: 20_000, rate: 50, seconds: 60, contended: 3000,
		grown: []int{1e3, 1e6}, replayed: []int{500, 5000}, viewed: []int{1e3, 1e5, 1e6}, members: 1000, views: 500,
		careful: 2 * time.Minute,
	}
	shortSizes = sizes{
		groups: 50, people: 10, known: 500, costed: 1000, waiting: 3000, rate: 50, seconds: 5, contended: 500,
		grown: []int{1e3, 1e4}, replayed: []int{500}, viewed: []int{1e3, 1e4}, members: 1000, views: 50,
	}
)

// start builds the bot unless a program is given, starts a PostgreSQL server, and reports the
// conditions of the measurements. The server has the settings that counting needs, and PostgreSQL's
// default shared_buffers, which exceeds pgtemp's. The settings in extra take precedence. If extra
// is nil, start fails unless the server passes checkDurable.
func (b *bench) start(ctx context.Context, extra map[string]string) (err error) {
	if err := pgtemp.UnsetVariables(); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "elobench-"); err != nil {
		return fmt.Errorf("create a folder: %w", err)
	}
	if b.elobot == "" {
		b.progress.Printf("building elobot")
		b.elobot = filepath.Join(b.folder, "elobot")
		// Build with the options of the Dockerfile, except for the version.
		build := exec.CommandContext(ctx, "go", "build", "-o", b.elobot,
			"-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "elobot/cmd/elobot")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build elobot: %w: %s", err, out)
		}
	}
	settings := map[string]string{
		// wal_keep_size keeps the WAL until it is counted.
		"shared_buffers": "128MB", "shared_preload_libraries": "pg_stat_statements", "wal_keep_size": "1GB",
	}
	for name, value := range extra {
		settings[name] = value
	}
	b.server, err = pgtemp.Start(ctx,
		pgtemp.Options{Settings: settings, Log: func(s string) { b.progress.Printf("%s", s) }})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.results, "goos: %s\ngoarch: %s\npkg: elobot\npostgres: %s\nUnit results/s better=higher\n",
		runtime.GOOS, runtime.GOARCH, b.server.Kind())
	if err != nil {
		return fmt.Errorf("print results: %w", err)
	}
	if extra == nil {
		if err := b.checkDurable(ctx); err != nil {
			return err
		}
	}
	return b.exec(ctx, `CREATE EXTENSION pg_stat_statements`)
}

// checkDurable fails unless fsync, synchronous_commit and full_page_writes are on. If one of them
// is off, a crash of the machine can lose commits or damage the database.
func (b *bench) checkDurable(ctx context.Context) error {
	return b.asSuperuser(ctx, func(conn *pgx.Conn) error {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			var value string
			if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			if value != "on" {
				return fmt.Errorf("the server has %s %s: without durability, figures mean nothing", name, value)
			}
		}
		return nil
	})
}

// close stops the server and removes the folder.
func (b *bench) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if b.server != nil {
		err = b.server.Stop(ctx)
	}
	if b.folder != "" {
		err = errors.Join(err, os.RemoveAll(b.folder))
	}
	return err
}

func (b *bench) asSuperuser(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, b.server.URL())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// exec runs statements as superuser.
func (b *bench) exec(ctx context.Context, statements ...string) error {
	return b.asSuperuser(ctx, func(conn *pgx.Conn) error {
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// metric is a value with its unit, such as blocks/result.
type metric struct {
	value float64
	unit  string
}

// report prints the result of n iterations as a line of Go's benchmark format.
func (b *bench) report(name string, n int, metrics ...metric) error {
	line := fmt.Sprintf("Benchmark%s\t%8d", name, n)
	for _, m := range metrics {
		line += "\t" + strconv.FormatFloat(m.value, 'g', 4, 64) + " " + m.unit
	}
	_, err := fmt.Fprintln(b.results, line)
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// percentile returns the pth percentile by the nearest-rank method. values must not be empty, and p
// must be from 0 to 100.
func percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// database is a database for one measurement.
type database struct {
	*pgxpool.Pool
	name, url string
}

// database creates an empty database. The caller must call drop when the measurement is over.
func (b *bench) database(ctx context.Context) (db database, drop func(), err error) {
	b.databases++
	db.name = fmt.Sprintf("elobench_%d", b.databases)
	address, err := url.Parse(b.server.URL())
	if err != nil {
		return db, nil, fmt.Errorf("parse the server's address: %w", err)
	}
	address.Path = "/" + db.name
	db.url = address.String()
	err = b.exec(ctx, "CREATE DATABASE "+db.name+" TEMPLATE template0")
	if err == nil {
		db.Pool, err = pgxpool.New(ctx, db.url)
	}
	if err != nil {
		return db, nil, fmt.Errorf("create a database: %w", err)
	}
	return db, func() {
		db.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		// If this fails, the database is removed together with the server.
		if err := b.exec(ctx, "DROP DATABASE "+db.name+" WITH (FORCE)"); err != nil {
			b.progress.Printf("failed to drop the database %s: %v", db.name, err)
		}
	}, nil
}

// onStage calls measure with a new workload and an empty database. Then it checks that
// `elobot verify` finds no differences, and that the simulated Telegram has no complaints.
func (b *bench) onStage(ctx context.Context, groups, people int, measure func(*workload, database) error) error {
	w, err := newWorkload(groups, people)
	if err != nil {
		return err
	}
	defer w.close()
	db, drop, err := b.database(ctx)
	if err != nil {
		return err
	}
	defer drop()
	if err := measure(w, db); err != nil {
		return err
	}
	b.progress.Printf("verifying")
	verify, err := b.launch(ctx, "verify", "DATABASE_URL="+db.url)
	if err != nil {
		return err
	}
	<-verify.ended
	if verify.err != nil {
		return fmt.Errorf("verify: %w: %s", verify.err, verify.output.tail())
	}
	if complaints := w.sim.Complaints(); len(complaints) > 0 {
		return fmt.Errorf("the simulator complains: %s", strings.Join(complaints, "; "))
	}
	return nil
}

// migrate creates the tables of a database: it starts a bot, and stops it at its first request for
// updates.
func (b *bench) migrate(ctx context.Context, w *workload, db database) error {
	return b.withBot(ctx, b.launchPolling, w, db.url, func(context.Context, *process) error { return nil })
}

// settle vacuums and analyzes a filled database and writes it to disk, so that it resembles one
// that has been in use for a long time.
func (db database) settle(ctx context.Context) error {
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("write to disk: %w", err)
		}
	}
	return nil
}
