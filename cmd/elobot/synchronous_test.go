package main_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// auditCommits makes the database record, for each row that a transaction changes, the table and
// whether the commit waits for the disk. For updates of chats and timers, it also records the
// changed columns.
const auditCommits = `
	CREATE TABLE commits (waits boolean, what text);
	CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE what text = TG_TABLE_NAME;
	BEGIN
	    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME IN ('chats', 'timers') THEN
	        SELECT concat_ws(' ', what, string_agg(n.key, ' ' ORDER BY n.key)) INTO what
	        FROM jsonb_each(to_jsonb(NEW)) n JOIN jsonb_each(to_jsonb(OLD)) o USING (key) WHERE n.value <> o.value;
	    END IF;
	    INSERT INTO commits VALUES (current_setting('synchronous_commit') <> 'off', what);
	    RETURN NULL;
	END $$;
	DO $$
	DECLARE name text;
	BEGIN
	    FOR name IN SELECT tablename FROM pg_tables
	        WHERE schemaname = current_schema() AND tablename NOT IN ('commits', 'schema_migrations')
	    LOOP
	        EXECUTE format('CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT OR UPDATE OR DELETE ON %I
	            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_commit()', name);
	    END LOOP;
	END $$`

// TestOnlyTheDispatcherDoesNotWait checks that every commit waits for the disk, except when the
// dispatcher records which notices it takes, and what became of them. These commits change only the
// tables and columns in want.
func TestOnlyTheDispatcherDoesNotWait(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	exec := func(sql string) {
		t.Helper()
		_, err := pool.Exec(testContext(t), sql)
		must(t, err)
	}
	exec(auditCommits)
	exec(`ALTER DATABASE ` + pgx.Identifier{pool.Config().ConnConfig.Database}.Sanitize() +
		` SET synchronous_commit = 'on'`)
	pool.Reset()
	alice, olga := sim.User("alice"), sim.User("olga")
	group := sim.Group("Chess", olga, alice, sim.User("bob"))
	env := append(environment(sim, url), "LEASE_RENEWAL=100ms")

	first := launch(t, env, "run")
	// Telegram's refusal freezes the chat.
	sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 1, Times: 1})
	group.Say(alice, "/match @bob 3:1")
	awaitAnswers(t, group, 1)
	group.Say(olga, "/undo 1") // the bot asks first, because Olga did not play
	question := awaitAnswers(t, group, 2)[1]
	awaitAllSent(t, sim, pool)
	first.kill()
	expireLease(t, pool, first)
	exec(`UPDATE timers SET due_at = now()`)
	group.Say(alice, "/match @bob 3:2") // after a crash, attempts are recorded
	second := launch(t, env, "run")
	_, err := group.WaitEdits(testContext(t), question.ID, 1)
	must(t, err)
	awaitAnswers(t, group, 3)
	awaitAllSent(t, sim, pool)
	stopCleanly(t, second)

	did := func(waits bool) []string {
		return collect(t, pool, pgx.RowTo[string], `SELECT DISTINCT what FROM commits WHERE waits = $1 ORDER BY what`, waits)
	}
	want := []string{"chats frozen_until", "match_messages", "outbox", "prompts", "timers due_at"}
	equal(t, did(false), want, "changed without waiting")
	waited := make(map[string]bool)
	for _, what := range did(true) {
		waited[what] = true
	}
	for _, what := range []string{
		"handled_commands", "leases", "timers", "chats", "update_attempts", "matches", "outbox",
	} {
		if !waited[what] {
			t.Errorf("no transaction has changed %s and waited", what)
		}
	}
}
