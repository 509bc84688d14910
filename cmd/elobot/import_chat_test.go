package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// importPage opens the page on which an admin imports a file.
func (b *botFixture) importPage(group *botsim.Chat, admin botsim.User) botsim.Message {
	b.t.Helper()
	page := b.ask(group, admin, "/settings")
	return b.pressed(admin, page, "Import ›")
}

// pressed presses the button with a label and returns the message as it is then.
func (b *botFixture) pressed(who botsim.User, m botsim.Message, label string) botsim.Message {
	b.t.Helper()
	if toast := b.press(who, m, dataOf(b.t, m, label)); toast != "" {
		b.t.Errorf("%s is answered %q", label, toast)
	}
	b.settle()
	return b.now(m)
}

// now returns a message of a bot as it is now.
func (b *botFixture) now(m botsim.Message) botsim.Message {
	b.t.Helper()
	all := b.sim.Chat(m.ChatID).BotMessages()
	return all[slices.IndexFunc(all, func(o botsim.Message) bool { return o.ID == m.ID })]
}

// send replies to a message with a file, and returns the answer.
func (b *botFixture) send(who botsim.User, to botsim.Message, name, content string) botsim.Message {
	b.t.Helper()
	sent := b.sim.Chat(to.ChatID).SendDocument(who, to, botsim.Document{Name: name, Content: []byte(content)}, "")
	answer := b.answer(sent)
	b.settle()
	return answer
}

// testImportCorrectedFile checks that a file of results replaces the one that the bot asks about or
// has refused, in the same ranking.
func testImportCorrectedFile(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	b.exec(`
		UPDATE ladders SET name = 'go' WHERE group_id = (
		    SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1)`, group.ID())
	b.ask(group, b.olga, "/ladder new chess")
	page := b.pressed(b.olga, b.ask(group, b.olga, "/settings chess"), "Import ›")
	refused := b.send(b.olga, page, "wrong.csv", "winner,loser,score,score\n")
	says(t, visible(refused), "wrong.csv was not imported")
	equal(t, buttons(refused), "Send me an example", "buttons")
	asked := b.send(b.olga, refused, "club.csv", "winner,loser\nAlice,Bobb\n")
	says(t, visible(asked), "chess · club.csv: 1 match", "Bobb")
	starts := b.send(b.olga, asked, "starts.csv", "player,rating\nBobb,1612\n")
	says(t, visible(starts), "chess · starts.csv: 1 start rating", "Bobb")
	says(t, visible(b.now(asked)), "Answered below")
	done := b.send(b.olga, starts, "club.csv", "winner,loser\nAlice,Bob\n")
	says(t, visible(done), "chess · Import 1: 1 match")
	equal(t, b.matches(group), 1, "matches")
	rows := b.send(b.olga, page, "rows.csv", "winner,loser\n"+strings.Repeat("Alice,Bob\n", 60_001))
	says(t, visible(rows), "more than 5000 rows")
}

// testImportExportedChat checks that Telegram's export of a chat is imported in the chat, after the
// questions of an old one.
func testImportExportedChat(t *testing.T, b *botFixture, group *botsim.Chat) {
	file := func(when string) string {
		const message = `{"id": %d, "type": "message", %s, "from": "%s", "from_id": "user%d", %s}`
		return fmt.Sprintf(`{"name": "Club", "type": "private_group", "id": 7, "messages": [%s, %s]}`,
			fmt.Sprintf(message, 1, when, "Bob", b.bob.ID, `"text": "well played"`),
			fmt.Sprintf(message, 2, when, "Alice", b.alice.ID, `"text": "/gané", "reply_to_message_id": 1`))
	}
	asked := b.send(b.olga, b.importPage(group, b.olga), "result.json", file(`"date": "2021-07-09T21:14:05"`))
	says(t, visible(asked), "no time zone")
	says(t, visible(b.pressed(b.olga, asked, "In the group’s time zone")), "1 match", "9 July 2021")
	known := b.send(b.olga, b.importPage(group, b.olga), "result.json", file(`"date_unixtime": "1625865245"`))
	says(t, visible(known), "Nothing was imported")
	equal(t, b.matches(group), 1, "matches")
}

// buttons returns the labels of the buttons below a message.
func buttons(m botsim.Message) string {
	var labels []string
	for _, row := range m.Buttons {
		for _, button := range row {
			labels = append(labels, button.Text)
		}
	}
	return strings.Join(labels, ", ")
}

// TestImportInTheChat checks imports in the chat, from the settings to taking them back.
func TestImportInTheChat(t *testing.T) {
	t.Parallel()
	h := startBotFixture(t, "UNDO_WINDOW=1h")
	for _, tc := range []struct { //nolint:paralleltest // sequential, because they look at the whole database
		name string
		test func(*testing.T, *botFixture, *botsim.Chat)
	}{
		{"clean file", testImportCleanFile},
		{"all guests", testImportAllGuests},
		{"file of people", testImportPeople},
		{"corrected file", testImportCorrectedFile},
		{"dates and order", testImportDates},
		{"refused rows", testImportRefusedRows},
		{"closed season", testImportClosedSeason},
		{"not a file of results", testImportNoResults},
		{"not an admin", testImportNoAdmin},
		{"two admins", testImportTwoAdmins},
		{"two rankings", testImportTwoRankings},
		{"no answer", testImportExpires},
		{"Telegram is away", testImportTelegramAway},
		{"delivered again", testImportDeliveredAgain},
		{"hostile names", testImportHostile},
		{"start ratings", testImportStarts},
		{"restore", testImportRestore},
		{"export of a chat", testImportExportedChat},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.later.Add(61)
			b := *h
			b.t = t
			tc.test(t, &b, b.group(tc.name))
			b.settle()
			checkNoDeadLetters(t, b.pool)
		})
	}
	verifyClean(t, h.url)
	if log := h.bot.output.String(); strings.Contains(log, "Zoe") {
		t.Error("the log has names of a file")
	}
}

const cleanFile = "date,a,b,score\n2026-01-02,Alice,Bob,3:1\n2026-01-03,Bob,Alice,3:2\n"

// testImportCleanFile checks that a file that leaves nothing open is imported at once, with one
// answer, that the same file changes nothing later, and that the import can be taken back and
// repeated.
func testImportCleanFile(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	b.ask(group, b.alice, "/match @bob 3:0")
	page := b.importPage(group, b.olga)
	says(t, visible(page), "Reply to this message with a file")
	done := b.send(b.olga, page, "results.csv", cleanFile)
	says(t, visible(done), "Import 1: 2 matches", "From 2 January 2026 to 3 January 2026",
		"Later matches calculated again: 1", "Ratings from another program")
	equal(t, b.matches(group), 3, "matches")
	says(t, visible(b.send(b.olga, page, "results.csv", cleanFile)), "Nothing was imported", "Recorded already: 2")
	says(t, b.press(b.alice, done, dataOf(t, done, "Take back")), "Only the group’s admins")
	asked := b.pressed(b.olga, done, "Take back")
	says(t, visible(asked), "Take back import 1?", "2 matches", "will be calculated again: 1")
	done = b.pressed(b.olga, asked, "Cancel")
	says(t, visible(done), "Import 1: 2 matches")
	asked = b.pressed(b.olga, done, "Take back")
	b.ask(group, b.bob, "/match @alice 1:0")
	gone := b.pressed(b.olga, asked, "Take back")
	says(t, visible(gone), "Import 1 taken back. Deleted: 2 matches.", "calculated again: 2")
	equal(t, buttons(gone), "", "buttons")
	equal(t, b.matches(group), 2, "matches")
	says(t, visible(b.send(b.olga, page, "results.csv", cleanFile)), "Import 2: 2 matches")
	equal(t, b.matches(group), 4, "matches")
	const tournament = `{"_id": "x", "type": "Tournament", "version": "5.1",
		"players": [{"_id": "1", "_name": "Alice"}, {"_id": "2", "_name": "Bob"}],
		"rounds": [{"plays": [{"_id": "3", "valid": true, "team1": {"_id": "1"}, "team2": {"_id": "2"},
			"timeStart": 1767300000000, "disciplines": [{"sets": [{"team1": 6, "team2": 4}]}]}]}]}`
	says(t, visible(b.send(b.olga, page, "cup.ktool", tournament)), "Import 3: 1 match")
}

func testImportAllGuests(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	file := "date;a;b;score;court\n2026-01-02 10:00;Alice;Zoe;3:1;1\n2026-01-03;Bobb;Zed;3:2;2\n"
	asked := b.send(b.olga, b.importPage(group, b.olga), "club.csv", file)
	says(t, visible(asked), "club.csv: 2 matches", "Time zone: UTC", "Columns that I don’t use: court",
		"Names that I don’t know here: 3", "Zoe", "Bobb (@bob (Bob)?)", "Nothing is imported yet")
	equal(t, buttons(asked), "All new guests, Send me people.csv, Cancel", "buttons")
	equal(t, b.matches(group), 0, "matches")
	says(t, b.press(b.alice, asked, dataOf(t, asked, "All new guests")), "Only the group’s admins")
	done := b.pressed(b.olga, asked, "All new guests")
	says(t, visible(done), "Import 1: 2 matches", "New players: 3")
	equal(t, b.matches(group), 2, "matches")
	equal(t, len(b.standings(group)), 5, "players")
}

func testImportPeople(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	file := "date,a,b,score\n2026-01-02,Alice,Bobb,3:1\n2026-01-03,Zoe,Bobb,3:2\n2026-01-03,Gone,Bobb,3:2\n"
	page := b.importPage(group, b.olga)
	asked := b.send(b.olga, page, "club.csv", file)
	b.pressed(b.olga, asked, "Send me people.csv") // opens the private chat
	private := b.sim.Private(b.olga)
	private.Say(b.olga, "/start")
	awaitAnswers(t, private, 1)
	says(t, b.press(b.olga, asked, dataOf(t, asked, "Send me people.csv")), "comes to our private chat")
	people := awaitAnswers(t, private, 2)[1]
	says(t, visible(people), "Who is who in the file for file of people?")
	text := string(people.Document.Content)
	says(t, text, "Alice,@alice,,1", "Bobb,,@bob (Bob),3", "Zoe,guest,,1", "Gone,guest,,1")
	text = strings.NewReplacer("Bobb,,", "Bobb,who?,", "Gone,guest,", "Gone,leave out,").Replace(text)
	again := b.send(b.olga, asked, "people.csv", text)
	says(t, visible(again), "Bobb can’t be “who?”: write @username", "3 matches")
	equal(t, buttons(again), "Send me people.csv, Cancel", "buttons")
	says(t, visible(b.now(asked)), "Answered below")
	says(t, visible(b.send(b.olga, again, "people.csv", "PK\x03\x04")), "people.csv was not imported", "no text file")
	done := b.send(b.olga, again, "people.csv", strings.Replace(text, "Bobb,who?,", "Bobb,@bob,", 1))
	says(t, visible(done), "Import 1: 2 matches", "New players: 1", "Rows left out: 1")
	equal(t, len(b.standings(group)), 3, "players")
}

func testImportDates(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	file := "date,a,b,score\n05/04/2026,Alice,Bob,1:0\n03/04/2026,Alice,Bob,3:1\n03/04/2026,Bob,Alice,3:2\n"
	asked := b.send(b.olga, b.importPage(group, b.olga), "dates.csv", file)
	says(t, visible(asked), "03/04/2024 have two meanings")
	equal(t, buttons(asked), "03/04 is 3 April, 03/04 is 4 March, Cancel", "buttons")
	asked = b.pressed(b.olga, asked, "03/04 is 3 April")
	says(t, visible(asked), "From 3 April 2026 to 5 April 2026", "not sorted by time")
	equal(t, buttons(asked), "In the order of the rows, Cancel", "buttons")
	says(t, visible(b.pressed(b.olga, asked, "In the order of the rows")), "Import 1: 3 matches")
	asked = b.send(b.olga, b.importPage(group, b.olga), "dates.csv", file)
	says(t, visible(b.pressed(b.olga, asked, "Cancel")), "Not imported: canceled")
	equal(t, b.matches(group), 3, "matches")
}

func testImportRefusedRows(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	file := "date,a,b,score\n2026-01-02,Alice,Bob,3:1\n2026-13-13,Alice,Bob,x\n"
	for i := range 15 {
		file += fmt.Sprintf("2026-01-03,Bob,Alice,%d<b>\n", i)
	}
	asked := b.send(b.olga, b.importPage(group, b.olga), "rows.csv", file)
	says(t, visible(asked), "rows.csv: 1 match", "Faults in the rows: 17", "Row 3, date: “2026-13-13” is not a date",
		"Row 3, score: “x” is not a score", "Row 4, score: “0<b>”", "… and 7 more")
	equal(t, buttons(asked), "Leave out the refused rows, Cancel", "buttons")
	says(t, visible(b.pressed(b.olga, asked, "Leave out the refused rows")), "Import 1: 1 match", "Rows left out: 16")
}

func testImportClosedSeason(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.ask(group, b.alice, "/match @bob 3:1")
	b.later.Add(3600)
	ask := b.ask(group, b.olga, "/season new")
	b.press(b.olga, ask, dataOf(t, ask, "Start it"))
	b.settle()
	asked := b.send(b.olga, b.importPage(group, b.olga), "old.csv", "date,a,b,score\n2026-01-02,Alice,Bob,3:1\n")
	says(t, visible(asked), "Final tables that would change: season 1")
	equal(t, buttons(asked), "Change the final tables, Cancel", "buttons")
	before := len(group.BotMessages())
	says(t, visible(b.pressed(b.olga, asked, "Change the final tables")), "Import 1: 1 match")
	equal(t, len(group.BotMessages()), before, "messages")
}

func testImportNoResults(t *testing.T, b *botFixture, group *botsim.Chat) {
	page := b.importPage(group, b.olga)
	rows := "date,a,b,score\n" + strings.Repeat("2026-01-02,Alice,Bob,3:1\n", 5001)
	for want, content := range map[string]string{
		"this is no text file":           "%PDF-1.7\n",
		"the export is damaged":          "PK\x03\x04",
		"no columns for two sides":       "name,phone\nZoe,1\n",
		"there are no rows":              "date,a,b,score\n",
		"The file is larger than 5 MB":   string(bytes.Repeat([]byte("a,b\n"), 2<<20)),
		"The file has more than 5000 ro": rows,
	} {
		says(t, visible(b.send(b.olga, page, "file.csv", content)), want)
	}
	group.Reply(b.olga, page, "hello")
	b.settle()
	equal(t, b.matches(group), 0, "matches")
	equal(t, len(group.BotMessages()), 7, "messages")
}

func testImportNoAdmin(t *testing.T, b *botFixture, group *botsim.Chat) {
	page, before := b.importPage(group, b.olga), b.sim.CallCount("getFile")
	says(t, visible(b.send(b.alice, page, "results.csv", cleanFile)), "Only the group’s admins")
	equal(t, b.sim.CallCount("getFile"), before, "requests for files")
	equal(t, b.matches(group), 0, "matches")
}

func testImportTwoAdmins(t *testing.T, b *botFixture, group *botsim.Chat) {
	group.Promote(b.alice)
	asked := b.send(b.olga, b.importPage(group, b.olga), "results.csv", cleanFile)
	first := b.sim.Press(b.olga, asked, dataOf(t, asked, "All new guests"))
	second := b.sim.Press(b.alice, asked, dataOf(t, asked, "All new guests"))
	equal(t, b.callbackAnswer(first), "", "toast")
	says(t, b.callbackAnswer(second), "Too late")
	b.settle()
	equal(t, b.matches(group), 2, "matches")
	says(t, visible(b.now(asked)), "Import 1: 2 matches")
}

func testImportTwoRankings(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	b.exec(`
		UPDATE ladders SET name = 'chess' WHERE group_id = (
		    SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1)`, group.ID())
	b.ask(group, b.olga, "/ladder new padel")
	page := b.ask(group, b.olga, "/settings padel")
	page = b.pressed(b.olga, page, "Import ›")
	says(t, visible(page), "padel · Import results")
	done := b.send(b.olga, page, "results.csv", cleanFile)
	says(t, visible(done), "padel · Import 1: 2 matches")
	equal(t, count(t, b.pool, `
		SELECT count(*) FROM matches m JOIN ladders l ON l.id = m.ladder_id WHERE l.name = 'padel'`), 2, "matches of padel")
}

func testImportExpires(t *testing.T, b *botFixture, group *botsim.Chat) {
	asked := b.send(b.olga, b.importPage(group, b.olga), "results.csv", cleanFile)
	left := count(t, b.pool, `
		SELECT extract(epoch FROM due_at - now())::integer / 3600 FROM timers WHERE key = 't:prompt:' || (
		    SELECT max(id) FROM prompts WHERE closed_at IS NULL)`)
	if left < 23 {
		t.Errorf("%d hours are left", left)
	}
	b.exec(`UPDATE timers SET due_at = now() WHERE key LIKE 't:prompt:%'`)
	eventually(t, "the prompt ends", func() bool { return strings.Contains(visible(b.now(asked)), "Not imported") })
	equal(t, buttons(b.now(asked)), "", "buttons")
}

func testImportTelegramAway(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	page := b.importPage(group, b.olga)
	b.sim.Fault(botsim.Fault{Kind: botsim.ServerError, Method: botsim.Download, Times: 2})
	says(t, visible(b.send(b.olga, page, "results.csv", cleanFile)), "Import 1: 2 matches")
	heal := b.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "getFile", Status: http.StatusBadRequest,
		Description: "Bad Request: wrong file_id or the file is temporarily unavailable", Times: 100})
	says(t, visible(b.send(b.olga, page, "results.csv", cleanFile)), "Telegram didn’t give me the file")
	heal()
	says(t, visible(b.ask(group, b.alice, "/match @bob 1:0")), "#3")
}

func testImportDeliveredAgain(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	page, cut := b.importPage(group, b.olga), cutPoll(t, b.sim)
	sent := group.SendDocument(b.olga, page, botsim.Document{Name: "results.csv", Content: []byte(cleanFile)}, "")
	posted := group.Say(b.alice, "/match @bob 3:1")
	b.answer(sent)
	b.answer(posted)
	if c := cut(); c.Status != 0 || c.Shown == 0 {
		t.Errorf("the poll that was cut off showed %d updates, its status is %d", c.Shown, c.Status)
	}
	must(t, b.sim.WaitConfirmed(testContext(t)))
	b.settle()
	equal(t, len(answersTo(group, sent)), 1, "answers to the file")
	equal(t, len(answersTo(group, posted)), 1, "answers to the match")
	equal(t, b.matches(group), 3, "matches")
}

func testImportHostile(t *testing.T, b *botFixture, group *botsim.Chat) {
	name := `<b>&\u202e@zoe /undo` + strings.Repeat("W", 100)
	file := "date,a,b,score," + name + "\n2026-01-02," + name + ",Bob,3:1,\n2026-01-02," + name + ",Bob,3:1,5,6\n"
	asked := b.send(b.olga, b.importPage(group, b.olga), name+".csv", file)
	says(t, visible(asked), "<b>&", "Names that I don’t know here: 2")
	if regexp.MustCompile(`<b>&`).MatchString(asked.HTML) {
		t.Errorf("the name is not escaped in %s", asked.HTML)
	}
	b.pressed(b.olga, asked, "Leave out the refused rows")
	says(t, visible(b.pressed(b.olga, b.now(asked), "All new guests")), "can’t be “guest”")
}

func testImportStarts(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	asked := b.send(b.olga, b.importPage(group, b.olga), "start.csv", "player,rating\nAlice,1700\nZoe,1300\n")
	says(t, visible(asked), "start.csv: 2 start ratings", "Names that I don’t know here: 1")
	done := b.pressed(b.olga, asked, "All new guests")
	says(t, visible(done), "Import 1: 2 start ratings", "New players: 1")
	for _, s := range b.standings(group) {
		if want := map[string]int{"Alice": 1700, "Zoe": 1300, "Bob": 1500}[s.Name]; s.Elo != want {
			t.Errorf("%s has %d, want %d", s.Name, s.Elo, want)
		}
	}
	asked = b.pressed(b.olga, done, "Take back")
	says(t, visible(asked), "former start ratings again: 2 start ratings")
	says(t, visible(b.pressed(b.olga, asked, "Take back")), "Import 1 taken back. As before: 2 start ratings.")
}

// testImportRestore checks that the export of a group is restored in an empty group, and only
// there.
func testImportRestore(t *testing.T, b *botFixture, group *botsim.Chat) {
	b.join(group, b.alice, b.bob)
	b.ask(group, b.alice, "/match @bob 3:1")
	b.ask(group, b.olga, "/settings k 24")
	private := b.sim.Private(b.olga)
	private.Say(b.olga, "/start")
	b.settle()
	before := len(private.BotMessages())
	says(t, b.press(b.olga, b.ask(group, b.olga, "/settings"), "1x:"), "comes to our private chat")
	export := string(awaitAnswers(t, private, before+1)[before].Document.Content)
	says(t, visible(b.send(b.olga, b.importPage(group, b.olga), "club.zip", export)), "The group has matches already")
	empty := b.group("empty")
	page := b.importPage(empty, b.olga)
	says(t, visible(b.send(b.olga, page, "club.json", `{"header":`)), "club.json was not imported", "damaged")
	asked := b.send(b.olga, page, "club.zip", export)
	says(t, visible(asked), "club.zip: 1 match", "Export of restore", "Players: 3", "replaces the settings")
	equal(t, buttons(asked), "Restore, Cancel", "buttons")
	equal(t, b.matches(empty), 0, "matches")
	says(t, b.press(b.alice, asked, dataOf(t, asked, "Restore")), "Only the group’s admins")
	done := b.pressed(b.olga, asked, "Restore")
	says(t, visible(done), "Group restored: 1 match")
	equal(t, b.matches(empty), 1, "matches")
	says(t, visible(b.ask(empty, b.bob, "/match @alice 1:0")), "#2")
	asked = b.pressed(b.olga, done, "Take back")
	says(t, visible(asked), "Take back import 1?", "calculated again: 1")
	says(t, visible(b.pressed(b.olga, asked, "Take back")), "Import 1 taken back. Deleted: 1 match.")
}
