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

// TestAfterARestart has three bots work one after another. The first is killed before it can confirm anything, the second
// is told to stop, and the third finds what has come while nobody was there.
func TestAfterARestart(t *testing.T) {
	t.Parallel()
	b := newHouse(t)
	b.env = environment(b.sim, b.url)
	edited, stopped := b.group("Edited"), b.group("Stopped")
	confirm := b.sim.Fault(botsim.Fault{
		Kind: botsim.CutBefore, Method: "getUpdates", Match: func(c botsim.Call) bool { return c.Params["offset"] != "" },
	})
	b.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", ChatID: stopped.ID(), RetryAfter: 1000, Times: 1})
	result := edited.Say(b.alice, "/match @bob 3:1")
	edited.Say(b.bob, "well played")
	at := time.Now().Add(time.Minute)
	edited.EditAt(result, "/match @bob 3:2", at) // both wait when the bot begins
	for i := range 3 {
		stopped.Say(b.alice, fmt.Sprintf("/match @bob 3:%d", i))
	}
	b.bot = launch(t, b.env, "run")
	eventually(t, "the edited result and its edit are told, and the pause of the other chat is written down", func() bool {
		paused := count(t, b.pool, `SELECT count(*) FROM chats WHERE frozen_until IS NOT NULL`) == 1
		told := count(t, b.pool, `
			SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE o.state = 'sent' AND c.telegram_chat_id = $1`, edited.ID())
		return told == 2 && len(edited.BotMessages()) == 2 &&
			paused && count(t, b.pool, `SELECT count(*) FROM matches`) == 4
	})
	b.bot.kill()
	if n := b.sim.Pending(); n != 6 {
		t.Fatalf("%d updates wait, want 6", n)
	}
	confirm()

	b.bot = launch(t, b.env, "run")
	checkPauseIsKept(t, b, stopped)
	checkEditedOnce(t, b, edited, result, at)
	b.settle() // numbers begin anew after a quiet week
	numbers := newNumbers(b)
	for _, first := range []int64{731_000_000, 17, 900_000_000} {
		b.sim.RestartUpdateIDs(first)
		numbers.report(t)
		numbers.told(t)
	}
	undone, late := b.group("Undone"), b.group("Late")
	byNumber, byReply, byPress := b.ask(undone, b.alice, "/match @bob 3:1"), b.ask(undone, b.alice, "/match @bob 3:2"),
		b.ask(undone, b.alice, "/match @bob 2:2")
	pressed, refused := b.ask(late, b.alice, "/match @bob 3:1"), b.ask(late, b.alice, "/match @bob 3:2")
	b.settle()
	second := b.bot
	if code, _ := second.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}

	b.sim.RestartUpdateIDs(5_000)
	numbers.report(t)
	b.sim.Press(b.carol, refused, undoButton(t, refused)) // who may not
	b.sim.Press(b.alice, pressed, undoButton(t, pressed))
	said := undone.Say(b.alice, "/undo 1")
	b.later.Add(180) // nobody waits any more for what the presses are answered with
	b.bot = launchFromFile(t, b)
	numbers.told(t)
	// the bot still knows which message is the card of a match
	says(t, visible(b.answer(said)), "Match #1 undone")
	says(t, visible(b.answer(undone.Reply(b.alice, byReply, "/undo"))), "Match #2 undone")
	says(t, b.press(b.alice, byPress, undoButton(t, byPress)), "Match #3 undone")
	for i, card := range []botsim.Message{byNumber, byReply, byPress} {
		checkStruck(t, undone, card, 1, fmt.Sprintf("Match #%d · undone by Alice", i+1))
	}
	// a late press counts
	says(t, visible(b.answer(pressed)), "Match #1 undone")
	checkStruck(t, late, pressed, 1, "undone by Alice")
	says(t, b.press(b.alice, pressed, undoButton(t, pressed)), "Match #1 is already undone")
	checkCare(t, second, b.bot)
	b.finish()
	checkUntouched(t, late, refused)
	if n := count(t, b.pool, `SELECT count(*) FROM outbox WHERE action = 'toast' AND state = 'expired'`); n != 2 {
		t.Errorf("%d toasts are given up, want 2", n)
	}
}

// checkPauseIsKept: a chat that Telegram has stopped is told nothing as long as its pause lasts, by a bot either that knows of
// it from the database alone and tells other chats something, and everything in order afterwards.
func checkPauseIsKept(t *testing.T, b *house, stopped *botsim.Chat) {
	t.Helper()
	stopped.Say(b.alice, "/match @bob 3:3")
	eventually(t, "all results wait to be told", func() bool { return b.matches(stopped) == 4 })
	b.joinAll()
	for _, call := range b.sim.CallsOf("sendMessage") {
		if call.ChatID == stopped.ID() && call.Status != http.StatusTooManyRequests {
			t.Errorf("there was a request during the pause: %+v", call)
		}
	}
	b.exec(`UPDATE chats SET frozen_until = clock_timestamp() WHERE telegram_chat_id = $1`, stopped.ID())
	for i, m := range awaitAnswers(t, stopped, 4) {
		says(t, visible(m), fmt.Sprintf("3:%d\n", i), fmt.Sprintf("Match #%d", i+1))
	}
}

// checkCare: who takes over from a bot that was killed is careful, and who takes over from one that was stopped is not.
func checkCare(t *testing.T, afterKill, afterStop *process) {
	t.Helper()
	const care = "handling updates one at a time"
	says(t, afterKill.output.String(), care, "handling updates in parallel again")
	// On a machine that is very slow the lease may be left as by one that was killed.
	if strings.Contains(afterStop.output.String(), care) && !strings.Contains(afterKill.output.String(), "failed to release the lease") {
		t.Error("after a clean stop the bot is careful")
	}
}

// checkEditedOnce: an edited command makes no second match and no second offer, however often the edit comes.
func checkEditedOnce(t *testing.T, b *house, group *botsim.Chat, result botsim.Message, at time.Time) {
	t.Helper()
	group.EditAt(result, "/match @bob 3:2", at)                  // the same once more, as an update of its own
	group.EditAt(result, "/match @bob 3:1", at.Add(time.Second)) // back to what counts
	after := group.Say(b.alice, "/match @bob 1:0")               // its answer comes after all others
	awaitAnswers(t, group, 3)
	b.settle()
	all := group.BotMessages()
	if len(all) != 3 || all[0].ReplyTo != result.ID || all[1].ReplyTo != result.ID || all[2].ReplyTo != after.ID {
		t.Fatalf("the bot has said %+v", all)
	}
	says(t, visible(all[0]), "3:1", "Match #1")
	says(t, visible(all[1]), "/match now says 3:2", "match #1 still counts as 3:1")
	says(t, visible(all[2]), "1:0", "Match #2")
	if n := b.matches(group); n != 2 {
		t.Errorf("there are %d matches, want 2", n)
	}
}

// numbers are results of a group while Telegram's numbers of updates begin anew, lower or higher, as they do after a quiet
// week.
type numbers struct {
	*house
	group *botsim.Chat
	said  []botsim.Message
}

func newNumbers(b *house) *numbers { return &numbers{house: b, group: b.group("Numbers")} }

func (n *numbers) report(t *testing.T) {
	t.Helper()
	for range 2 {
		n.said = append(n.said, n.group.Say(n.alice, fmt.Sprintf("/match @bob 50:%d", len(n.said))))
	}
}

// told waits until all are told, and checks that each is once.
func (n *numbers) told(t *testing.T) {
	t.Helper()
	awaitAnswers(t, n.group, len(n.said))
	n.settle()
	for i, m := range checkAnswered(t, n.pool, n.group, n.said) {
		says(t, visible(m), fmt.Sprintf("50:%d\n", i), fmt.Sprintf("Match #%d", i+1))
	}
	checkOnce(t, n.group, n.said)
}

// launchFromFile starts a bot whose settings stand in a file, where the environment wins over one of them.
func launchFromFile(t *testing.T, b *house) *process {
	t.Helper()
	folder := t.TempDir()
	file := "# settings\nTELEGRAM_API_URL=http://127.0.0.1:1\n"
	for _, setting := range b.env {
		if name, value, _ := strings.Cut(setting, "="); name != "TELEGRAM_API_URL" {
			file += fmt.Sprintf("%s=%q\n", name, value)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, ".env"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return launchIn(t, folder, []string{"TELEGRAM_API_URL=" + b.sim.URL()}, "run")
}
