//go:build unix

package main_test

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestKilledImportingInTheChat checks that a file that an admin sends, the press that answers what
// it leaves open, and the press that takes the import back have their effect and their answer once,
// wherever the bot is killed. The next bot knows what was chosen before.
func TestKilledImportingInTheChat(t *testing.T) {
	t.Parallel()
	k := &killed{crashes: newCrashes(t), settings: []string{"UNDO_WINDOW=1h"}}
	olga, alice, bob := k.sim.User("olga"), k.sim.User("alice"), k.sim.User("bob")
	k.startNext("off")
	points := []struct {
		point crashpoint.Point
		visit int
	}{
		{crashpoint.Importing, 1}, {crashpoint.Importing, 2}, {crashpoint.Importing, 3}, {crashpoint.Applying, 1},
		{crashpoint.Applied, 1}, {crashpoint.Handled, 1}, {crashpoint.Requested, 1},
	}
	for _, at := range points {
		where := fmt.Sprintf("visit %d to %s", at.visit, at.point)
		group := k.sim.Group(where, olga, alice, bob)
		last := func() botsim.Message {
			k.t.Helper()
			k.settle()
			all := group.BotMessages()
			return all[len(all)-1]
		}
		crash := func(do func()) {
			k.t.Helper()
			k.at(at.point, at.visit, crashpoint.End)
			do()
			k.awaitCrash(k.bot)
			k.startNext("off")
		}
		group.Say(alice, "/join")
		group.Say(bob, "/join")
		group.Say(olga, "/settings")
		page := last()
		k.sim.Press(olga, page, dataOf(t, page, "Import ›"))
		page = last()
		send := func(content string) botsim.Message {
			return group.SendDocument(olga, page, botsim.Document{Name: "results.csv", Content: []byte(content)}, "")
		}

		var sent, posted botsim.Message
		crash(func() {
			sent = send(cleanFile)
			posted = group.Say(alice, "/match @bob 3:1")
		})
		k.settle()
		// An answer that was being sent at the kill may arrive twice, and is counted then.
		copies := 1 + count(t, k.pool,
			`SELECT coalesce(sum(possible_duplicates), 0) FROM outbox WHERE reply_to = $1 AND chat_id =
				(SELECT id FROM chats WHERE telegram_chat_id = $2)`, sent.ID, group.ID())
		if n := len(answersTo(group, sent)); n == 0 || n > copies {
			t.Errorf("%s: %d answers to the file, want at most %d", where, n, copies)
		}
		equal(t, len(answersTo(group, posted)), 1, "%s: answers to a match during the import", where)
		equal(t, k.matchesIn(group), 3, "%s: matches after the first file", where)

		send("date,a,b,score\n03/04/2026,Zoe,Bob,3:1\n03/04/2026,Bob,Zoe,2:1\n")
		asked := last()
		k.sim.Press(olga, asked, dataOf(t, asked, "03/04 is 3 April"))
		asked = last()
		crash(func() { k.sim.Press(olga, asked, dataOf(t, asked, "All new guests")) })
		done := last()
		says(t, visible(done), "Import 2: 2 matches")
		equal(t, k.matchesIn(group), 5, "%s: matches after the second file", where)

		k.sim.Press(olga, done, dataOf(t, done, "Take back"))
		done = last()
		crash(func() { k.sim.Press(olga, done, dataOf(t, done, "Take back")) })
		says(t, visible(last()), "Import 2 taken back. Deleted: 2 matches.")
		equal(t, k.matchesIn(group), 3, "%s: matches at the end", where)
		equal(t, count(t, k.pool, `SELECT count(*) FROM prompts WHERE closed_at IS NULL`), 0, "%s: open prompts", where)
	}
	checkNoDeadLetters(t, k.pool)
	verifyClean(t, k.url)
}
