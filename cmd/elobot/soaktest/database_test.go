//go:build soak && unix

package soaktest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp"
)

// database is the PostgreSQL server of the campaign.
type database struct {
	server *pgtemp.Server
	guard  *pgtemp.Watcher // continues stopped processes if this process is killed
	botURL string
	admin  *pgxpool.Pool // used by the campaign; faults do not end its sessions
}

const (
	name     = "elobot"
	observer = "soaktest" // the application name of the campaign's sessions
)

func startDatabase(t *testing.T) *database {
	t.Helper()
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{
		// Without fsync, data written to the operating system still survives the end of all
		// processes.
		Settings: map[string]string{"fsync": "off", "log_min_messages": "fatal", "log_min_error_statement": "panic"},
		Sources:  []pgtemp.Source{pgtemp.Programs},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &database{server: server}
	t.Cleanup(func() {
		if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if d.guard, err = pgtemp.AtExit(`[ -z "$state" ] || kill -CONT $state`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.guard.Dismiss(); err != nil {
			t.Error(err)
		}
	})
	d.createDatabase(t)
	return d
}

// createDatabase creates the bot's role and database, and opens the database for the campaign.
func (d *database) createDatabase(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE ROLE " + name + " LOGIN PASSWORD '" + name + "'", "CREATE DATABASE " + name + " OWNER " + name} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	config.ConnConfig.ConnectTimeout = 2 * time.Second
	// Overrides the setting of the database.
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "off"
	config.ConnConfig.RuntimeParams["application_name"] = observer
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	if d.admin, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.admin.Close)
	u.User = url.UserPassword(name, name)
	d.botURL = u.String()
}

// setTriggers adds triggers that make writing statements fail as failStatements demands.
func (d *database) setTriggers(t *testing.T) {
	t.Helper()
	const prepare = `
		CREATE SCHEMA soak;
		CREATE TABLE soak.fault (relation text, code text, share float8, until timestamptz);
		CREATE FUNCTION soak.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		DECLARE f soak.fault;
		BEGIN
		    SELECT * INTO f FROM soak.fault
		    WHERE relation IN (TG_TABLE_NAME, '*') AND until > clock_timestamp() AND random() < share LIMIT 1;
		    IF FOUND THEN
		        RAISE EXCEPTION 'made to fail with %', f.code USING ERRCODE = f.code;
		    END IF;
		    RETURN NULL;
		END $$;`
	if _, err := d.admin.Exec(t.Context(), prepare); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables() {
		_, err := d.admin.Exec(t.Context(), fmt.Sprintf(
			`CREATE TRIGGER soak BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION soak.fail()`, table))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// failStatements makes a share of the statements that write to a relation fail with a code for some
// time. The relation * stands for all tables.
func (d *database) failStatements(ctx context.Context, relation, code string, share float64, lasting time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := d.admin.Exec(ctx, `
		WITH past AS (DELETE FROM soak.fault)
		INSERT INTO soak.fault VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))`,
		relation, code, share, lasting.Seconds())
	return err
}

// readOnly makes the bot's transactions read-only by default and ends its sessions.
func (d *database) readOnly(ctx context.Context) error {
	_, err := d.admin.Exec(ctx, `ALTER DATABASE `+name+` SET default_transaction_read_only = on`)
	if err != nil {
		return err
	}
	_, err = d.admin.Exec(ctx, `
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = $1 AND application_name <> $2 AND backend_type = 'client backend'`, name, observer)
	return err
}

// writable reverts readOnly. Sessions that began in between stay read-only.
func (d *database) writable(ctx context.Context) error {
	_, err := d.admin.Exec(ctx, `ALTER DATABASE `+name+` RESET default_transaction_read_only`)
	return err
}

// hold runs a statement that takes locks, and keeps them for some time.
func (d *database) hold(ctx context.Context, lasting time.Duration, sql string) error {
	taking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	tx, err := d.admin.Begin(taking)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // the locks are released in any case
	if _, err := tx.Exec(taking, sql); err != nil {
		return err
	}
	wait(ctx, lasting)
	return nil
}

// restart stops the server as in a crash, and starts it again.
func (d *database) restart(ctx context.Context) error {
	return errors.Join(d.server.Pause(ctx, true), d.server.Resume(ctx))
}

// freeze suspends all processes of the server until the returned function is called.
func (d *database) freeze() (resume func() error, err error) {
	server := d.server.PID()
	if server == 0 {
		return nil, errors.New("the server has no process")
	}
	var stopped []int
	resume = func() error {
		var failed error
		for _, pid := range slices.Backward(stopped) {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
				failed = errors.Join(failed, err)
			}
		}
		return errors.Join(failed, d.guard.Report(""))
	}
	for pids := []int{server}; len(pids) > 0; {
		for _, pid := range pids {
			stopped = append(stopped, pid)
			if err := errors.Join(d.guard.Report(joined(stopped)), syscall.Kill(pid, syscall.SIGSTOP)); err != nil && !errors.Is(err, syscall.ESRCH) {
				return nil, errors.Join(err, resume())
			}
		}
		// The server itself is suspended by now, so it has no new children.
		all, err := children(server)
		if err != nil {
			return nil, errors.Join(err, resume())
		}
		pids = slices.DeleteFunc(all, func(pid int) bool { return slices.Contains(stopped, pid) })
	}
	return resume, nil
}

// children returns the child processes of a process.
func children(parent int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		var pid, ppid int
		if _, err := fmt.Sscan(line, &pid, &ppid); err == nil && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func joined(pids []int) string {
	var words []string
	for _, pid := range pids {
		words = append(words, strconv.Itoa(pid))
	}
	return strings.Join(words, " ")
}
