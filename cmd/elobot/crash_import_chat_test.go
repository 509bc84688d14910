//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// TestKilledInALongImport checks that an import in the chat that calculates many later matches
// again, and its undo, take effect once and are answered once, wherever the bot is killed after
// the presses that begin them. A killed attempt of the import leaves only an unused number.
func TestKilledInALongImport(t *testing.T) {
	t.Parallel()
	const (
		later = 20_001
		head  = "date,a,b,score\n"
	)
	k := &killed{crashes: newCrashes(t), settings: []string{"UNDO_WINDOW=1h"}}
	olga, alice, bob := k.sim.User("olga"), k.sim.User("alice"), k.sim.User("bob")
	group := k.sim.Group("Club", olga, alice, bob)
	k.startNext("off")
	last := func() botsim.Message {
		k.t.Helper()
		k.settle()
		all := group.BotMessages()
		return all[len(all)-1]
	}
	group.Say(alice, "/join")
	group.Say(bob, "/join")
	file := filepath.Join(t.TempDir(), "later.csv")
	must(t, os.WriteFile(file, []byte(head+strings.Repeat("2025-01-02,Alice,Bob,1:1\n", later)), 0o600))
	last()
	p := prepare([]string{"DATABASE_URL=" + k.url}, "import", fmt.Sprintf("--group=%d", group.ID()), file)
	p.start(t)
	equal(t, p.wait(t), 0, "exit code of the import:\n%s", p.output)
	group.Say(olga, "/settings")
	page := last()
	k.sim.Press(olga, page, dataOf(t, page, "Import ›"))
	page = last()

	// pressed presses a button, has the bot killed, and waits until the next one is done.
	pressed := func(m botsim.Message, label string, point crashpoint.Point, visit int, done string) botsim.Message {
		k.t.Helper()
		k.at(point, visit, crashpoint.End)
		k.sim.Press(olga, m, dataOf(t, m, label))
		k.awaitCrash(k.bot)
		k.startNext("off")
		eventually(t, done, func() bool { return strings.Contains(visible(last()), done) })
		return last()
	}
	for _, at := range []struct {
		point        crashpoint.Point
		visit, undos int // the visits to the point in the import and in its undo; the first is that of the press
	}{
		{crashpoint.Importing, 1, 1}, {crashpoint.Importing, 8, 4}, {crashpoint.Applying, 2, 2}, {crashpoint.Applying, 3, 2},
		{crashpoint.Applied, 2, 2}, {crashpoint.Fired, 1, 1},
	} {
		where := fmt.Sprintf("visit %d to %s", at.visit, at.point)
		before := len(group.BotMessages())
		first := head + "2024-01-02,Alice,Bob,2:2\n2024-01-03,Bob,Alice,1:1\n"
		group.SendDocument(olga, page, botsim.Document{Name: "first.csv", Content: []byte(first)}, "")
		asked := last()
		says(t, visible(asked), "will be calculated again: 20,001")
		done := pressed(asked, "Calculate them again", at.point, at.visit, ": 2 matches")
		equal(t, k.matchesIn(group), later+2, "%s: matches after the import", where)
		k.sim.Press(olga, done, dataOf(t, done, "Take back"))
		asked = last()
		pressed(asked, "Take back", at.point, at.undos, "taken back. Deleted: 2 matches")
		equal(t, k.matchesIn(group), later, "%s: matches after the undo", where)
		equal(t, len(group.BotMessages()), before+1, "%s: messages", where)
		equal(t, count(t, k.pool, `SELECT count(*) FROM prompts WHERE closed_at IS NULL`), 0, "%s: open prompts", where)
		equal(t, count(t, k.pool, `SELECT count(*) FROM timers`), 0, "%s: timers", where)
	}
	checkNoDeadLetters(t, k.pool)
	verifyClean(t, k.url)
}
