//go:build unix

package main_test

import (
	"fmt"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// conversation is a group with the messages that people have posted there.
type conversation struct {
	group  *botsim.Chat
	posted []botsim.Message
}

// resultsWait creates a trigger that makes transactions wait for an advisory lock after they have
// inserted matches: for aloneLock after one match, for togetherLock after several.
const (
	aloneLock    = 1
	togetherLock = 2
	resultsWait  = `
		CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
		BEGIN
		    PERFORM pg_advisory_xact_lock_shared(CASE WHEN (SELECT count(*) FROM added) = 1 THEN 1 ELSE 2 END);
		    RETURN NULL;
		END $$;
		CREATE TRIGGER wait AFTER INSERT ON matches REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wait()`
)

// killTogether kills the bot within a transaction that holds results of several groups, and returns
// the groups.
func (k *killed) killTogether() []*conversation {
	k.t.Helper()
	const (
		alone    = 2 // results that are written immediately, each in its own transaction
		together = 3 // results that wait for these, and are then written in one transaction
	)
	k.bot.stop(k.t) // after a clean stop, the next bot handles updates in parallel
	k.startNext("off")
	var all []*conversation
	for i := range alone + together {
		g := &conversation{group: k.sim.Group(fmt.Sprintf("Together %d", i+1), k.alice, k.bob)}
		// Results are written together only if all their players already have standings.
		g.posted = append(g.posted, g.group.Say(k.alice, "/match @bob 3:1"))
		all = append(all, g)
	}
	k.settle()
	if _, err := k.pool.Exec(k.t.Context(), resultsWait); err != nil {
		k.t.Fatal(err)
	}
	writeAlone := holdRows(k.t, k.pool, `SELECT pg_advisory_xact_lock($1)`, aloneLock)
	writeTogether := holdRows(k.t, k.pool, `SELECT pg_advisory_xact_lock($1)`, togetherLock)
	k.at(crashpoint.Batching, alone+together, crashpoint.Meet)
	for _, g := range all {
		g.posted = append(g.posted, g.group.Say(k.alice, "/match @bob 3:2"))
	}
	k.awaitCarriedOut(k.bot)
	k.at(crashpoint.ApplyingTogether, 1, crashpoint.End)
	writeAlone()
	k.awaitCarriedOut(k.bot)
	k.mustCrash(k.bot)
	k.await("the transaction waits for the lock", func() bool {
		return count(k.t, k.pool, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, togetherLock) == 1
	})
	recorded := func() int {
		return count(k.t, k.pool, `SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id
			JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = ANY ($1) AND m.number = 2`, ids(all))
	}
	if n := recorded(); n > len(all)-together || k.sim.Pending() < len(all)-n {
		k.t.Errorf("of %d results %d were recorded, and %d have not been confirmed", len(all), n, k.sim.Pending())
	}
	writeTogether()
	k.awaitSilence(k.bot)
	if n := count(k.t, k.pool,
		`SELECT max(n) FROM (SELECT count(*) AS n FROM matches GROUP BY xmin::text) AS written`); n < together {
		k.t.Errorf("no transaction has written more than %d results", n)
	}
	k.startNext("off")
	if n := recorded(); n != len(all) {
		k.t.Errorf("of %d results %d were recorded", len(all), n)
	}
	return all
}

func ids(all []*conversation) (ids []int64) {
	for _, g := range all {
		ids = append(ids, g.group.ID())
	}
	return ids
}
