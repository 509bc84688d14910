package main_test

import (
	"testing"

	"elobot/internal/botsim"
)

// TestAfterARestore: after a restore from a backup, all that was stored since is gone, and new
// matches and prompts get the numbers of the lost ones. The messages about the lost ones are still
// in the chat, but a press of their buttons or a reply to them changes nothing. Here the backup is
// an empty database.
func TestAfterARestore(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.bot = launch(t, environment(b.sim, b.url), "run")
	group := b.group("Chess")
	reported := group.Say(b.alice, "/match @bob 3:1")
	lost := b.answer(reported)
	group.Edit(reported, "/match @bob 3:2")
	lostOffer := awaitAnswers(t, group, 2)[1]
	lostQuestion, lostWizard := b.ask(group, b.olga, "/undo 1"), b.ask(group, b.alice, "/match")
	lostNotice := b.ask(group, b.carol, "/undo 1")
	b.settle()
	b.bot.stop(t)

	b.url, b.pool = database(t)
	b.bot = launch(t, environment(b.sim, b.url), "run")
	card := b.ask(group, b.alice, "/match @bob 3:1")
	question, wizard := b.ask(group, b.olga, "/undo 1"), b.ask(group, b.alice, "/match")
	b.settle()
	const gone = "can’t find the match shown there any more"
	for _, who := range []botsim.User{b.alice, b.bob, b.olga} {
		says(t, b.press(who, lost, undoButton(t, lost)), gone)
	}
	says(t, b.press(b.alice, lostOffer, dataOf(t, lostOffer, "Fix to 3:2")), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/undo"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/fix 1:3"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lost, "/restore"))), gone)
	says(t, visible(b.answer(group.Reply(b.bob, lostNotice, "/undo"))), "Which match do you mean?", "/undo 42")
	says(t, b.press(b.olga, lostQuestion, dataOf(t, lostQuestion, "Undo")), "button no longer works")
	says(t, b.press(b.alice, lostWizard, dataOf(t, lostWizard, "Cancel")), "button no longer works")
	group.Reply(b.alice, lostWizard, "bob 1:0") // the bot ignores it
	b.settle()
	checkUntouched(t, group, lost)
	checkUntouched(t, group, card)
	if n := b.matches(group); n != 1 {
		t.Errorf("%d matches are recorded, want 1", n)
	}

	b.press(b.alice, wizard, dataOf(t, wizard, "Cancel"))
	says(t, b.decide(b.olga, question, "Undo"), "Match #1 undone")
	b.finish()
}
