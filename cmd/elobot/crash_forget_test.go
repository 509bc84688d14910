//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
	"elobot/internal/postgres"
)

// TestKilledWhileForgetting checks that a person is forgotten in all groups or in none, although
// two instances record the person's results meanwhile and the one that forgets is killed. Ratings
// stay as the results have made them, and the redelivered press forgets the person once.
func TestKilledWhileForgetting(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	door := newBalancer(t, 2)
	bots := make([]*process, 2)
	start := func(i int) {
		t.Helper()
		bots[i] = c.start(door.environment()...)
		c.await("the bot serves", func() bool { return door.find(i, bots[i]) })
	}
	for i := range bots {
		start(i)
		awaitWebhooks(t, c.sim, 1)
	}
	bob := c.sim.User("bob")
	for i, point := range []crashpoint.Point{crashpoint.Applying, halfWritten, crashpoint.Applied, crashpoint.Handled} {
		name := fmt.Sprintf("quax%c", 'a'+i)
		person := c.sim.User(name)
		var groups []*botsim.Chat
		posted := 0
		report := func() {
			for _, g := range groups {
				g.Say(person, "/match @bob 3:1")
				g.Say(bob, "/match @"+name+" 3:1")
				posted += 2
			}
		}
		for g := range 4 {
			groups = append(groups, c.sim.Group(fmt.Sprint("Group ", g), person, bob))
		}
		report()
		private := c.sim.Private(person)
		private.Say(person, "/forgetme")
		c.settle()
		prompt := private.BotMessages()[0]
		leader := c.leader(bots)
		known := func() int {
			return count(t, c.pool, `SELECT count(*) FROM group_players WHERE lower(name) = $1`, name)
		}
		equal(t, known(), len(groups), "%q: standings with the name", point)
		results := func() []string { // of the person in each group, whoever it is now
			return collect(t, c.pool, pgx.RowTo[string], `
				SELECT concat_ws(' ', s.id, s.player_id, s.elo, s.best_elo, s.played, s.won, s.lost, s.streak)
				FROM group_players s JOIN seasons e ON e.id = s.season_id JOIN groups g ON g.id = e.group_id
				JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = ANY ($1) ORDER BY s.id`, chatIDs(groups))
		}
		before := results()

		door.only(1)
		release := func() {}
		if point == halfWritten {
			release = holdRows(t, c.pool, `
				SELECT FROM sightings WHERE group_id = (SELECT max(group_id) FROM sightings) FOR UPDATE`)
		} else {
			c.at(point, 1, crashpoint.End)
		}
		press := c.sim.Press(person, prompt, dataOf(t, prompt, "Forget me"))
		if point == halfWritten {
			c.await("the bot waits for the lock", func() bool {
				return count(t, c.pool, `SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO sightings%'`) > 0
			})
			door.open()
			report() // waits for the locks of the groups
			must(t, bots[1].cmd.Process.Kill())
			c.mustCrash(bots[1])
			c.awaitSilence(bots[1])
			release()
		} else {
			c.awaitCrash(bots[1])
		}
		committed := point == crashpoint.Applied || point == crashpoint.Handled
		equal(t, handledKeys(t, c.pool)["c:"+press], committed, "%q: the press is handled", point)
		want := len(groups)
		if committed {
			want = 0
		}
		equal(t, known(), want, "%q: standings with the name", point)
		if point != halfWritten { // nobody has reported anything meanwhile
			equal(t, results(), before, "%q: ratings", point)
		}
		if leader == bots[1] {
			expireLease(t, c.pool, bots[1])
		}
		door.set(1, "")
		door.open()
		report()
		start(1)
		report()
		c.settle()
		equal(t, count(t, c.pool, `
			SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = ANY ($1)`, chatIDs(groups)), posted, "%q: matches", point)
		// The former player has what was reported before, and a new player the rest.
		equal(t, collect(t, c.pool, pgx.RowTo[int], `
			SELECT sum(played)::integer FROM group_players s JOIN seasons e ON e.id = s.season_id
			JOIN groups g ON g.id = e.group_id JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = ANY ($1) AND s.name <> 'Bob' GROUP BY e.group_id`, chatIDs(groups)),
			slices.Repeat([]int{posted / len(groups)}, len(groups)), "%q: matches of the person in each group", point)
		equal(t, count(t, c.pool, `
			SELECT count(*) FROM group_players s JOIN seasons e ON e.id = s.season_id JOIN groups g ON g.id = e.group_id
			JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = ANY ($1) AND s.name = chr(26) || 1`, chatIDs(groups)),
			len(groups), "%q: former players", point)
		verifyClean(t, c.url)
	}
	_, err := postgres.Purge(testContext(t), c.pool, nil)
	must(t, err)
	equal(t, count(t, c.pool, `SELECT count(*) FROM chats WHERE kind = 'private'`), 0, "private chats")
	equal(t, count(t, c.pool, `SELECT count(*) FROM dead_letters`), 0, "dead letters")
}

func chatIDs(groups []*botsim.Chat) (all []int64) {
	for _, g := range groups {
		all = append(all, g.ID())
	}
	return all
}
