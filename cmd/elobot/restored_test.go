package main_test

import "elobot/internal/botsim"

// lostMessages are messages about what a restore from a backup has lost.
type lostMessages struct{ card, offer, question, wizard, notice botsim.Message }

// loseMessages has the bot send the messages to a group without matches.
func (b *botFixture) loseMessages(group *botsim.Chat) (lost lostMessages) {
	b.t.Helper()
	reported := group.Say(b.alice, "/match @bob 3:1")
	lost.card = b.answer(reported)
	sent := len(group.BotMessages())
	group.Edit(reported, "/match @bob 3:2")
	lost.offer = awaitAnswers(b.t, group, sent+1)[sent]
	lost.question, lost.wizard = b.ask(group, b.olga, "/undo 1"), b.ask(group, b.alice, "/match")
	lost.notice = b.ask(group, b.carol, "/undo 1")
	return lost
}

// check checks that, after the restore, new matches and prompts get the numbers of lost matches and
// prompts. A press of the buttons of the lost messages or a reply to them changes nothing.
func (lost lostMessages) check(b *botFixture, group *botsim.Chat) {
	t := b.t
	t.Helper()
	card := b.ask(group, b.alice, "/match @bob 3:1")
	question, wizard := b.ask(group, b.olga, "/undo 1"), b.ask(group, b.alice, "/match")
	b.settle()
	const gone = "can’t find the match shown there any more"
	for _, who := range []botsim.User{b.alice, b.bob, b.olga} {
		says(t, b.press(who, lost.card, undoButton(t, lost.card)), gone)
	}
	says(t, b.press(b.alice, lost.offer, dataOf(t, lost.offer, "Fix to 3:2")), gone)
	for _, text := range []string{"/undo", "/fix 1:3", "/restore"} {
		says(t, visible(b.answer(group.Reply(b.bob, lost.card, text))), gone)
	}
	says(t, visible(b.answer(group.Reply(b.bob, lost.notice, "/undo"))), "Which match do you mean?", "/undo 42")
	says(t, b.press(b.olga, lost.question, dataOf(t, lost.question, "Undo")), "button no longer works")
	says(t, b.press(b.alice, lost.wizard, dataOf(t, lost.wizard, "Cancel")), "button no longer works")
	group.Reply(b.alice, lost.wizard, "bob 1:0") // the bot ignores it
	b.settle()
	checkUntouched(t, group, lost.card)
	checkUntouched(t, group, card)
	equal(t, b.matches(group), 1, "matches")
	b.press(b.alice, wizard, dataOf(t, wizard, "Cancel"))
	says(t, b.decide(b.olga, question, "Undo"), "Match #1 undone")
}
