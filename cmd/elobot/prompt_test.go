package main_test

import (
	"testing"

	"elobot/internal/botsim"
)

// dataOf returns the data of the button with this label.
func dataOf(t *testing.T, m botsim.Message, label string) string {
	t.Helper()
	for _, row := range m.Buttons {
		for _, button := range row {
			if button.Text == label {
				return button.CallbackData
			}
		}
	}
	t.Fatalf("there is no button %s below %+v", label, m)
	return ""
}

// decide presses a button of a prompt, and returns the new text of its message, which must have
// lost its buttons.
func (b *botFixture) decide(who botsim.User, prompt botsim.Message, label string) string {
	b.t.Helper()
	if toast := b.press(who, prompt, dataOf(b.t, prompt, label)); toast != "" {
		b.t.Errorf("the toast is %q", toast)
	}
	now, err := b.sim.Chat(prompt.ChatID).WaitEdits(testContext(b.t), prompt.ID, 1)
	must(b.t, err)
	if len(now.Buttons) != 0 {
		b.t.Errorf("buttons are left below %q", visible(now))
	}
	b.settle()
	return visible(now)
}

// testPrompts checks that the bot asks an admin before it undoes a match that the admin did not
// play, and a player before it undoes a second match in a row. Only the person asked can answer,
// and only once. The message then shows the decision.
func testPrompts(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.seen(group, b.bob)
	card := b.ask(group, b.alice, "/match @bob 3:1")
	b.settle()
	first := b.ask(group, b.olga, "/undo 1")
	says(t, visible(first), "Olga, undo match #1? Alice beat Bob 3:1.")
	repeated := b.ask(group, b.olga, "/undo 1")
	says(t, visible(repeated), "Olga, undo match #1? Alice beat Bob 3:1.")
	for _, label := range []string{"Undo", "Cancel"} {
		says(t, b.press(b.alice, first, dataOf(t, first, label)), "Only the person who was asked can answer")
	}
	says(t, b.decide(b.olga, first, "Cancel"), "The undo of match #1 was canceled by Olga.")
	says(t, b.press(b.olga, repeated, dataOf(t, repeated, "Undo")), "Too late")
	checkUntouched(t, group, card)
	second := b.ask(group, b.olga, "/undo 1")
	says(t, b.decide(b.olga, second, "Undo"), "Match #1 undone", "undone by Olga")
	checkStruck(t, group, card, 1, "undone by Olga")
	// The message has lost its buttons.
	says(t, b.press(b.olga, second, dataOf(t, second, "Undo")), "This button no longer works")
	b.ask(group, b.alice, "/match @bob 3:0")
	b.ask(group, b.alice, "/match @bob 3:2")
	says(t, visible(b.ask(group, b.alice, "/undo")), "Match #3 undone")
	before := b.ask(group, b.alice, "/undo")
	says(t, visible(before), "Alice, match #3 is already undone. Undo match #2 too? Alice beat Bob 3:0.")
	says(t, b.press(b.bob, before, dataOf(t, before, "Undo")), "Only the person who was asked can answer")
	says(t, b.decide(b.alice, before, "Undo"), "Match #2 undone", "undone by Alice")
	for how, want := range map[string]int{"answered": 2, "cancelled": 1} {
		if n := count(t, b.pool, `SELECT count(*) FROM prompts p JOIN chats c ON c.id = p.chat_id
			WHERE c.telegram_chat_id = $1 AND p.closed_as = $2`, group.ID(), how); n != want {
			t.Errorf("%d prompts are %s, want %d", n, how, want)
		}
	}
}
