package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// pgbenchScript is the plain transaction of a match, as somebody would write it who sends one statement after another.
//
//go:embed pgbench.sql
var pgbenchScript string

// pgbenchPeople makes so many groups ($1) of so many people ($2), ids counted from 1 group by group.
//
//go:embed people.sql
var pgbenchPeople string

// measurePgbench returns how many plain transactions a second the database takes.
func measurePgbench(ctx context.Context, env *environment) (float64, error) {
	program, err := findPgbench(env.server.Version())
	if err != nil {
		return 0, err
	}
	db, drop, err := env.database(ctx)
	if err != nil {
		return 0, err
	}
	defer drop()
	for statement := range strings.SplitSeq(pgbenchPeople, ";\n") {
		if err := execute(ctx, db, statement, env.sizes); err != nil {
			return 0, fmt.Errorf("make people: %w", err)
		}
	}
	script := filepath.Join(env.folder, "pgbench.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript), 0o600); err != nil {
		return 0, fmt.Errorf("write the script of pgbench: %w", err)
	}
	s := env.sizes
	env.progress.say("pgbench with %d clients for %d s", s.clients, s.pgbench)
	// statements are prepared once and then named, as pgx does
	cmd := exec.CommandContext(ctx, program, "--no-vacuum", "--protocol=prepared", "--file="+script,
		fmt.Sprintf("--client=%d", s.clients), fmt.Sprintf("--jobs=%d", min(s.clients, runtime.NumCPU())),
		fmt.Sprintf("--time=%d", s.pgbench),
		fmt.Sprintf("--define=groups=%d", s.groups), fmt.Sprintf("--define=people=%d", s.people))
	if cmd.Env, err = connectionSettings(db.url); err != nil {
		return 0, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run pgbench: %w: %s", err, out)
	}
	return readPgbench(string(out))
}

// execute runs a statement that may want the numbers of groups and of people.
func execute(ctx context.Context, db database, statement string, s sizes) error {
	statement = strings.NewReplacer("$1", strconv.Itoa(s.groups), "$2", strconv.Itoa(s.people)).Replace(statement)
	_, err := db.Exec(ctx, statement)
	return err
}

// connectionSettings has PostgreSQL's programs connect to a database without an address among their arguments, which
// everybody can read.
func connectionSettings(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read the address of the database: %w", err)
	}
	password, _ := u.User.Password()
	return append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(), "PGPASSWORD="+password,
		"PGDATABASE="+strings.TrimPrefix(u.Path, "/"), "PGSSLMODE=disable"), nil
}

var errNoPgbench = errors.New("pgbench is neither beside initdb nor in PATH: install it " +
	"(Debian, Ubuntu: apt install postgresql; others: the package with the server's extras)")

// findPgbench prefers the one of the server's version, then the one in PATH, then the newest.
func findPgbench(version string) (string, error) {
	major, _, _ := strings.Cut(version, ".")
	if same, err := filepath.Glob("/usr/lib/postgresql/" + major + "/bin/pgbench"); err == nil && len(same) == 1 {
		return same[0], nil
	}
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/pgbench", "/usr/pgsql-*/bin/pgbench",
		"/opt/homebrew/opt/postgresql@*/bin/pgbench", "/usr/local/opt/postgresql@*/bin/pgbench"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("search %s: %w", pattern, err)
		}
		found = append(found, some...)
	}
	if len(found) == 0 {
		return "", errNoPgbench
	}
	return slices.Max(found), nil
}

var (
	transactionRate = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	failedOnes      = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+) `)
)

// readPgbench reads what pgbench prints. A transaction that has failed makes all the others worth nothing.
func readPgbench(output string) (float64, error) {
	if failed := failedOnes.FindStringSubmatch(output); failed != nil && failed[1] != "0" {
		return 0, fmt.Errorf("%s transactions of pgbench have failed: %s", failed[1], output)
	}
	rate := transactionRate.FindStringSubmatch(output)
	if rate == nil {
		return 0, fmt.Errorf("pgbench does not say how many transactions there were: %s", output)
	}
	return strconv.ParseFloat(rate[1], 64)
}
