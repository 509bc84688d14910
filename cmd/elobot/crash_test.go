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
)

// killed is a bot that polls and is ended at one point after the other, while people play at three tables.
type killed struct {
	*crashes
	alice, bob, carol botsim.User
	tables            []*table
	bot               *process
	lives             int

	extra int // copies that had to come
}

// anyNumber is for what a point says nothing of.
const anyNumber = -1

// TestKilledAtEachPoint ends a bot that polls at each point of its work, while results come in, are undone and corrected.
// What has committed, what has been confirmed to Telegram and what was sent are what they must be there. In the end
// everything has taken effect once, in order, and been told; a message has come twice only if its request had been made.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	k := &killed{crashes: newCrashes(t)}
	k.alice, k.bob, k.carol = k.sim.User("alice"), k.sim.User("bob"), k.sim.User("carol")
	k.begin()
	for _, tc := range []struct {
		point         crashpoint.Point
		visit         int
		commands      func(*table)
		wantCommitted int    // of the commands
		wantRequests  int    // that were made
		merge         string // as SEND_MERGE of the next bot
	}{
		{crashpoint.Applying, 1, k.results, 0, 0, "off"},
		{crashpoint.Applying, 3, k.presses, 2, anyNumber, "off"},
		{crashpoint.Applied, 3, k.results, 2, anyNumber, "off"}, // in the transaction of a correction
		{crashpoint.Handled, 1, k.presses, 1, anyNumber, "off"},
		{crashpoint.Handled, 3, k.results, 3, anyNumber, "off"},
		{crashpoint.Requesting, 1, k.results, anyNumber, 0, "off"}, // of what was marked as it was committed
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
	if copies != k.extra {
		t.Errorf("%d answers came twice, want %d", copies, k.extra)
	}
	for _, g := range together {
		checkAnswered(t, k.pool, g.group, g.said)
	}
	// of the message that tells all results one more copy came, of the one whose request had been made
	if n := checkToldInOrder(t, merged, results); n != results/2 {
		t.Errorf("%d results were told twice, want %d", n, results/2)
	}
	if n := count(t, k.pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("there are %d dead letters", n)
	}
	if epoch := count(t, k.pool, `SELECT epoch FROM leases`); epoch != k.lives {
		t.Errorf("the lease was had %d times by %d bots", epoch, k.lives)
	}
	verifyClean(t, k.url)
	checkNoComplaints(t, k.sim)
}

// live starts the next bot, and waits until everything is taken and sent. What comes first after a crash is handled with
// care, so something comes first that means nothing: more than one, because one alone need not be all.
func (k *killed) live(merge string) {
	k.t.Helper()
	if k.bot != nil {
		k.vanished(k.bot)
	}
	k.bot = k.start("SEND_MERGE=" + merge)
	k.lives++
	for range 2 {
		k.sim.Update([]byte(`{"poll":{"id":"1"}}`))
	}
	k.settle()
}

// begin has everybody join, and something be there to be taken back.
func (k *killed) begin() {
	k.t.Helper()
	k.live("off")
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

// results are two, of which one is corrected and one undone.
func (k *killed) results(b *table) {
	n := len(b.matches)
	b.match(k.alice, k.bob, 3, 1)
	b.match(k.carol, k.alice, 0, 2)
	b.fix(k.alice, n+1, [2]int{2, 2})
	b.undo(k.carol, n+2)
}

// presses are of the button of the last result that counts. The second one comes too late.
func (k *killed) presses(b *table) {
	n := len(b.matches)
	for b.matches[n-1].undoneBy != "" {
		n--
	}
	b.match(k.bob, k.carol, 1, 1)
	b.press(k.alice, n)
	b.press(k.bob, n)
	b.match(k.alice, k.carol, 0, 3)
}

// latePress is of the button of a result that is undone already.
func (k *killed) latePress(b *table) { b.press(k.alice, 2) }

// stateAtDeath is what lies in the outbox of what was being sent.
type stateAtDeath struct{ Messages, Edits, Toasts int }

// kill has commands given and the bot end at a point, looks at what there is then, and has the next bot go on.
func (k *killed) kill(point crashpoint.Point, visit int, commands func(*table), wantCommitted, wantRequests int, merge string) {
	k.t.Helper()
	where := fmt.Sprintf("visit %d to %q", visit, point)
	b := k.tables[k.lives%len(k.tables)]
	given, requestsBefore, perhapsBefore, copiesBefore := len(b.keys), k.countRequests(), k.perhaps(), k.copies(b.group)
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
	sending := collect(k.t, k.pool, pgx.RowToStructByPos[stateAtDeath], `
		SELECT count(*) FILTER (WHERE action = 'send'), count(*) FILTER (WHERE action = 'edit'), count(*) FILTER (WHERE action = 'toast')
		FROM outbox WHERE state = 'sending'`)[0]
	if all := sending.Messages + sending.Edits + sending.Toasts; isRequest && all != 1 {
		k.t.Errorf("%s: %+v are being sent", where, sending)
	}

	k.live(merge)
	if n := k.perhaps() - perhapsBefore; n != sending.Messages+sending.Edits {
		k.t.Errorf("%s: %d were counted as perhaps sent, want %+v", where, n, sending)
	}
	copies := k.copies(b.group) - copiesBefore
	switch want := sending.Messages; {
	case copies > want:
		k.t.Errorf("%s: %d copies, and %+v was perhaps sent", where, copies, sending)
	case point == crashpoint.Requested && copies != want, point == crashpoint.Requesting && copies != 0:
		k.t.Errorf("%s: %d copies while %+v was being sent", where, copies, sending)
	}
	k.extra += copies
}

// countCommitted returns how many commands have committed, which must be the first ones.
func (k *killed) countCommitted(where string, keys []string) (n int) {
	k.t.Helper()
	handled := handledKeys(k.t, k.pool)
	for n < len(keys) && handled[keys[n]] {
		n++
	}
	if slices.ContainsFunc(keys[n:], func(key string) bool { return handled[key] }) {
		k.t.Errorf("%s: of %v only some have committed: %v", where, keys, handled)
	}
	return n
}

// countRequests returns how many have been made to tell people something.
func (k *killed) countRequests() int {
	return k.sim.CallCount("sendMessage") + k.sim.CallCount("editMessageText") + k.sim.CallCount("answerCallbackQuery")
}

// perhaps returns how often messages were counted as perhaps sent.
func (k *killed) perhaps() int {
	k.t.Helper()
	return count(k.t, k.pool, `SELECT coalesce(sum(possible_duplicates), 0) FROM outbox WHERE action <> 'toast'`)
}

// copies returns how many answers in a group came once more.
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

// killMerging ends the bot before and after requests of which each tells several results. It returns their group, and how
// many they were.
func (k *killed) killMerging() (group *botsim.Chat, results int) {
	k.t.Helper()
	const each = 5
	group = k.sim.Group("Merged", k.alice, k.bob)
	for _, tc := range []struct {
		point    crashpoint.Point
		messages int    // that have come
		merge    string // as SEND_MERGE of the next bot
	}{{crashpoint.Requesting, 0, "on"}, {crashpoint.Requested, 1, "off"}} {
		before, perhaps := len(group.BotMessages()), k.perhaps()
		allow := k.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 3})
		for i := range each {
			group.Say(k.alice, fmt.Sprintf("/match @bob 3:%d", i))
		}
		results += each
		// The next request that comes must be the one that is allowed.
		k.await("all results wait, and longer than what follows takes", func() bool {
			return count(k.t, k.pool, `
				SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
				WHERE o.state = 'planned' AND c.frozen_until > clock_timestamp() + interval '2 s'`) == each
		})
		k.at(tc.point, 1, crashpoint.End)
		allow()
		k.awaitCrash(k.bot)
		if n := count(k.t, k.pool, `SELECT count(*) FROM outbox WHERE state = 'sending' AND batch IS NOT NULL`); n != each {
			k.t.Errorf("%q: %d results are told together, want %d", tc.point, n, each)
		}
		if n := len(group.BotMessages()) - before; n != tc.messages {
			k.t.Errorf("%q: %d messages have come, want %d", tc.point, n, tc.messages)
		}
		k.live(tc.merge)
		all := group.BotMessages()[before:]
		if len(all) != tc.messages+1 || visible(all[0]) != visible(all[tc.messages]) || k.perhaps()-perhaps != each {
			k.t.Errorf("%q: the messages are %v, %d results counted as perhaps sent", tc.point, all, k.perhaps()-perhaps)
		}
	}
	return group, results
}

// TestKilledWhileMigrating ends the bot before and after steps of the schema. Of the next two, which start at the same
// moment, one goes on, and the schema is what it is after steps that nothing has disturbed. One of them leads, and when it
// ends after a renewal, the other one does.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	undisturbed := c.schema()
	c.url = pgtest.Empty(t)
	pool, err := pgxpool.New(t.Context(), c.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	c.pool = pool
	for _, at := range []struct {
		point crashpoint.Point
		step  int // the next one
		dirty bool
	}{{crashpoint.Migrating, 3, true}, {crashpoint.Migrated, 2, false}} {
		before := 0
		if count(t, c.pool, `SELECT count(*) FROM pg_tables WHERE tablename = 'schema_migrations'`) == 1 {
			before = count(t, c.pool, `SELECT version - dirty::integer FROM schema_migrations`)
		}
		c.at(at.point, at.step, crashpoint.End)
		bot := c.start()
		c.awaitCrash(bot)
		want := fmt.Sprintf("%d %t", before+at.step, at.dirty)
		if got := collect(t, c.pool, pgx.RowTo[string], `SELECT version || ' ' || dirty FROM schema_migrations`); !slices.Equal(got, []string{want}) {
			t.Errorf("step %d, %q: the version is %v, want %s", at.step, at.point, got, want)
		}
	}
	c.startTwo()
	if got := c.schema(); got != undisturbed {
		t.Errorf("the schema is\n%s\nwant\n%s", got, undisturbed)
	}
}

// startTwo starts two bots at the same moment on a database that is not up to date.
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
	said := make(map[string]int)
	for _, bot := range bots {
		bot.await(c.t, "msg=ready")
		eventually(c.t, "it has asked for the lease", func() bool {
			for _, what := range []string{"msg=leading", "standing by"} {
				if strings.Contains(bot.output.String(), what) {
					said[what]++
					return true
				}
			}
			return false
		})
	}
	if said["msg=leading"] != 1 || said["standing by"] != 1 {
		c.t.Errorf("of two bots, %v", said)
	}
	group := c.sim.Group("Chess", c.sim.User("alice"), c.sim.User("bob"))
	for n := 1; n <= len(bots); n++ {
		group.Say(c.sim.User("alice"), "/match @bob 3:1")
		c.settle()
		if answers := group.BotMessages(); len(answers) != n || !strings.Contains(visible(answers[n-1]), fmt.Sprintf("Match #%d", n)) {
			c.t.Errorf("the bots have said %+v", answers)
		}
		if recorded := count(c.t, c.pool, `SELECT count(*) FROM matches`); recorded != n {
			c.t.Errorf("%d matches were recorded, want %d", recorded, n)
		}
		if n < len(bots) {
			c.at(crashpoint.Renewed, 1, crashpoint.End)
			c.vanished(bots[c.awaitCrash(bots...)])
		}
	}
	checkNoComplaints(c.t, c.sim)
}

// schema returns all columns, indexes and constraints of the database, and its version.
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
