package main_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// holdRows runs a statement that takes locks in another session, which keeps them until release or
// the end of the test.
func holdRows(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (release func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	must(t, err)
	// The rollback fails if release has been called.
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	return func() {
		must(t, tx.Rollback(testContext(t)))
	}
}

func checkNoDeadLetters(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, reason := range collect(t, pool, pgx.RowTo[string], `SELECT last_error FROM dead_letters`) {
		t.Errorf("there is a dead letter: %s", reason)
	}
}

// awaitLock waits until at least n sessions of the database wait for a lock.
func (b *botFixture) awaitLock(n int) {
	b.t.Helper()
	eventually(b.t, "the bot waits for a lock", func() bool {
		return count(b.t, b.pool, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n
	})
}

// TestHeldUp checks that locks of another session, on the row of one group or on a table, only
// delay results. If the delay is too long, the bot asks the sender to try again. Every result that
// the bot confirms is recorded once.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	const connections = 4 // that the bot uses for commands
	b := newBotFixture(t)
	b.bot = launch(t, append(environment(b.sim, pgtest.WithParameter(b.url, "pool_max_conns", strconv.Itoa(connections))),
		// The lease must not expire before it is renewed.
		"LEASE_DURATION=40s", "LEASE_RENEWAL=100ms"), "run")
	b.joinAll()
	held := b.group("Held")
	var others []*botsim.Chat
	for i := range 5 {
		others = append(others, b.group(fmt.Sprintf("Group %d", i+1)))
	}
	b.ask(held, b.alice, "/match @bob 3:1")
	hold := func() (release func()) {
		return holdRows(t, b.pool, `
			SELECT FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1 FOR UPDATE OF g`, held.ID())
	}

	// While the row is locked for a short time, other groups are not affected. The result is
	// recorded when the row is free.
	release := hold()
	posted := held.Say(b.alice, "/match @bob 3:2")
	b.awaitLock(1)
	checkOthersGoOn(t, b, others)
	equal(t, b.matches(held), 1, "matches of the held group before it is free")
	release()
	recorded := 1
	// On a very slow machine, the answer may be "try again".
	if answer := visible(b.answer(posted)); !strings.Contains(answer, "again") {
		says(t, answer, "Match #2")
		recorded++
	}

	// If the row stays locked for a long time, the bot asks the sender to try again. The repeated
	// result then counts once.
	release = hold()
	posted = held.Say(b.alice, "/match @bob 3:2")
	says(t, visible(b.answer(posted)), "again")
	release()
	equal(t, b.matches(held), recorded, "matches")
	says(t, visible(b.ask(held, b.alice, "/match @bob 3:2")), fmt.Sprintf("Match #%d", recorded+1))
	b.settle()

	// If all connections for commands wait for a lock on a table, the lease is still renewed.
	release = holdRows(t, b.pool, `LOCK TABLE handled_commands`)
	var waiting []botsim.Message
	for i := range 2 * connections {
		waiting = append(waiting, b.group(fmt.Sprintf("Waiting %d", i+1)).Say(b.alice, "/match @bob 3:1"))
	}
	b.awaitLock(connections)
	lease := func() time.Time {
		return collect(t, b.pool, pgx.RowTo[time.Time], `SELECT expires_at FROM leases`)[0]
	}
	begun := lease()
	eventually(t, "the lease is renewed", func() bool { return lease().Sub(begun) > 500*time.Millisecond })
	b.awaitLock(connections)
	release()
	for _, m := range waiting {
		b.answer(m)
	}
	b.finish()
}

// checkOthersGoOn checks that results in the given groups are recorded and answered, even while
// another group is held up.
func checkOthersGoOn(t *testing.T, b *botFixture, others []*botsim.Chat) {
	t.Helper()
	const results = 3
	for n := range results {
		for _, group := range others {
			group.Say(b.alice, fmt.Sprintf("/match @bob 3:%d", n))
		}
	}
	for _, group := range others {
		for n, m := range awaitAnswers(t, group, results) {
			says(t, visible(m), fmt.Sprintf("Match #%d", n+1))
		}
	}
}
