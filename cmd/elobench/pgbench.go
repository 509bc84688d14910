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

// pgbenchScript is the plain transaction of a match, statement by statement.
//
//go:embed pgbench.sql
var pgbenchScript string

// pgbenchPeople inserts $1 groups of $2 people each. Ids start at 1, group by group.
//
//go:embed people.sql
var pgbenchPeople string

// measurePgbench returns how many plain transactions per second the database executes.
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
			return 0, fmt.Errorf("insert players: %w", err)
		}
	}
	script := filepath.Join(env.folder, "pgbench.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript), 0o600); err != nil {
		return 0, fmt.Errorf("write the script of pgbench: %w", err)
	}
	s := env.sizes
	env.progress.log("pgbench with %d clients for %d s", s.clients, s.pgbench)
	// prepared statements, as pgx uses them
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

// execute runs a statement with the numbers of groups and people in place of $1 and $2.
func execute(ctx context.Context, db database, statement string, s sizes) error {
	statement = strings.NewReplacer("$1", strconv.Itoa(s.groups), "$2", strconv.Itoa(s.people)).Replace(statement)
	_, err := db.Exec(ctx, statement)
	return err
}

// connectionSettings returns an environment with which PostgreSQL's programs connect to a database. The URL must not be an
// argument, because all users can read the arguments of a process.
func connectionSettings(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("parse the URL of the database: %w", err)
	}
	password, _ := u.User.Password()
	return append(os.Environ(), "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(), "PGPASSWORD="+password,
		"PGDATABASE="+strings.TrimPrefix(u.Path, "/"), "PGSSLMODE=disable"), nil
}

var errNoPgbench = errors.New("pgbench is neither next to initdb nor in PATH: install it " +
	"(Debian, Ubuntu: apt install postgresql; others: the package with the server's extras)")

// findPgbench returns the path of pgbench. It prefers the server's version, then the one in PATH, then the newest.
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
	transactionRate    = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	failedTransactions = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+) `)
)

// readPgbench returns the transactions per second from pgbench's output. It returns an error if any transaction failed.
func readPgbench(output string) (float64, error) {
	if failed := failedTransactions.FindStringSubmatch(output); failed != nil && failed[1] != "0" {
		return 0, fmt.Errorf("%s transactions of pgbench failed: %s", failed[1], output)
	}
	rate := transactionRate.FindStringSubmatch(output)
	if rate == nil {
		return 0, fmt.Errorf("no transaction rate in the output of pgbench: %s", output)
	}
	return strconv.ParseFloat(rate[1], 64)
}
