package main_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// undoButton returns the data of a card's only button.
func undoButton(t *testing.T, card botsim.Message) string {
	t.Helper()
	if len(card.Buttons) != 1 || len(card.Buttons[0]) != 1 || card.Buttons[0][0].CallbackData == "" {
		t.Fatalf("the card has the buttons %v:\n%s", card.Buttons, visible(card))
	}
	return card.Buttons[0][0].CallbackData
}

// checkStruck waits until a card has been edited the given number of times, and checks that it
// shows an undone match and contains why.
func checkStruck(t *testing.T, group *botsim.Chat, card botsim.Message, edits int, why string) {
	t.Helper()
	now, err := group.WaitEdits(testContext(t), card.ID, edits)
	must(t, err)
	equal(t, now.Edits, edits, "edits of the card")
	checkUndone(t, now, why)
}

// checkUndone checks that a message is the card of an undone match and contains why. A match undone
// by a merge cannot be restored.
func checkUndone(t *testing.T, card botsim.Message, why string) {
	t.Helper()
	says(t, visible(card), why)
	struck := slices.ContainsFunc(card.Entities, func(e botsim.Entity) bool {
		return e.Type == "strikethrough" && e.Offset == 0
	})
	restorable := len(card.Buttons) == 1 && card.Buttons[0][0].Text == "Restore"
	if !struck || restorable == strings.Contains(why, "same person") || strings.Contains(card.Text, "→") {
		t.Errorf("the card is not that of an undone match: %+v", card)
	}
}

// checkUntouched checks that a card is unchanged and has no reply from the bot.
func checkUntouched(t *testing.T, group *botsim.Chat, card botsim.Message) {
	t.Helper()
	now, _ := group.Message(card.ID)
	if now.Edits != 0 || now.Text != card.Text || undoButton(t, now) != undoButton(t, card) {
		t.Errorf("the card has changed: %+v", now)
	}
	for _, m := range group.BotMessages() {
		if m.ReplyTo == card.ID {
			t.Errorf("the bot has replied to the card:\n%s", visible(m))
		}
	}
}

// testUndoButton checks that the button undoes the match once, for people who may undo it. Others
// only get a callback answer.
func testUndoButton(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	card := b.ask(group, b.alice, "/match @bob 3:1")
	button := undoButton(t, card)

	says(t, b.press(b.carol, card, button), "Only those who played or reported match #1")
	b.settle()
	checkUntouched(t, group, card)

	says(t, b.press(b.bob, card, button), "Match #1 undone")
	says(t, visible(b.answer(card)), "Match #1 undone", "Alice 3:1 Bob", "Alice −16 → 1500", "Bob +16 → 1500",
		"undone by Bob")
	checkStruck(t, group, card, 1, "undone by Bob")
	for _, again := range []botsim.User{b.bob, b.alice, b.olga} {
		says(t, b.press(again, card, button), "Match #1 is already undone")
	}
	b.settle()
	checkStruck(t, group, card, 1, "undone by Bob")
	equal(t, len(group.BotMessages()), 2, "messages")
}

// testRestoreButton checks that the person who undid a match can restore it with the button on its
// card. The card then has its former text, and a new undo button.
func testRestoreButton(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	// After this match, the next card mentions no new players, and the bot knows all names.
	b.ask(group, b.bob, "/match @alice 1:3")
	card := b.ask(group, b.alice, "/match @bob 3:1")
	undo := undoButton(t, card)
	says(t, b.press(b.bob, card, undo), "Match #2 undone")
	checkStruck(t, group, card, 1, "undone by Bob")
	undone, _ := group.Message(card.ID)
	restore := undone.Buttons[0][0].CallbackData
	says(t, b.press(b.alice, undone, restore), "Only the person who undid match #2")
	says(t, b.press(b.bob, undone, undo), "Match #2 is already undone")
	says(t, b.press(b.bob, undone, restore), "Match #2 restored: ", "counts again")
	says(t, b.press(b.bob, undone, restore), "Match #2 has changed since")
	now, err := group.WaitEdits(testContext(t), card.ID, 2)
	must(t, err)
	if now.Text != card.Text || now.Buttons[0][0].Text != "Undo" || undoButton(t, now) == undo {
		t.Errorf("the restored card is %+v, want it to be as before", now)
	}
	says(t, visible(b.ask(group, b.bob, "/undo")), "Match #2 undone")
	says(t, visible(b.answer(group.Reply(b.bob, card, "/restore"))), "Match #2 restored")
	b.settle()
}

// testAllWaysToAmend checks that /undo and /fix find the match by number, by its card, or by the
// command that reported it. A bare /undo finds the sender's last match.
func testAllWaysToAmend(t *testing.T, b *botFixture) {
	type way struct {
		command string
		// target returns the message that the command replies to, or the zero Message for none.
		target func(asked, card botsim.Message) botsim.Message
		undoes bool
		card   string // final text of the card
	}
	nothing := func(_, _ botsim.Message) botsim.Message { return botsim.Message{} }
	toCard := func(_, card botsim.Message) botsim.Message { return card }
	toCommand := func(asked, _ botsim.Message) botsim.Message { return asked }
	for _, w := range []way{
		{"/undo 1", nothing, true, ""},
		{"/undo", toCard, true, ""},
		{"/undo", toCommand, true, ""},
		{"/undo@elo_bot", nothing, true, ""},
		// On the card, Bob beat Alice 3:1. A reply to the /match gives Alice's score first, as the
		// /match does; the other ways give Bob's.
		{"/fix 1 2:3", nothing, false, "Alice beat Bob 3:2"},
		{"/fix 3:2", toCommand, false, "Alice beat Bob 3:2"},
		{"/fix 7:11 9:11", toCard, false, "Alice beat Bob 2:0 (11:7 11:9)"},
	} {
		group := b.group(w.command)
		asked := group.Say(b.alice, "/match @bob 1:3")
		card := b.answer(asked)
		b.settle() // a card is recognized only after it is marked as sent
		button := undoButton(t, card)
		answer := b.answer(group.Reply(b.bob, w.target(asked, card), w.command))
		if w.undoes {
			says(t, visible(answer), "Match #1 undone", "Alice +16 → 1500", "Bob −16 → 1500", "undone by Bob")
			checkStruck(t, group, card, 1, "undone by Bob")
			continue
		}
		says(t, visible(answer), "Match #1 corrected", strings.TrimSuffix(w.card, ")"), "corrected by Bob")
		now, err := group.WaitEdits(testContext(t), card.ID, 1)
		must(t, err)
		says(t, visible(now), w.card, "corrected from ")
		says(t, b.press(b.alice, card, button), "Match #1 has changed since")
		says(t, b.press(b.alice, now, undoButton(t, now)), "Match #1 undone")
		says(t, visible(b.answer(card)), "Match #1 undone", "undone by Alice")
		checkStruck(t, group, card, 2, "undone by Alice")
	}
	b.settle()
}

// testAdminsUnknown checks that, if the bot cannot find out who is an admin, it asks people to try
// again. Commands that need no admin work as usual.
func testAdminsUnknown(t *testing.T, b *botFixture) {
	type trial struct {
		group  *botsim.Chat
		card   botsim.Message
		asked  botsim.Message
		press  string
		remove func()
	}
	var trials []trial
	for _, fault := range []botsim.Fault{
		{Kind: botsim.ServerError}, {Kind: botsim.TooManyRequests, RetryAfter: 3600},
	} {
		group := b.group(fault.Kind.String())
		card := b.ask(group, b.alice, "/match @bob 3:1")
		fault.Method, fault.ChatID = "getChatAdministrators", group.ID()
		remove := b.sim.Fault(fault)
		trials = append(trials, trial{
			group, card, group.Say(b.olga, "/undo 1"), b.sim.Press(b.carol, card, undoButton(t, card)), remove,
		})
	}
	for _, f := range trials {
		says(t, visible(b.answer(f.asked)), "nothing was changed", "try again")
		says(t, b.callbackAnswer(f.press), "nothing was changed", "try again")
	}
	b.settle()
	for _, f := range trials {
		checkUntouched(t, f.group, f.card)
		// A player may fix the match without being an admin.
		says(t, visible(b.ask(f.group, b.alice, "/fix 1 3:2")), "Match #1 corrected")
		f.remove()
		says(t, visible(b.ask(f.group, b.carol, "/undo 1")), "Only those who played")
		b.settle()
		says(t, b.decide(b.olga, b.ask(f.group, b.olga, "/undo 1"), "Undo"), "Match #1 undone", "undone by Olga")
		checkStruck(t, f.group, f.card, 2, "undone by Olga")
	}
	b.settle()
}

// testUndoWindow checks that players can undo and fix a match only within the undo window. Admins
// can undo it later, too.
func testUndoWindow(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	before := time.Now().Add(-2 * time.Hour)
	card := b.answer(group.Post(botsim.Post{From: b.alice, Text: "/match @bob 3:1", Date: before}))
	for _, text := range []string{"/undo 1", "/fix 1 3:2"} {
		says(t, visible(b.ask(group, b.alice, text)), "Match #1 is more than 1 hour old")
	}
	says(t, visible(b.ask(group, b.alice, "/undo")), "no match to undo or fix from the last 1 hour")
	says(t, b.press(b.bob, card, undoButton(t, card)), "Match #1 is more than 1 hour old")
	says(t, visible(b.ask(group, b.carol, "/undo 1")), "Only those who played")
	b.settle()
	checkUntouched(t, group, card)
	equal(t, b.press(b.olga, card, undoButton(t, card)), "", "toast")
	says(t, b.decide(b.olga, b.answer(card), "Undo"), "Match #1 undone")
	checkStruck(t, group, card, 1, "undone by Olga")
	b.ask(group, b.alice, "/match @bob 3:1")
	says(t, visible(b.ask(group, b.alice, "/undo")), "Match #2 undone")
	b.settle()
}
