package main_test

import (
	"testing"

	"elobot/internal/botsim"
)

// TestAfterARestore: what was reported after a backup is gone once that is restored, and its numbers come again. The messages about it
// are still in the chat, and act on nothing else. Here the backup is of an empty database.
func TestAfterARestore(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.bot = launch(t, environment(b.sim, b.url), "run")
	group := b.group("Chess")
	lost := b.ask(group, b.alice, "/match @bob 3:1")
	lostNotice := b.ask(group, b.carol, "/undo 1")
	b.settle()
	b.bot.stop(t)

	b.url, b.pool = database(t)
	b.bot = launch(t, environment(b.sim, b.url), "run")
	card := b.ask(group, b.alice, "/match @bob 3:1")
	b.settle()
	const gone = "can’t find the match shown there any more"
	for _, who := range []botsim.User{b.alice, b.bob, b.olga} {
		says(t, b.press(who, lost, undoButton(t, lost)), gone)
	}
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/undo"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/fix 1:3"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/restore"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lostNotice, "/undo"))), "Which match do you mean?", "/undo 42")
	b.settle()
	checkUntouched(t, group, lost)
	checkUntouched(t, group, card)
	if n := b.matches(group); n != 1 {
		t.Errorf("%d matches are recorded, want 1", n)
	}
	says(t, b.press(b.bob, card, undoButton(t, card)), "Match #1 undone")
	b.finish()
}
