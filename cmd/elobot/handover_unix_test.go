//go:build unix

package main_test

import (
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// audit makes the database record every changed row of most tables when the change commits: the
// table, the writer's application name, and the process id of the lease holder. The process id is
// empty before the first lease and after a release.
const audit = `
	CREATE TABLE audit (number bigserial, writer text, holder text, relation text);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
	    INSERT INTO audit (writer, holder, relation) VALUES
	        (current_setting('application_name'),
	         coalesce((SELECT split_part(holder, '/', 2) FROM leases), ''), TG_TABLE_NAME);
	    RETURN NULL;
	END $$;
	DO $$
	DECLARE name text;
	BEGIN
	    FOR name IN SELECT tablename FROM pg_tables
	        WHERE schemaname = current_schema()
	          AND tablename NOT IN ('audit', 'bot', 'schema_migrations') -- written before anybody leads
	    LOOP
	        EXECUTE format('CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %I
	            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()', name);
	    END LOOP;
	END $$`

// TestHandOver checks that, while three instances lead one after another and results come in, no
// instance without the lease writes anything that only the leader may write. Everything is answered
// in order, and every duplicate was counted as possible.
//
// The first instance is frozen during a request, and continues once the second leads. The second
// shuts down, so the first leads again. Then the first is killed, and the third takes over. The
// default isolation level of this database is repeatable read, in which the check of the lease
// could miss a new leader if the bot did not set its own level.
func TestHandOver(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	for _, sql := range []string{audit, `ALTER DATABASE ` + pgx.Identifier{pool.Config().ConnConfig.Database}.Sanitize() +
		` SET default_transaction_isolation = 'repeatable read'`} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	pids := make(map[string]string)
	start := func(name string) *process {
		bot := launch(t, append(environment(sim, pgtest.WithParameter(url, "application_name", name)),
			"LEASE_DURATION=5s", "LEASE_RENEWAL=300ms"), "run")
		pids[name] = strconv.Itoa(bot.cmd.Process.Pid)
		return bot
	}
	// Make requests slow, so that some are under way most of the time.
	sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: 30 * time.Millisecond})
	load := startLoad(t, sim, 4, 150*time.Millisecond)
	awaitProgress := func() {
		t.Helper()
		awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+3)
	}
	first := start("first")
	awaitProgress()
	second := start("second")
	second.await(t, "standing by")
	answer := stopDuringRequest(t, sim, first)
	second.await(t, "msg=leading")
	answer()
	awaitProgress()
	must(t, first.cmd.Process.Signal(syscall.SIGCONT))
	first.await(t, "lost the lease")
	awaitProgress()
	if code, took := second.stop(t); code != 0 {
		t.Fatalf("the second ended with %d after %v", code, took)
	}
	awaitProgress()
	third := start("third")
	third.await(t, "standing by")
	first.kill()
	third.await(t, "msg=leading")
	awaitProgress()
	load.stop()
	if load.checkAll(t, sim, pool, url) == 0 {
		t.Error("no answer came twice, although the first instance was frozen after one had arrived")
	}

	for name, pid := range pids {
		if n := count(t, pool,
			`SELECT count(*) FROM audit WHERE relation <> 'leases' AND writer = $1 AND holder = $2`, name, pid); n == 0 {
			t.Errorf("the %s instance has written nothing with the lease", name)
		}
		// update_attempts needs no lease.
		if wrong := collect(t, pool, pgx.RowTo[string], `
			SELECT format('%s while %L had the lease, %s times', relation, holder, count(*)) FROM audit
			WHERE relation NOT IN ('leases', 'update_attempts') AND writer = $1 AND holder <> $2
			GROUP BY relation, holder`, name, pid); len(wrong) > 0 {
			t.Errorf("the %s instance, %s, has written without the lease\n%s", name, pid, strings.Join(wrong, "\n"))
		}
	}
	// Each takeover without a release duplicates at most one answer per group.
	taken := count(t, pool, `
		SELECT count(*)
		FROM (SELECT holder, lag(holder, 1, '') OVER (ORDER BY number) AS before FROM audit WHERE relation = 'leases') AS held
		WHERE holder <> '' AND before NOT IN ('', holder)`)
	if taken < 2 {
		t.Errorf("the lease was taken over %d times, want at least 2", taken)
	}
	for i, group := range load.groups {
		if copies := len(group.BotMessages()) - len(load.posted[i]); copies > taken {
			t.Errorf("%d answers came twice in group %d, and the lease was taken over %d times", copies, i+1, taken)
		}
	}
	if epoch := count(t, pool, `SELECT epoch FROM leases WHERE name = 'leader'`); epoch < 4 {
		t.Errorf("the lease was acquired %d times, want at least 4", epoch)
	}
}

// stopDuringRequest freezes a bot while it waits for the answer to a sendMessage request. The
// returned function lets Telegram answer the request.
func stopDuringRequest(t *testing.T, sim *botsim.Server, bot *process) (answer func()) {
	t.Helper()
	arrived, answered := make(chan struct{}), make(chan struct{})
	answer = sync.OnceFunc(func() { close(answered) })
	t.Cleanup(answer)
	hold := sync.OnceFunc(func() {
		close(arrived)
		<-answered
	})
	sim.AfterEffect(func(c botsim.Call) {
		if c.Method == "sendMessage" {
			hold()
		}
	})
	select {
	case <-arrived:
	case <-testContext(t).Done():
		t.Fatal("nothing is sent")
	}
	must(t, bot.cmd.Process.Signal(syscall.SIGSTOP))
	return answer
}
