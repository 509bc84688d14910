package main_test

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// testCelebrations: the card of an upset celebrates it until the match is undone, unless an admin
// has turned celebrations off.
func testCelebrations(t *testing.T, b *botFixture) {
	const upset = "🎯 Upset of the month: Alice won although rated 200 points lower!"
	celebrating, plain := b.group("Chess"), b.group("Go")
	says(t, b.choose(b.olga, b.ask(plain, b.olga, "/settings"), "1c:display", "1c:celebrations:off"),
		"No more celebrations")
	for in, want := range map[*botsim.Chat]int{celebrating: 1, plain: 0} {
		b.join(in, b.alice, b.bob)
		b.exec(`
			UPDATE group_players SET elo = 1700, start_elo = 1700, best_elo = 1700
			WHERE name = 'Bob' AND season_id = (
			    SELECT l.season_id FROM ladders l JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
			    WHERE c.telegram_chat_id = $1)`, in.ID())
		card := b.ask(in, b.alice, "/match @bob 3:1")
		if got := strings.Count(visible(card), upset); got != want {
			t.Errorf("the upset is celebrated %d times, want %d:\n%s", got, want, visible(card))
		}
		says(t, b.press(b.bob, card, undoButton(t, card)), "Match #1 undone")
		undone, err := in.WaitEdits(testContext(t), card.ID, 1)
		must(t, err)
		if strings.Contains(visible(undone), "🎯") {
			t.Errorf("the undone match is still celebrated:\n%s", visible(undone))
		}
	}
}

// testHelpPages: the buttons of the help lead to a topic, to a command and back, in one message.
func testHelpPages(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	help := b.ask(group, b.alice, "/help")
	says(t, visible(help), "/match @bobby 3:1", "/ranking", "/undo")
	for i, step := range []struct{ data, want string }{
		{"1i:corrections", "/restore 42"}, {"1i:/fix", "/fix 42 11:7 9:11 11:5"}, {"1i:corrections", "/restore 42"}, {"1i:all", "Commands"},
	} {
		b.sim.Press(b.bob, help, step.data)
		page, err := group.WaitEdits(testContext(t), help.ID, i+1)
		must(t, err)
		says(t, visible(page), step.want)
	}
	if n := len(group.BotMessages()); n != 1 {
		t.Errorf("there are %d messages, want one", n)
	}
}
