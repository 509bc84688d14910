//go:build soak && unix

package soaktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp"
	"elobot/internal/postgres/dbtest"
)

// database is the PostgreSQL server of the campaign.
type database struct {
	server  *pgtemp.Server
	standby *pgtemp.Server  // nil if there is none
	guard   *pgtemp.Watcher // continues suspended processes if this process is killed
	botURL  string
	admin   *pgxpool.Pool // used by the campaign; alter does not end its sessions
}

const (
	name     = "elobot"
	observer = "soaktest" // the application name of the campaign's sessions
)

func startDatabase(t *testing.T, standby bool) *database {
	t.Helper()
	d := new(database)
	var err error
	if standby {
		pair := dbtest.StartPair(t)
		d.server, d.standby = pair.Primary, pair.Standby
	} else {
		d.server, err = pgtemp.Start(t.Context(), pgtemp.Options{
			// Without fsync, data written to the operating system still survives the end of all
			// processes.
			Settings: map[string]string{"fsync": "off", "log_min_messages": "fatal", "log_min_error_statement": "panic"},
			Sources:  []pgtemp.Source{pgtemp.Programs},
		})
		dbtest.Must(t, err)
		t.Cleanup(func() { dbtest.Must(t, d.server.Stop(context.WithoutCancel(t.Context()))) })
	}
	d.guard, err = pgtemp.AtExit(`[ -z "$state" ] || { set -- CONT "$state"; ` + signal + `; }`)
	dbtest.Must(t, err)
	t.Cleanup(func() { dbtest.Must(t, d.guard.Dismiss()) })
	d.createDatabase(t)
	return d
}

// createDatabase creates the bot's role and database, and opens the database for the campaign. With
// a standby, the bot's URL lists both servers after a host that never answers.
func (d *database) createDatabase(t *testing.T) {
	t.Helper()
	super := dbtest.Open(t, d.server.URL())
	dbtest.Exec(t, super, "CREATE ROLE "+name+" LOGIN PASSWORD '"+name+"'")
	dbtest.Exec(t, super, "CREATE DATABASE "+name+" OWNER "+name)
	u, err := url.Parse(d.server.URL())
	dbtest.Must(t, err)
	u.Path = "/" + name
	bot := *u
	bot.User = url.UserPassword(name, name)
	if d.standby != nil {
		other, err := url.Parse(d.standby.URL())
		dbtest.Must(t, err)
		u.Host += "," + other.Host
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		dbtest.Must(t, err)
		t.Cleanup(func() { dbtest.Must(t, silent.Close()) })
		bot.Host = silent.Addr().String() + "," + u.Host
	}
	d.botURL = bot.String()
	u.RawQuery += "&target_session_attrs=read-write"
	d.admin = dbtest.Open(t, u.String(), func(config *pgxpool.Config) {
		config.ConnConfig.ConnectTimeout = 2 * time.Second
		// The campaign must be able to write while a fault makes the bot's sessions read-only.
		config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "off"
		config.ConnConfig.RuntimeParams["application_name"] = observer
		config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	})
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
	dbtest.Exec(t, d.admin, prepare)
	for _, table := range tables() {
		dbtest.Exec(t, d.admin, `CREATE TRIGGER soak BEFORE INSERT OR UPDATE OR DELETE ON `+table+`
			FOR EACH STATEMENT EXECUTE FUNCTION soak.fail()`)
	}
}

// failStatements makes a share of the statements that write to a relation fail with a code for some
// time. The relation * stands for all tables with the trigger. A later call replaces the fault.
func (d *database) failStatements(
	ctx context.Context, relation, code string, share float64, lasting time.Duration,
) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := d.admin.Exec(ctx, `
		WITH past AS (DELETE FROM soak.fault)
		INSERT INTO soak.fault VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))`,
		relation, code, share, lasting.Seconds())
	return err
}

// alter executes ALTER with the clause how, and ends the bot's sessions, because open sessions do
// not notice the change. After the time lasting, it executes ALTER with the clause back, and
// repeats that until it succeeds. Sessions that begin in the meantime keep the settings with which
// they began.
func (d *database) alter(ctx context.Context, lasting time.Duration, how, back string) error {
	_, err := d.admin.Exec(ctx, "ALTER "+how)
	if err == nil {
		_, err = d.admin.Exec(ctx, `
			SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = $1 AND application_name <> $2 AND backend_type = 'client backend'`, name, observer)
		wait(ctx, lasting)
	}
	for over := context.WithoutCancel(ctx); ; wait(over, 100*time.Millisecond) {
		// Retry, because the change must not outlast the fault.
		if _, failed := d.admin.Exec(over, "ALTER "+back); failed == nil {
			return err
		}
	}
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

// promote promotes the standby, and makes it d.server.
func (d *database) promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, d.standby.URL())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `SELECT pg_promote()`)
	d.server, d.standby = d.standby, nil
	return errors.Join(err, conn.Close(ctx))
}

// signal is a script that sends the signal $1 to the server with the process id $2 and to its child
// processes. The server comes first, so that it starts no processes meanwhile.
const signal = `kill -"$1" "$2"; pkill -"$1" -P "$2"`

// freeze suspends all processes of the server until the returned function is called.
func (d *database) freeze() (resume func() error, err error) {
	pid := d.server.PID()
	if pid == 0 {
		return nil, errors.New("the server has no process")
	}
	send := func(name string) error {
		out, err := exec.Command("/bin/sh", "-ec", signal, "sh", name, strconv.Itoa(pid)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("send %s: %w: %s", name, err, out)
		}
		return nil
	}
	if err := d.guard.Report(strconv.Itoa(pid)); err != nil {
		return nil, err
	}
	resume = func() error { return errors.Join(send("CONT"), d.guard.Report("")) }
	if err := send("STOP"); err != nil {
		return nil, errors.Join(err, resume())
	}
	return resume, nil
}
