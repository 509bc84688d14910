package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// lasting is an environment in which no lease runs out while the database answers nothing.
func lasting(sim *botsim.Server, url string) []string {
	return append(environment(sim, url), "LEASE_DURATION=40s", "LEASE_RENEWAL=3s")
}

// newGroups returns groups of Alice and Bob.
func newGroups(sim *botsim.Server, n int) (alice botsim.User, groups []*botsim.Chat) {
	alice = sim.User("alice")
	bob := sim.User("bob")
	for i := range n {
		groups = append(groups, sim.Group(fmt.Sprintf("Group %d", i+1), alice, bob))
	}
	return alice, groups
}

// holdRows has another session hold what the statement locks until it is released.
func holdRows(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (release func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkNoneDied fails if any update or notice has become a dead letter.
func checkNoneDied(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, why := range collect(t, pool, pgx.RowTo[string], `SELECT last_error FROM dead_letters`) {
		t.Errorf("a dead letter: %s", why)
	}
}

// TestDatabaseStallsLikeAnAttempt: the database answers nothing for a little longer than an attempt at an update lasts. What
// was on its way has all the time again afterwards, and everything is recorded.
func TestDatabaseStallsLikeAnAttempt(t *testing.T) {
	t.Parallel()
	const stall = 9300 * time.Millisecond
	sim := botsim.Start(t)
	url, pool := database(t)
	line := newProxy(t, url)
	alice, groups := newGroups(sim, 6)
	launch(t, lasting(sim, line.url), "run")
	said := make([][]botsim.Message, len(groups))
	say := func(n int) {
		for range n {
			for i, g := range groups {
				said[i] = append(said[i], g.Say(alice, fmt.Sprintf("/match @bob 3:%d", len(said[i]))))
			}
		}
	}
	say(1)
	for _, g := range groups {
		awaitAnswers(t, g, 1)
	}
	line.stall()
	say(5)
	timer := time.NewTimer(stall)
	defer timer.Stop()
	<-timer.C
	line.resume()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		for n, m := range checkAnswered(t, pool, g, said[i]) {
			if want := fmt.Sprintf("Match #%d", n+1); !strings.Contains(visible(m), want) {
				t.Errorf("answer %d in group %d is\n%s", n+1, i+1, visible(m))
			}
		}
	}
	checkNoneDied(t, pool)
}

// TestLeaseWhileCommandsWait: all connections for commands wait for a lock, and the lease is renewed all the same.
func TestLeaseWhileCommandsWait(t *testing.T) {
	t.Parallel()
	const held = 5 * time.Second
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 80)
	bot := launch(t, append(environment(sim, url), "LEASE_DURATION=3s", "LEASE_RENEWAL=300ms"), "run")
	groups[0].Say(alice, "/match @bob 3:1")
	awaitAnswers(t, groups[0], 1)
	release := holdRows(t, pool, `LOCK TABLE handled_commands`)
	for _, g := range groups {
		g.Say(alice, "/match @bob 3:2")
	}
	bot.await(t, "somebody else holds what a command needs")
	timer := time.NewTimer(held)
	defer timer.Stop()
	<-timer.C
	release()
	for i, g := range groups {
		awaitAnswers(t, g, 1+max(0, 1-i))
	}
	if strings.Contains(bot.output.String(), "the lease has run out") {
		t.Error("the lease has run out")
	}
	checkNoneDied(t, pool)
}

// TestChatsHeldForLong: another session holds the rows of some chats for longer than an attempt at an update lasts, so that
// nothing can be said there at all. Other chats go on meanwhile. Afterwards everything is answered, in order.
func TestChatsHeldForLong(t *testing.T) {
	t.Parallel()
	const held = 11 * time.Second
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 6)
	launch(t, lasting(sim, url), "run")
	said := make([][]botsim.Message, len(groups))
	say := func(i int) { said[i] = append(said[i], groups[i].Say(alice, "/match @bob 3:1")) }
	for i, g := range groups {
		say(i)
		awaitAnswers(t, g, 1)
	}
	free := groups[5]
	release := holdRows(t, pool, `SELECT FROM chats WHERE telegram_chat_id <> $1 FOR UPDATE`, free.ID())
	begun := time.Now()
	for i := range groups {
		say(i)
		say(i)
	}
	awaitAnswers(t, free, 3)
	say(5)
	awaitAnswers(t, free, 4)
	if took := time.Since(begun); took > held/2 {
		t.Errorf("the free group was answered after %v", took)
	}
	timer := time.NewTimer(time.Until(begun.Add(held)))
	defer timer.Stop()
	<-timer.C
	release()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		checkAnswered(t, pool, g, said[i])
	}
	checkNoneDied(t, pool)
	verifyClean(t, url)
}

// TestOthersGoOnBesideHeldGroup: another session holds everything that a result needs in one group. Of the results of other
// groups, all are recorded meanwhile that Telegram shows behind the one that waits; the rest, and that one, afterwards.
func TestOthersGoOnBesideHeldGroup(t *testing.T) {
	t.Parallel()
	const shown = 100 // of the updates that are not confirmed
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, groups := newGroups(sim, 21)
	launch(t, lasting(sim, url), "run")
	said := make([][]botsim.Message, len(groups))
	say := func(i int) { said[i] = append(said[i], groups[i].Say(alice, "/match @bob 3:1")) }
	for i := range groups {
		say(i)
	}
	for _, g := range groups {
		awaitAnswers(t, g, 1)
	}
	if err := sim.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	release := holdRows(t, pool, `
		SELECT FROM chats c JOIN groups g ON g.chat_id = c.id WHERE c.telegram_chat_id = $1 FOR UPDATE`, groups[0].ID())
	say(0)
	for range 10 {
		for i := range groups[1:] {
			say(i + 1)
		}
	}
	recorded := func() int { return count(t, pool, `SELECT count(*) FROM matches`) - len(groups) }
	eventually(t, "what Telegram shows is recorded", func() bool { return recorded() >= shown-1 })
	if n, pending := recorded(), sim.Pending(); n != shown-1 || pending != 201 {
		t.Errorf("%d results are recorded and %d updates are not confirmed, want %d and 201", n, pending, shown-1)
	}
	release()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		checkAnswered(t, pool, g, said[i])
	}
	checkNoneDied(t, pool)
	verifyClean(t, url)
}
