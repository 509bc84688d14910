//go:build unix

package main_test

import (
	"flag"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

var (
	freezeFor   = flag.Duration("freeze.for", 6*time.Second, "how long the leader stands still in TestFrozenLeader")
	freezeLease = flag.String("freeze.lease", "3s", "for how long it keeps others from working meanwhile")
)

// audit has the database note, at each commit, who has written and which epoch the lease had then.
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
	        WHERE schemaname = current_schema() AND tablename NOT IN ('audit', 'bot', 'leases', 'schema_migrations') -- the bot is claimed before anybody leads
	    LOOP
	        EXECUTE format('CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %I
	            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()', name);
	    END LOOP;
	END $$`

// TestFrozenLeader stops the leader's process in the middle of its work and lets it go on when another instance leads.
// It writes nothing any more, and at most the message that each chat was being sent comes twice.
func TestFrozenLeader(t *testing.T) {
	t.Parallel()
	lease, err := time.ParseDuration(*freezeLease)
	if err != nil {
		t.Fatal(err)
	}
	sim := botsim.Start(t)
	url, pool := database(t)
	if _, err := pool.Exec(t.Context(), audit); err != nil {
		t.Fatal(err)
	}
	as := func(name string) []string {
		return append(environment(sim, url+"&application_name="+name),
			"LEASE_DURATION="+lease.String(), "LEASE_RENEWAL="+(lease*3/10).String())
	}
	// so that some requests are always under way
	sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: 30 * time.Millisecond})
	frozen := launch(t, as("frozen"), "run")
	load := startLoad(t, sim, 10, 100*time.Millisecond)
	awaitAnswers(t, load.groups[0], 5)
	successor := launch(t, as("successor"), "run")
	successor.await(t, "standing by")

	if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume := time.NewTimer(*freezeFor)
	successor.await(t, "leading")
	<-resume.C
	if err := frozen.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	frozen.await(t, "the lease is lost")
	awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+10)
	load.stop()
	copies := load.checkAll(t, sim, pool, url)

	epoch := count(t, pool, `SELECT epoch FROM leases WHERE name = 'leader'`)
	if epoch != 2 {
		t.Errorf("the lease was had %d times, want 2", epoch)
	}
	for writer, wrong := range map[string]string{"frozen": "epoch <> 1", "successor": "epoch <> 2"} {
		all := count(t, pool, `SELECT count(*) FROM audit WHERE writer = $1`, writer)
		late := count(t, pool, `SELECT count(*) FROM audit WHERE writer = $1 AND `+wrong, writer)
		if all == 0 || late != 0 {
			where := collect(t, pool, pgx.RowTo[string], `SELECT DISTINCT relation FROM audit WHERE writer = $1 AND `+wrong, writer)
			t.Errorf("the %s instance wrote %d rows, %d of them in the epoch of the other one, in %v", writer, all, late, where)
		}
	}
	for i, group := range load.groups {
		if n := len(group.BotMessages()) - len(load.said[i]); n > 1 {
			t.Errorf("group %d was told %d answers twice", i+1, n)
		}
	}
	gap, _ := longestGap(sim)
	t.Logf("frozen for %v with a lease of %v: silent for %v, %d answers of %d groups came twice",
		*freezeFor, lease, gap.Round(time.Millisecond), copies, len(load.groups))
}
