package main_test

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// testSettings checks that admins change the rules with the buttons of one message, which always
// shows the current rules.
func testSettings(t *testing.T, b *botFixture) {
	group := b.group("Chess") // Olga created it
	says(t, visible(b.ask(group, b.alice, "/settings")), "Only the group’s admins")
	frame := b.ask(group, b.olga, "/settings")
	says(t, visible(frame), "K-factor: 32", "Draws: on")
	says(t, b.press(b.alice, frame, "1c:rating"), "Only the group’s admins")
	says(t, b.choose(b.olga, frame, "1c:rating", "1c:k", "1c:k:24"), "Changed: K-factor 32 → 24.")
	now, err := group.WaitEdits(testContext(t), frame.ID, 3)
	must(t, err)
	says(t, visible(now), "K-factor: 24", "changed by Olga")
	says(t, b.choose(b.olga, frame, "1c:k", "1c:k:24"), "That’s set already")
	says(t, b.press(b.alice, frame, "1c:k:48"), "Only the group’s admins", "send /settings k 48")
	says(t, b.press(b.olga, frame, "1c:k:25"), "This button no longer works")
	says(t, visible(b.ask(group, b.alice, "/match @bob 3:1")), "Alice +12 → 1512")
	says(t, b.choose(b.olga, frame, "1c:rating", "1c:all", "1c:reporting", "1c:draws:off"), "draws on → off")
	says(t, visible(b.ask(group, b.alice, "/match @bob 2:2")), "This ranking has no draws")
	b.settle()
	equal(t, len(group.BotMessages()), 4, "messages")
}

// testTables checks that, once an admin turns tables on, the next ranking and its pages are tables.
// If Telegram refuses a table, the answer is sent once, as text.
func testTables(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	for i := range 10 {
		b.ask(group, b.alice, fmt.Sprintf("/match @player%c 3:1", 'a'+i))
	}
	says(t, b.choose(b.olga, b.ask(group, b.olga, "/settings"), "1c:display", "1c:tables:on"), "tables from now on")
	ranking := b.ask(group, b.bob, "/ranking")
	if !ranking.Rich {
		t.Errorf("the ranking is no table:\n%s", visible(ranking))
	}
	says(t, visible(ranking), "# | Player | Rating | W–L", "• | Alice | ", "1–10 of 11 players")
	b.sim.Press(b.bob, ranking, fmt.Sprintf("1p:2:%d", b.bob.ID))
	page, err := group.WaitEdits(testContext(t), ranking.ID, 1)
	if err != nil || !page.Rich {
		t.Errorf("the next page is no table: %v\n%s", err, visible(page))
	}
	b.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "sendRichMessage",
		Status: 400, Description: "Bad Request: not supported", Times: 1})
	b.later.Add(61)
	if m := b.ask(group, b.alice, "/me"); m.Rich {
		t.Error("the refused table was sent")
	}
	b.settle()
	equal(t, len(group.BotMessages()), 13, "messages")
}
