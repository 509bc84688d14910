package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// waiting returns a description of each unsent row of the outbox.
func waiting(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return collect(t, pool, pgx.RowTo[string], `
		SELECT format('%s %s %s %s, failures %s, possible duplicates %s',
		    id, chat_id, kind, payload, failures, possible_duplicates)
		FROM outbox WHERE state <> 'sent' ORDER BY id`)
}

// TestTokenRefusedForAWhile checks that, if Telegram refuses every request for a while, as during a
// move between Bot API servers, the bot keeps running, even after a restart. Once Telegram accepts
// requests again, it sends all queued replies once and in order. A token that has never worked with
// this database ends the bot at once, with a sentence that explains why.
func TestTokenRefusedForAWhile(t *testing.T) {
	t.Parallel()
	refusal := botsim.Fault{Status: 401, Description: "Unauthorized"}
	sim := startTelegram(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	groups := []*botsim.Chat{sim.Group("Chess", alice, bob), sim.Group("Tennis", alice, bob)}
	refuse := func(method string) (accept func()) {
		fault := refusal
		fault.Kind, fault.Method = botsim.Reject, method
		return sim.Fault(fault)
	}
	accept := refuse("")
	// The token has never worked with this database.
	checkTokenEnd(t, sim, pool, launch(t, environment(sim, url), "run"), refusal.Description)
	accept()
	bot := launch(t, environment(sim, url), "run")
	posted := make([][]botsim.Message, len(groups))
	report := func() {
		for i, g := range groups {
			posted[i] = append(posted[i], g.Say(alice, fmt.Sprintf("/match @bob 50:%d", len(posted[i]))))
		}
	}
	report()
	for _, g := range groups {
		awaitSettled(t, sim, pool, g)
	}
	acceptSends := refuse("sendMessage")
	for range 3 {
		report()
	}
	eventually(t, "all replies are queued, and one of each group was refused", func() bool {
		return len(waiting(t, pool)) == 6 && count(t, pool, `
			SELECT count(DISTINCT chat_id) FROM outbox
			WHERE last_error LIKE '%' || $1 || '%' AND state = 'planned'`, refusal.Description) == 2
	})
	accept = refuse("")
	report() // ends the long poll; the bot may or may not handle these results
	const says = "Telegram refuses the token, retrying for ten minutes"
	bot.await(t, says)
	if code, _ := bot.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	bot = launch(t, environment(sim, url), "run")
	bot.await(t, says)
	bot.await(t, "failed to ask Telegram who the bot is, retrying")
	checkTokenEnd(t, sim, pool, launch(t, append(environment(sim, url), "TELEGRAM_BOT_TOKEN="+unknownToken), "run"), "40")
	const untouched = `SELECT count(*) FROM outbox WHERE state = 'planned' AND failures + possible_duplicates = 0`
	if all := waiting(t, pool); count(t, pool, untouched) != len(all) {
		t.Errorf("some of these rows are not planned, or have a failure:\n%s", strings.Join(all, "\n"))
	}
	acceptSends()
	accept()
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		for n, m := range checkAnswered(t, pool, g, posted[i]) {
			if got := visible(m); !strings.Contains(got, fmt.Sprintf("50:%d\n", n)) ||
				!strings.Contains(got, fmt.Sprintf("Match #%d", n+1)) {
				t.Errorf("answer %d is %s", n+1, got)
			}
		}
		checkOnce(t, g, posted[i])
	}
	equal(t, strings.Count(bot.output.String(), says), 1, "lines in the log on the refused token")
	checkNoDeadLetters(t, pool)
	verifyClean(t, url)
}

// checkOnce checks that the bot has sent as many messages to a group as people have posted.
func checkOnce(t *testing.T, group *botsim.Chat, posted []botsim.Message) {
	t.Helper()
	equal(t, len(group.BotMessages()), len(posted), "answers")
}

// checkTokenEnd waits until a bot has ended, and checks that its last sentence says, without
// showing the token, that Telegram refuses the token, and contains the reason.
func checkTokenEnd(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, bot *process, reason string) {
	t.Helper()
	equal(t, bot.wait(t), 3, "exit code")
	_, sentence, _ := strings.Cut(bot.output.String(), "\nelobot: ")
	for _, want := range []string{reason, "BotFather"} {
		if !strings.Contains(sentence, want) {
			t.Errorf("%q is not in the last sentence: %s", want, sentence)
		}
	}
	if lower := strings.ToLower(sentence); !strings.Contains(lower, "token") {
		t.Errorf("the last sentence does not name the token: %s", sentence)
	}
	checkNoToken(t, sim, pool, bot)
}

// testUndoPressedByAll checks that exactly one press undoes a match if two people who may undo it,
// and a person who may not, press the button at once. The order in which the presses are handled
// does not matter.
func testUndoPressedByAll(t *testing.T, b *botFixture) {
	const undone, already = "Match #1 undone: ", "Match #1 is already undone"
	const notYours = "Only those who played or reported match #1"
	orders := [][]botsim.User{
		{b.carol, b.alice, b.bob}, {b.alice, b.carol, b.bob}, {b.bob, b.alice, b.carol}, {b.carol, b.bob, b.alice},
	}
	edits := b.sim.CallCount("editMessageText")
	var groups []*botsim.Chat
	var ids []int64
	var cards []botsim.Message
	for i := range orders {
		groups = append(groups, b.group(fmt.Sprintf("Group %d", i+1)))
		ids = append(ids, groups[i].ID())
		cards = append(cards, b.ask(groups[i], b.alice, "/match @bob 3:1"))
	}
	b.settle()
	presses := make([][]string, len(orders))
	for i, order := range orders {
		for _, who := range order {
			presses[i] = append(presses[i], b.sim.Press(who, cards[i], undoButton(t, cards[i])))
		}
	}
	for i, order := range orders {
		answers := make(map[string]int)
		for n, press := range presses[i] {
			answer := b.callbackAnswer(press)
			for _, known := range []string{undone, already, notYours} {
				if strings.HasPrefix(answer, known) {
					answer = known
				}
			}
			if who := order[n]; who.ID == b.carol.ID && answer == undone || who.ID != b.carol.ID && answer == notYours {
				t.Errorf("%s gets the answer %q", who.FirstName, answer)
			}
			answers[answer]++
		}
		if answers[undone] != 1 || answers[already] < 1 || answers[undone]+answers[already]+answers[notYours] != 3 {
			t.Errorf("the presses in group %d are answered with %v", i+1, answers)
		}
	}
	b.settle()
	for i, card := range cards {
		checkStruck(t, groups[i], card, 1, "undone by ")
		equal(t, len(groups[i].BotMessages()), 2, "messages to group %d", i+1)
	}
	if n := count(t, b.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = ANY($1) AND undone_by IS NOT NULL`, ids); n != len(cards) {
		t.Errorf("%d matches are undone, want %d", n, len(cards))
	}
	equal(t, b.sim.CallCount("editMessageText")-edits, len(cards), "requests to edit")
}

// testStrangeUpdates checks that unknown kinds of updates, and data that is no update or cannot be
// decoded, do not affect the updates around them, which are handled in order. Data that cannot be
// decoded becomes a dead letter with the reason.
func testStrangeUpdates(t *testing.T, b *botFixture) {
	sim, pool, alice, group := b.sim, b.pool, b.alice, b.group("Chess")
	var posted []botsim.Message
	want := make(map[int64]string) // dead letters by update id
	strange := func(raw string, dead bool) {
		if id := sim.Update(json.RawMessage(raw)); dead {
			want[id] = strings.TrimSuffix(raw, "}") // the simulator adds the id
		}
		posted = append(posted, group.Say(alice, fmt.Sprintf("/match @bob 50:%d", len(posted))))
	}
	strange(`"hello"`, true)
	strange(fmt.Sprintf(`{"of_the_future":{"message_id":5,"chat":{"id":%d}}}`, group.ID()), false)
	strange(fmt.Sprintf(`{"message":{"message_id":"seven","chat":{"id":%d,"type":"supergroup"}}}`, group.ID()), true)
	strange(`[1,2]`, true)
	strange(`{"message":17}`, true)
	strange(fmt.Sprintf(`{"callback_query":{"id":5,"from":{"id":5},"message":{"chat":{"id":%d}}}}`, group.ID()), true)
	strange(`true`, true)
	// With polling, the bot infers the id of an undecodable update from a neighboring update, so a
	// further update must follow the last.
	strange(`7`, true)
	awaitAnswers(t, group, len(posted))
	b.settle()
	for i, m := range checkAnswered(t, pool, group, posted) {
		says(t, visible(m), fmt.Sprintf("50:%d\n", i), fmt.Sprintf("Match #%d", i+1))
	}
	type letter struct {
		ID              int64
		Payload, Reason string
		Attempts        int
	}
	kept := collect(t, pool, pgx.RowToStructByPos[letter], `
		SELECT update_id, convert_from(payload, 'UTF8'), last_error, attempts FROM dead_letters`)
	for _, l := range kept {
		begin, ok := want[l.ID]
		if !ok || l.Attempts != 1 || !strings.Contains(l.Payload, strings.TrimPrefix(begin, "{")) ||
			!strings.Contains(l.Reason, "update cannot be read") {
			t.Errorf("the dead letter is %+v, want %s", l, begin)
		}
	}
	equal(t, len(kept), len(want), "dead letters")
	b.exec(`DELETE FROM dead_letters`)
}
