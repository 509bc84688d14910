//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// killed is the fixture of a polling bot that is killed at one crash point after another. A new bot
// starts after each kill.
type killed struct {
	*crashes
	alice, bob, carol botsim.User
	tables            []*table
	bot               *process
	settings          []string // environment of each bot
	lives             int      // bots started

	extra int // duplicate answers so far
}

// anyNumber stands for a count that the crash point does not determine.
const anyNumber = -1

// TestKilledAtEachPoint checks that every command takes effect once, in order, and is answered,
// although a polling bot is killed at one crash point after another while results are reported,
// undone and corrected. At each kill, no command has committed before an earlier one, and none was
// confirmed to Telegram before it committed. A message arrives twice only if it was being sent at
// the kill.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	k := &killed{crashes: newCrashes(t)}
	k.alice, k.bob, k.carol = k.sim.User("alice"), k.sim.User("bob"), k.sim.User("carol")
	k.begin()
	for _, tc := range []struct {
		point         crashpoint.Point
		visit         int
		commands      func(*table)
		wantCommitted int    // committed commands
		wantRequests  int    // requests made
		merge         string // SEND_MERGE of the next bot
	}{
		{crashpoint.Applying, 1, k.results, 0, 0, "off"},
		{crashpoint.Applying, 3, k.presses, 2, anyNumber, "off"},
		// The third command is a fix. The kill interrupts its transaction.
		{crashpoint.Applying, 3, k.results, 2, anyNumber, "off"},
		{crashpoint.Applied, 3, k.results, 3, anyNumber, "off"},
		{crashpoint.Handled, 1, k.presses, 1, anyNumber, "off"},
		{crashpoint.Handled, 3, k.results, 3, anyNumber, "off"},
		{crashpoint.Requesting, 1, k.results, anyNumber, 0, "off"},
		{crashpoint.Requested, 3, k.results, anyNumber, 3, "off"},
		{crashpoint.Requested, 1, k.latePress, 1, 1, "on"},
	} {
		k.kill(tc.point, tc.visit, tc.commands, tc.wantCommitted, tc.wantRequests, tc.merge)
	}
	merged, results := k.killMerging()
	together := k.killTogether()

	copies := 0
	for _, b := range k.tables {
		b.check()
		copies += k.copies(b.group)
	}
	equal(t, copies, k.extra, "answers that came twice")
	for _, g := range together {
		checkAnswered(t, k.pool, g.group, g.posted)
	}
	// There are two messages of merged results. Only the message that was requested before the kill
	// arrives twice.
	equal(t, checkDeliveredInOrder(t, merged, results), results/2, "results delivered twice")
	equal(t, count(t, k.pool, `SELECT count(*) FROM dead_letters`), 0, "dead letters")
	// A bot may acquire the lease twice, if the answer to its first attempt comes too late.
	if epoch := count(t, k.pool, `SELECT epoch FROM leases`); epoch < k.lives {
		t.Errorf("the lease was acquired %d times by %d bots", epoch, k.lives)
	}
	verifyClean(t, k.url)
}

// startNext ends the lease of the last bot, starts the next one with SEND_MERGE set to merge, and
// waits until everything is handled and sent.
func (k *killed) startNext(merge string) {
	k.t.Helper()
	if k.bot != nil {
		expireLease(k.t, k.pool, k.bot)
	}
	k.bot = k.start(append(slices.Clone(k.settings), "SEND_MERGE="+merge)...)
	k.lives++
	k.settle()
}

// begin starts the first bot and opens three tables. At each, the players join, two results are
// recorded, and the second is undone.
func (k *killed) begin() {
	k.t.Helper()
	k.startNext("off")
	for i := range 3 {
		b := newTable(k.t, k.sim, k.pool, k.sim.Group(fmt.Sprintf("Group %d", i+1), k.alice, k.bob, k.carol))
		for _, p := range []botsim.User{k.alice, k.bob, k.carol} {
			b.group.Say(p, "/join")
		}
		b.match(k.bob, k.carol, 3, 2)
		b.match(k.alice, k.bob, 0, 1)
		b.undo(k.bob, 2)
		k.tables = append(k.tables, b)
	}
	k.settle()
}

// results reports two results, fixes the first and undoes the second.
func (k *killed) results(b *table) {
	n := len(b.matches)
	b.match(k.alice, k.bob, 3, 1)
	b.match(k.carol, k.alice, 0, 2)
	b.fix(k.alice, n+1, [2]int{2, 2})
	b.undo(k.carol, n+2)
}

// presses reports two results. In between, two players press the undo button of the last match that
// is not undone, and the second press comes too late.
func (k *killed) presses(b *table) {
	n := len(b.matches)
	for b.matches[n-1].undoneBy != "" {
		n--
	}
	b.match(k.bob, k.carol, 1, 1)
	b.press(k.bob, n) // Bob played this match
	b.press(k.alice, n)
	b.match(k.alice, k.carol, 0, 3)
}

// latePress presses the button of a match that is already undone.
func (k *killed) latePress(b *table) { b.press(k.alice, 2) }

// sendingAtCrash holds, by action, how many notices are in the state sending.
type sendingAtCrash struct{ Messages, Edits, Answers int }

func (k *killed) sending() sendingAtCrash {
	k.t.Helper()
	return collect(k.t, k.pool, pgx.RowToStructByPos[sendingAtCrash], `
		SELECT count(*) FILTER (WHERE action = 'send'),
		       count(*) FILTER (WHERE action IN ('edit', 'page')), count(*) FILTER (WHERE action = 'callback_answer')
		FROM outbox WHERE state = 'sending'`)[0]
}

// kill sends commands and waits until the bot is killed at the given visit to a crash point. It
// checks what has been committed, confirmed and sent, starts the next bot with SEND_MERGE set to
// merge, and checks that only messages that were being sent have arrived twice. wantCommitted and
// wantRequests may be anyNumber.
func (k *killed) kill(
	point crashpoint.Point, visit int, commands func(*table), wantCommitted, wantRequests int, merge string,
) {
	k.t.Helper()
	where := fmt.Sprintf("visit %d to %q", visit, point)
	b := k.tables[k.lives%len(k.tables)]
	given, requestsBefore, duplicatesBefore, copiesBefore := len(b.keys), k.countRequests(),
		k.possibleDuplicates(), k.copies(b.group)
	k.at(point, visit, crashpoint.End)
	commands(b)
	k.awaitCrash(k.bot)

	keys := b.keys[given:]
	n := k.countCommitted(where, keys)
	if wantCommitted != anyNumber && n != wantCommitted {
		k.t.Errorf("%s: %d commands have committed, want %d", where, n, wantCommitted)
	}
	confirmed := len(keys) - k.sim.Pending()
	isRequest := point == crashpoint.Requesting || point == crashpoint.Requested
	if confirmed > n || !isRequest && confirmed >= visit {
		k.t.Errorf("%s: %d commands have been confirmed, %d committed", where, confirmed, n)
	}
	made := k.countRequests() - requestsBefore
	if wantRequests != anyNumber && made != wantRequests {
		k.t.Errorf("%s: %d requests were made, want %d", where, made, wantRequests)
	}
	sending := k.sending()
	if all := sending.Messages + sending.Edits + sending.Answers; isRequest && all != 1 {
		k.t.Errorf("%s: %+v are being sent", where, sending)
	}

	k.startNext(merge)
	if n := k.possibleDuplicates() - duplicatesBefore; n != sending.Messages+sending.Edits {
		k.t.Errorf("%s: %d possible duplicates were counted, want %+v", where, n, sending)
	}
	copies := k.copies(b.group) - copiesBefore
	switch want := sending.Messages; {
	case copies > want:
		k.t.Errorf("%s: %d copies, but only %+v was being sent", where, copies, sending)
	case point == crashpoint.Requested && copies != want, point == crashpoint.Requesting && copies != 0:
		k.t.Errorf("%s: %d copies while %+v was being sent", where, copies, sending)
	}
	k.extra += copies
}

// countCommitted returns how many of the commands with the given keys, which are in the order of
// sending, have committed, and checks that they precede all others. where begins each error, and
// names the point at which the bot was killed.
func (k *killed) countCommitted(where string, keys []string) (n int) {
	k.t.Helper()
	handled := handledKeys(k.t, k.pool)
	for n < len(keys) && handled[keys[n]] {
		n++
	}
	if slices.ContainsFunc(keys[n:], func(key string) bool { return handled[key] }) {
		k.t.Errorf("%s: of %v, later ones have committed before earlier ones: %v", where, keys, handled)
	}
	return n
}

// countRequests returns the number of requests for text messages, edits and callback answers.
func (k *killed) countRequests() int {
	return k.sim.CallCount("sendMessage") + k.sim.CallCount("editMessageText") + k.sim.CallCount("answerCallbackQuery")
}

// possibleDuplicates returns the number of possible duplicates that were counted, except for
// callback answers.
func (k *killed) possibleDuplicates() int {
	k.t.Helper()
	return count(k.t, k.pool, `SELECT coalesce(sum(possible_duplicates), 0) FROM outbox WHERE action <> 'callback_answer'`)
}

// copies returns the number of messages in a group that reply to an already answered message.
func (k *killed) copies(group *botsim.Chat) (n int) {
	seen := make(map[int]bool)
	for _, m := range group.BotMessages() {
		if seen[m.ReplyTo] {
			n++
		}
		seen[m.ReplyTo] = true
	}
	return n
}

// killMerging kills the bot twice: before and after a request that merges several results. It
// returns the group and the number of results in all.
func (k *killed) killMerging() (group *botsim.Chat, results int) {
	k.t.Helper()
	const each = 5
	group = k.sim.Group("Merged", k.alice, k.bob)
	for _, tc := range []struct {
		point    crashpoint.Point
		messages int    // messages that arrived before the kill
		merge    string // SEND_MERGE of the next bot
	}{{crashpoint.Requesting, 0, "on"}, {crashpoint.Requested, 1, "off"}} {
		before, duplicates := len(group.BotMessages()), k.possibleDuplicates()
		allow := k.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 3})
		for i := range each {
			group.Say(k.alice, fmt.Sprintf("/match @bob 3:%d", i))
		}
		results += each
		// The chat must stay frozen until allow is called, so that the next request is merged.
		k.await("all results wait in a frozen chat", func() bool {
			return count(k.t, k.pool, `
				SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
				WHERE o.state = 'planned' AND c.frozen_until > clock_timestamp() + interval '2 s'`) == each
		})
		k.at(tc.point, 1, crashpoint.End)
		allow()
		k.awaitCrash(k.bot)
		if n := count(k.t, k.pool, `SELECT count(*) FROM outbox WHERE state = 'sending' AND batch IS NOT NULL`); n != each {
			k.t.Errorf("%q: %d results are merged, want %d", tc.point, n, each)
		}
		if n := len(group.BotMessages()) - before; n != tc.messages {
			k.t.Errorf("%q: %d messages have come, want %d", tc.point, n, tc.messages)
		}
		k.startNext(tc.merge)
		all := group.BotMessages()[before:]
		if len(all) != tc.messages+1 || visible(all[0]) != visible(all[tc.messages]) ||
			k.possibleDuplicates()-duplicates != each {
			k.t.Errorf("%q: the messages are %v, %d possible duplicates", tc.point, all, k.possibleDuplicates()-duplicates)
		}
	}
	return group, results
}

// TestKilledWhileMigrating checks that, if the bot is killed before or after the first or the last
// migration, the final schema is the same as without kills. It is also the same if two bots start
// at once on a half-migrated database. One of the two then leads, and if it is killed after a
// renewal of its lease, the other takes over.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	undisturbed := c.schema()
	c.useEmptyDatabase()
	steps := dbtest.Steps(t)
	last := len(steps) - 1
	c.crashWhileMigrating(crashpoint.Migrating, 1, fmt.Sprint(steps[0], " true"))
	c.crashWhileMigrating(crashpoint.Migrated, 1, fmt.Sprint(steps[0], " false"))
	c.crashWhileMigrating(crashpoint.Migrating, last, fmt.Sprint(steps[last], " true"))
	c.crashWhileMigrating(crashpoint.Migrated, 1, fmt.Sprint(steps[last], " false"))
	equal(t, c.schema(), undisturbed, "schema after all crashes")
	c.useEmptyDatabase()
	c.crashWhileMigrating(crashpoint.Migrating, 1, fmt.Sprint(steps[0], " true"))
	c.startTwo()
	equal(t, c.schema(), undisturbed, "schema after two bots at once")
}

func (c *crashes) useEmptyDatabase() {
	c.t.Helper()
	c.url = pgtest.Empty(c.t)
	pool, err := pgxpool.New(c.t.Context(), c.url)
	must(c.t, err)
	c.t.Cleanup(pool.Close)
	c.pool = pool
}

// crashWhileMigrating starts a bot that crashes at a point of the given migration, counted from 1
// among those that this bot runs. want is the version that the database must then have, and whether
// the version is marked as dirty.
func (c *crashes) crashWhileMigrating(at crashpoint.Point, migration int, want string) {
	c.t.Helper()
	c.at(at, migration, crashpoint.End)
	c.awaitCrash(c.start())
	got := collect(c.t, c.pool, pgx.RowTo[string], `SELECT version || ' ' || dirty FROM schema_migrations`)
	if !slices.Equal(got, []string{want}) {
		c.t.Errorf("after a crash at %q the version is %q, want %q", at, got, want)
	}
}

// startTwo starts two bots at once on a half-migrated database. It checks that one of them leads,
// and that the other takes over when the leader is killed.
func (c *crashes) startTwo() {
	c.t.Helper()
	release := holdRows(c.t, c.pool, `LOCK TABLE schema_migrations`)
	bots := []*process{c.start(), c.start()}
	c.await("both are about to migrate", func() bool {
		return count(c.t, c.pool, `
			SELECT count(DISTINCT application_name) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) == len(bots)
	})
	release()
	roles := make(map[string]int)
	for _, bot := range bots {
		bot.await(c.t, "msg=ready")
		eventually(c.t, "it has asked for the lease", func() bool {
			for _, what := range []string{"msg=leading", "standing by"} {
				if strings.Contains(bot.output.String(), what) {
					roles[what]++
					return true
				}
			}
			return false
		})
	}
	if roles["msg=leading"] != 1 || roles["standing by"] != 1 {
		c.t.Errorf("the roles of the two bots are %v", roles)
	}
	group := c.sim.Group("Chess", c.sim.User("alice"), c.sim.User("bob"))
	for n := 1; n <= len(bots); n++ {
		group.Say(c.sim.User("alice"), "/match @bob 3:1")
		c.settle()
		if answers := group.BotMessages(); len(answers) != n ||
			!strings.Contains(visible(answers[n-1]), fmt.Sprintf("Match #%d", n)) {
			c.t.Errorf("the bots have answered %+v", answers)
		}
		if recorded := count(c.t, c.pool, `SELECT count(*) FROM matches`); recorded != n {
			c.t.Errorf("%d matches were recorded, want %d", recorded, n)
		}
		if n < len(bots) {
			c.at(crashpoint.Renewed, 1, crashpoint.End)
			expireLease(c.t, c.pool, bots[c.awaitCrash(bots...)])
		}
	}
}

// schema returns all columns, indexes and constraints of the database, and the version of the
// schema.
func (c *crashes) schema() string {
	c.t.Helper()
	return strings.Join(collect(c.t, c.pool, pgx.RowTo[string], `
		SELECT * FROM (
		    SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default)
		    FROM information_schema.columns WHERE table_schema = current_schema()
		    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
		    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
		        WHERE connamespace = current_schema()::regnamespace
		    UNION ALL SELECT format('version %s %s', version, dirty) FROM schema_migrations) AS all_of_it (line)
		ORDER BY line`), "\n")
}
