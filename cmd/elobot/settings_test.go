package main_test

import "testing"

// testSettings: admins change the rules with the buttons of one message, which always shows the current rules.
func testSettings(t *testing.T, b *botFixture) {
	group := b.group("Chess") // Olga created it
	says(t, visible(b.ask(group, b.alice, "/settings")), "Only the group’s admins")
	frame := b.ask(group, b.olga, "/settings")
	says(t, visible(frame), "K-factor: 32", "Draws: on")
	says(t, b.press(b.alice, frame, "1r:k:24:0"), "Only the group’s admins")
	says(t, b.press(b.olga, frame, "1r:k:24:0"), "Rules changed: K-factor 32 → 24.")
	says(t, b.press(b.olga, frame, "1r:k:24:0"), "That’s set already")
	says(t, b.press(b.olga, frame, "1r:k:25:0"), "This button no longer works")
	now, err := group.WaitEdits(testContext(t), frame.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	says(t, visible(now), "K-factor: 24", "changed by Olga")
	says(t, visible(b.ask(group, b.alice, "/match @bob 3:1")), "Alice +12 → 1512")
	says(t, b.press(b.olga, now, "1r:draws:0:0"), "draws on → off")
	says(t, visible(b.ask(group, b.alice, "/match @bob 2:2")), "This ranking has no draws")
	b.settle()
	if n := len(group.BotMessages()); n != 4 {
		t.Errorf("there are %d messages, want one for each command", n)
	}
}
