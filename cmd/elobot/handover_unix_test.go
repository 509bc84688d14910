//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// audit has the database note, at each commit, who has written and which epoch the lease had then. Who writes the lease
// itself has it.
const audit = `
	CREATE TABLE audit (writer text, epoch bigint, relation text);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
	    INSERT INTO audit SELECT current_setting('application_name'), coalesce(max(epoch), 0), TG_TABLE_NAME FROM leases;
	    RETURN NULL;
	END $$;
	DO $$
	DECLARE name text;
	BEGIN
	    FOR name IN SELECT tablename FROM pg_tables
	        WHERE schemaname = current_schema() AND tablename NOT IN ('audit', 'bot', 'schema_migrations') -- the bot is claimed before anybody leads
	    LOOP
	        EXECUTE format('CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %I
	            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()', name);
	    END LOOP;
	END $$`

// TestHandOver has three instances lead one after another while results come in: the first is stopped in the middle of its
// work and goes on when the second leads, which ends in peace, so that the first leads again; then that is killed and a
// third one goes on. Nobody writes anything without the lease, everything is told in order, and what comes twice was
// counted as perhaps sent.
func TestHandOver(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	if _, err := pool.Exec(t.Context(), audit); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *process {
		return launch(t, append(environment(sim, pgtest.WithParameter(url, "application_name", name)), "LEASE_DURATION=5s", "LEASE_RENEWAL=300ms"), "run")
	}
	// so that some requests are always under way
	sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: 30 * time.Millisecond})
	load := startLoad(t, sim, 4, 150*time.Millisecond)
	goesOn := func() {
		t.Helper()
		awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+3)
	}
	first := start("first")
	goesOn()
	second := start("second")
	second.await(t, "standing by")
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second.await(t, "msg=leading")
	goesOn()
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	first.await(t, "the lease is lost")
	goesOn()
	if code, took := second.stop(t); code != 0 {
		t.Fatalf("the second ended with %d after %v", code, took)
	}
	goesOn()
	third := start("third")
	third.await(t, "standing by")
	first.kill()
	third.await(t, "msg=leading")
	goesOn()
	load.stop()
	load.checkAll(t, sim, pool, url)

	// a write in an epoch that the writer has not had is one without the lease
	if wrong := collect(t, pool, pgx.RowTo[string], `
		SELECT DISTINCT format('%s in epoch %s: %s', writer, epoch, relation) FROM audit a
		WHERE relation <> 'leases' AND NOT EXISTS (
		    SELECT FROM audit l WHERE l.relation = 'leases' AND l.writer = a.writer AND l.epoch = a.epoch)`); len(wrong) > 0 {
		t.Errorf("without the lease were written\n%s", strings.Join(wrong, "\n"))
	}
	if n := count(t, pool, `SELECT count(DISTINCT writer) FROM audit WHERE relation <> 'leases'`); n != 3 {
		t.Errorf("%d instances have written, want 3", n)
	}
	if epoch := count(t, pool, `SELECT epoch FROM leases WHERE name = 'leader'`); epoch < 4 {
		t.Errorf("the lease was had %d times, want 4 at least", epoch)
	}
}
