package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestAfterARestart checks that every update takes effect once across three consecutive bots. The
// first is killed before it can confirm anything, and the second is stopped. Each later bot handles
// what the previous bot left and what has come in since.
func TestAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.env = environment(b.sim, b.url)
	edited, stopped := b.group("Edited"), b.group("Stopped")
	confirm := b.sim.Fault(botsim.Fault{
		Kind: botsim.CutBefore, Method: "getUpdates", Match: func(c botsim.Call) bool { return c.Params["offset"] != "" },
	})
	b.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage",
		ChatID: stopped.ID(), RetryAfter: 1000, Times: 1})
	result := edited.Say(b.alice, "/match @bob 3:1")
	edited.Say(b.bob, "well played")
	at := time.Now().Add(time.Minute)
	edited.EditAt(result, "/match @bob 3:2", at) // the message and this edit are pending when the bot starts
	for i := range 3 {
		stopped.Say(b.alice, fmt.Sprintf("/match @bob 3:%d", i))
	}
	b.bot = launch(t, b.env, "run")
	eventually(t, "the edited result and its edit are answered, and the other chat is frozen", func() bool {
		frozen := count(t, b.pool, `SELECT count(*) FROM chats WHERE frozen_until IS NOT NULL`) == 1
		sent := count(t, b.pool, `
			SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE o.state = 'sent' AND c.telegram_chat_id = $1`, edited.ID())
		return sent == 2 && len(edited.BotMessages()) == 2 &&
			frozen && count(t, b.pool, `SELECT count(*) FROM matches`) == 4
	})
	b.bot.kill()
	expireLease(b.t, b.pool, b.bot)
	if n := b.sim.Pending(); n != 6 {
		t.Fatalf("%d updates wait, want 6", n)
	}
	confirm()

	b.bot = launch(t, b.env, "run")
	checkStaysFrozen(t, b, stopped)
	checkEditedOnce(t, b, edited, result, at)
	b.settle() // update ids may restart at a lower value only while no update waits
	numbers := newNumbers(b)
	for _, first := range []int64{731_000_000, 17, 900_000_000} {
		b.sim.RestartUpdateIDs(first)
		numbers.report(t)
		numbers.check(t)
	}
	undone, late := b.group("Undone"), b.group("Late")
	byNumber, byReply, byPress := b.ask(undone, b.alice, "/match @bob 3:1"), b.ask(undone, b.alice, "/match @bob 3:2"),
		b.ask(undone, b.alice, "/match @bob 2:2")
	pressed, refused := b.ask(late, b.alice, "/match @bob 3:1"), b.ask(late, b.alice, "/match @bob 3:2")
	asked := b.group("Asked")
	b.ask(asked, b.alice, "/match @bob 3:1")
	wizard := b.ask(asked, b.alice, "/match")
	b.settle()
	b.press(b.alice, wizard, dataOf(t, wizard, "bob"))
	wizard, err := asked.WaitEdits(testContext(t), wizard.ID, 1)
	must(t, err)
	b.settle()
	second := b.bot
	if code, _ := second.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}

	b.sim.RestartUpdateIDs(5_000)
	numbers.report(t)
	b.sim.Press(b.carol, refused, undoButton(t, refused)) // not allowed
	b.sim.Press(b.alice, pressed, undoButton(t, pressed))
	posted := undone.Say(b.alice, "/undo 1")
	b.later.Add(180) // the answers to the presses have expired
	b.bot = launchFromFile(t, b)
	numbers.check(t)
	// The bot still recognizes the cards of the matches.
	says(t, visible(b.answer(posted)), "Match #1 undone")
	says(t, visible(b.answer(undone.Reply(b.alice, byReply, "/undo"))), "Match #2 undone")
	says(t, b.press(b.alice, byPress, undoButton(t, byPress)), "Match #3 undone")
	for i, card := range []botsim.Message{byNumber, byReply, byPress} {
		checkStruck(t, undone, card, 1, fmt.Sprintf("Match #%d · undone by Alice", i+1))
	}
	// The bot also continues an open wizard.
	says(t, visible(b.answer(asked.Reply(b.alice, wizard, "11:5"))), "Alice beat bob 11:5", "Match #2")
	// A late press counts.
	says(t, visible(b.answer(pressed)), "Match #1 undone")
	checkStruck(t, late, pressed, 1, "undone by Alice")
	says(t, b.press(b.alice, pressed, undoButton(t, pressed)), "Match #1 is already undone")
	checkCare(t, second, b.bot)
	b.finish()
	checkUntouched(t, late, refused)
	if n := count(t, b.pool,
		`SELECT count(*) FROM outbox WHERE action = 'callback_answer' AND state = 'expired'`); n != 2 {
		t.Errorf("%d callback answers have expired, want 2", n)
	}
}

// checkStaysFrozen checks that the bot sends nothing to a frozen chat while it sends to others.
// Only the database tells this bot that the chat is frozen. When the freeze ends, everything is
// sent in order.
func checkStaysFrozen(t *testing.T, b *botFixture, stopped *botsim.Chat) {
	t.Helper()
	stopped.Say(b.alice, "/match @bob 3:3")
	eventually(t, "all results are recorded", func() bool { return b.matches(stopped) == 4 })
	b.joinAll()
	for _, call := range b.sim.CallsOf("sendMessage") {
		if call.ChatID == stopped.ID() && call.Status != http.StatusTooManyRequests {
			t.Errorf("there was a request to the frozen chat: %+v", call)
		}
	}
	b.exec(`UPDATE chats SET frozen_until = clock_timestamp() WHERE telegram_chat_id = $1`, stopped.ID())
	for i, m := range awaitAnswers(t, stopped, 4) {
		says(t, visible(m), fmt.Sprintf("3:%d\n", i), fmt.Sprintf("Match #%d", i+1))
	}
}

// checkCare checks that a bot that starts after a crash handles updates one at a time, and that a
// bot that starts after a clean stop does not.
func checkCare(t *testing.T, afterKill, afterStop *process) {
	t.Helper()
	const care = "handling updates one at a time"
	says(t, afterKill.output.String(), care, "the last process that polled did not stop cleanly")
	// On a very slow machine, a clean stop may fail to release the lease, so that it looks like a
	// crash.
	if strings.Contains(afterStop.output.String(), care) &&
		!strings.Contains(afterKill.output.String(), "failed to release the lease") {
		t.Error("after a clean stop the bot handles updates one at a time")
	}
}

// checkEditedOnce checks that an edit of a command records no second match, and that a repeated
// edit makes no second offer. at is the date of the edit that the bot has already received.
func checkEditedOnce(t *testing.T, b *botFixture, group *botsim.Chat, result botsim.Message, at time.Time) {
	t.Helper()
	group.EditAt(result, "/match @bob 3:2", at)                  // the same edit in another update
	group.EditAt(result, "/match @bob 3:1", at.Add(time.Second)) // back to the recorded score
	after := group.Say(b.alice, "/match @bob 1:0")               // answered after all others
	awaitAnswers(t, group, 3)
	b.settle()
	all := group.BotMessages()
	if len(all) != 3 || all[0].ReplyTo != result.ID || all[1].ReplyTo != result.ID || all[2].ReplyTo != after.ID {
		t.Fatalf("the bot has sent %+v", all)
	}
	says(t, visible(all[0]), "3:1", "Match #1")
	says(t, visible(all[1]), "/match now says 3:2", "match #1 still counts as 3:1")
	says(t, visible(all[2]), "1:0", "Match #2")
	equal(t, b.matches(group), 2, "matches")
}

// numbers reports results in a group while Telegram's update ids restart at lower or higher values,
// as after a quiet week.
type numbers struct {
	*botFixture
	group  *botsim.Chat
	posted []botsim.Message
}

func newNumbers(b *botFixture) *numbers { return &numbers{botFixture: b, group: b.group("Numbers")} }

func (n *numbers) report(t *testing.T) {
	t.Helper()
	for range 2 {
		n.posted = append(n.posted, n.group.Say(n.alice, fmt.Sprintf("/match @bob 50:%d", len(n.posted))))
	}
}

// check waits until all results are answered, and checks that each has one answer.
func (n *numbers) check(t *testing.T) {
	t.Helper()
	awaitAnswers(t, n.group, len(n.posted))
	n.settle()
	for i, m := range checkAnswered(t, n.pool, n.group, n.posted) {
		says(t, visible(m), fmt.Sprintf("50:%d\n", i), fmt.Sprintf("Match #%d", i+1))
	}
	checkOnce(t, n.group, n.posted)
}

// launchFromFile starts a bot with settings in a file, one of which the environment overrides.
func launchFromFile(t *testing.T, b *botFixture) *process {
	t.Helper()
	folder := t.TempDir()
	file := "# settings\nTELEGRAM_API_URL=http://127.0.0.1:1\n"
	for _, setting := range b.env {
		if name, value, _ := strings.Cut(setting, "="); name != "TELEGRAM_API_URL" {
			file += fmt.Sprintf("%s=%q\n", name, value)
		}
	}
	must(t, os.WriteFile(filepath.Join(folder, ".env"), []byte(file), 0o600))
	return launchIn(t, folder, []string{"TELEGRAM_API_URL=" + b.sim.URL()}, "run")
}
