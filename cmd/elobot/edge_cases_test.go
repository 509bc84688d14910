package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// waiting returns what waits in the outbox, as far as no request can change it that says nothing about a row.
func waiting(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return collect(t, pool, pgx.RowTo[string], `
		SELECT format('%s %s %s %s, failures %s, perhaps sent %s', id, chat_id, kind, payload, failures, possible_duplicates)
		FROM outbox WHERE state <> 'sent' ORDER BY id`)
}

// TestTokenRevoked: Telegram takes the token no more while replies wait. The bot ends with a sentence about it, as it does
// at every start with a wrong one; all that waits stays as it is, and is told once and in order with the right one.
func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	groups := []*botsim.Chat{sim.Group("Chess", alice, bob), sim.Group("Tennis", alice, bob)}
	bot := launch(t, environment(sim, url), "run")
	said := make([][]botsim.Message, len(groups))
	report := func() {
		for i, g := range groups {
			said[i] = append(said[i], g.Say(alice, fmt.Sprintf("/match @bob 50:%d", len(said[i]))))
		}
	}
	report()
	for _, g := range groups {
		awaitSettled(t, sim, pool, g)
	}
	revoke := func(method string) (restore func()) {
		return sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: method, Status: 401, Description: "Unauthorized"})
	}
	validToSend := revoke("sendMessage")
	for range 3 {
		report()
	}
	eventually(t, "all replies wait, and one of each group was refused", func() bool {
		return len(waiting(t, pool)) == 6 && count(t, pool, `
			SELECT count(DISTINCT chat_id) FROM outbox WHERE last_error LIKE '%401%' AND state = 'planned'`) == 2
	})
	before := waiting(t, pool)
	valid := revoke("")
	report() // which ends the long poll, and is handled or stays with Telegram
	checkTokenEnd(t, sim, pool, bot)
	after := waiting(t, pool)
	if len(after) < len(before) || !slices.Equal(after[:len(before)], before) {
		t.Errorf("after the end there waits\n%s\nwant\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	const untouched = `SELECT count(*) FROM outbox WHERE state = 'planned' AND failures + possible_duplicates = 0`
	if n := count(t, pool, untouched); n != len(after) {
		t.Errorf("%d of %d rows are planned and have no failure", n, len(after))
	}

	whole := func() []string {
		return collect(t, pool, pgx.RowTo[string], `SELECT o::text FROM outbox o ORDER BY id`)
	}
	stored, pending := whole(), sim.Pending()
	startInVain := func(env []string) {
		t.Helper()
		checkTokenEnd(t, sim, pool, launch(t, env, "run"))
		if now := whole(); !slices.Equal(now, stored) || sim.Pending() != pending {
			t.Errorf("after a start %d updates wait instead of %d, and the outbox is\n%s\nwant\n%s",
				sim.Pending(), pending, strings.Join(now, "\n"), strings.Join(stored, "\n"))
		}
	}
	startInVain(environment(sim, url))
	validToSend()
	valid()
	startInVain(append(environment(sim, url), "TELEGRAM_BOT_TOKEN=123456:another-0123456789_abcdefghij"))
	launch(t, environment(sim, url), "run")
	for i, g := range groups {
		awaitSettled(t, sim, pool, g)
		for n, m := range checkAnswered(t, pool, g, said[i]) {
			says(t, visible(m), fmt.Sprintf("50:%d\n", n), fmt.Sprintf("Match #%d", n+1))
		}
		checkOnce(t, g, said[i])
	}
	verifyClean(t, url)
	checkNoComplaints(t, sim)
}

// checkOnce checks that the bot has said no more than one thing to each of these.
func checkOnce(t *testing.T, group *botsim.Chat, said []botsim.Message) {
	t.Helper()
	if n := len(group.BotMessages()); n != len(said) {
		t.Errorf("the bot has said %d things to %d messages", n, len(said))
	}
}

// checkTokenEnd waits for the end of a bot, which must be that of one without a valid token.
func checkTokenEnd(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, bot *process) {
	t.Helper()
	if code := bot.wait(t); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	_, sentence, _ := strings.Cut(bot.output.String(), "\nelobot: ")
	for _, want := range []string{"401", "BotFather"} {
		if !strings.Contains(sentence, want) {
			t.Errorf("%q is not in the last sentence: %s", want, sentence)
		}
	}
	if lower := strings.ToLower(sentence); !strings.Contains(lower, "token") {
		t.Errorf("the last sentence does not name the token: %s", sentence)
	}
	checkNoToken(t, sim, pool, bot)
}

// testUndoPressedByAll: two who may undo a match press at the same moment as one who may not, by the queue of one chat or by
// deliveries that pass each other. One undoes it, once.
func testUndoPressedByAll(t *testing.T, b *house) {
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
		told := make(map[string]int)
		for n, press := range presses[i] {
			toast := b.toast(press)
			for _, known := range []string{undone, already, notYours} {
				if strings.HasPrefix(toast, known) {
					toast = known
				}
			}
			if who := order[n]; who.ID == b.carol.ID && toast == undone || who.ID != b.carol.ID && toast == notYours {
				t.Errorf("%s is told %q", who.FirstName, toast)
			}
			told[toast]++
		}
		if told[undone] != 1 || told[already] < 1 || told[undone]+told[already]+told[notYours] != 3 {
			t.Errorf("the presses in group %d are answered with %v", i+1, told)
		}
	}
	b.settle()
	for i, card := range cards {
		checkStruck(t, groups[i], card, 1, "undone by ")
		if n := len(groups[i].BotMessages()); n != 2 {
			t.Errorf("the bot has said %d things in group %d, want the card and that it is undone", n, i+1)
		}
	}
	if n := count(t, b.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = ANY($1) AND undone_by IS NOT NULL`, ids); n != len(cards) {
		t.Errorf("%d matches are undone, want %d", n, len(cards))
	}
	if n := b.sim.CallCount("editMessageText") - edits; n != len(cards) {
		t.Errorf("there were %d requests to edit, want %d", n, len(cards))
	}
}

// testStrangeUpdates: what is unknown, no update at all, or not to be read does not keep its neighbours from being handled,
// in order. What is not to be read lies among the dead letters, with the reason.
func testStrangeUpdates(t *testing.T, b *house) {
	sim, pool, alice, group := b.sim, b.pool, b.alice, b.group("Chess")
	var said []botsim.Message
	want := make(map[int64]string) // the dead letters by their update ids
	strange := func(raw string, dead bool) {
		if id := sim.Update(json.RawMessage(raw)); dead {
			want[id] = strings.TrimSuffix(raw, "}") // the simulator adds the number
		}
		said = append(said, group.Say(alice, fmt.Sprintf("/match @bob 50:%d", len(said))))
	}
	strange(`"hello"`, true)
	strange(fmt.Sprintf(`{"of_the_future":{"message_id":5,"chat":{"id":%d}}}`, group.ID()), false)
	strange(fmt.Sprintf(`{"message":{"message_id":"seven","chat":{"id":%d,"type":"supergroup"}}}`, group.ID()), true)
	strange(`[1,2]`, true)
	strange(`{"message":17}`, true)
	strange(fmt.Sprintf(`{"callback_query":{"id":5,"from":{"id":5},"message":{"chat":{"id":%d}}}}`, group.ID()), true)
	strange(`true`, true)
	want[sim.Update(json.RawMessage(`7`))] = `7` // with nothing behind it
	awaitAnswers(t, group, len(said))
	b.settle()
	for i, m := range checkAnswered(t, pool, group, said) {
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
	if len(kept) != len(want) {
		t.Errorf("there are %d dead letters, want %d", len(kept), len(want))
	}
	b.exec(`DELETE FROM dead_letters`)
}
