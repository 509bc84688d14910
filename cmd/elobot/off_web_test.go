package main_test

import (
	"strings"
	"testing"
)

// TestOffWeb checks that a person chooses in the private chat whether the web boards of all groups
// name them, and that the boards follow at once, while the chats name the person as before.
func TestOffWeb(t *testing.T) {
	t.Parallel()
	b := startBotFixture(t, "LISTEN_ADDR=127.0.0.1:0", "PUBLIC_URL="+publicURL)
	chess, golf := b.group("Chess"), b.group("Golf")
	links := []string{b.board(chess, "on"), b.board(golf, "on")}
	b.ask(chess, b.alice, "/match @bob 3:1")
	b.ask(golf, b.alice, "/match @bob 3:1")
	private := b.sim.Private(b.bob)
	private.Say(b.bob, "/settings")
	b.settle()
	page := private.BotMessages()[0]
	says(t, visible(page), "show your name")
	follow := func(want string) {
		t.Helper()
		for _, link := range links {
			eventually(t, "the board shows "+want, func() bool {
				_, body := browse(t, b.bot, link)
				return strings.Contains(body, want) && strings.Contains(body, "Bob") == (want == "Bob")
			})
		}
	}
	follow("Bob")
	page = b.pressed(b.bob, page, "Leave my name out")
	says(t, visible(page), "leave your name out")
	follow("<bdi>a player</bdi>")
	says(t, visible(b.ask(chess, b.alice, "/ranking")), "Bob")
	page = b.pressed(b.bob, page, "Show my name")
	says(t, visible(page), "show your name")
	follow("Bob")
	b.finish()
}
