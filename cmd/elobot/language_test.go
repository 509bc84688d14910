package main_test

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// TestLanguage checks that the bot uses the language of the person who added it to a group until an
// admin chooses another language. An undo edits a message about several results once, in the
// language in which the message was sent. The answer to a press is in the language of the person
// who pressed.
func TestLanguage(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.olga.LanguageCode = "de-at"
	b.alice.LanguageCode = "es"
	b.olga, b.alice = b.sim.AddUser(b.olga), b.sim.AddUser(b.alice)
	launch(t, append(plainEnvironment(b.sim, b.url),
		"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off"), "run")
	group := b.group("Schach")
	frame := b.ask(group, b.olga, "/language")
	says(t, visible(frame), "Sprache: Deutsch")
	says(t, b.press(b.alice, frame, "1c:language:en"), "admin", "grupo")
	says(t, b.press(b.olga, frame, "1c:language:xx"), "Knopf")

	b.settle()
	before := len(group.BotMessages())
	allow := b.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", RetryAfter: 2})
	for i := range 3 {
		group.Say(b.bob, fmt.Sprintf("/match @carol 3:%d", i))
	}
	eventually(t, "all results wait in a frozen chat", func() bool {
		return count(t, b.pool, `
			SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE o.state = 'planned' AND c.frozen_until > clock_timestamp() + interval '1 s'`) == 3
	})
	allow()
	b.settle()
	if n := len(group.BotMessages()) - before; n != 1 {
		t.Fatalf("the results came in %d messages, want one", n)
	}
	merged := group.BotMessages()[before]
	says(t, visible(merged), "#1", "#2", "#3")

	says(t, b.press(b.olga, frame, "1c:language:en"), "English")
	now, err := group.WaitEdits(testContext(t), frame.ID, 1)
	must(t, err)
	says(t, visible(now), "Language: English", "changed by Olga")
	says(t, visible(b.ask(group, b.bob, "/undo 2")), "Match #2 undone")
	b.settle()
	edited, err := group.WaitEdits(testContext(t), merged.ID, 1)
	must(t, err)
	says(t, visible(edited), "zurückgenommen")
	equal(t, edited.Edits, 1, "edits")
	verifyClean(t, b.url)
}
