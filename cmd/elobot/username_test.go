package main_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// testFirstReportAfterAChangeOfUsername: the bot updates the profiles that come with a message
// before it looks up the usernames in the text. The old username of the sender, or of the person
// replied to, therefore does not refer to that person.
func testFirstReportAfterAChangeOfUsername(t *testing.T, b *botFixture) {
	for name, report := range map[string]func(group *botsim.Chat, who botsim.User, was string) botsim.Message{
		"ulf": func(group *botsim.Chat, who botsim.User, was string) botsim.Message {
			return group.Say(who, "/match @carol @"+was+" 3:1")
		},
		// Vera reports her own match.
		"vera": func(group *botsim.Chat, who botsim.User, was string) botsim.Message {
			return group.Say(who, "/match @"+was+" 1:3")
		},
		"walt": func(group *botsim.Chat, who botsim.User, was string) botsim.Message {
			return group.Reply(b.alice, group.Say(who, "Good game!"), "/match @carol @"+was+" 3:1")
		},
	} {
		who := b.sim.User(name)
		group := b.sim.Group("Chess", b.olga, b.alice, b.carol, who)
		b.join(group, who)
		who.Username, who.FirstName = name+"_now", "Robert"
		b.sim.AddUser(who)
		m := report(group, who, name)
		card := visible(b.answer(m))
		if strings.Contains(m.Text, "@carol") {
			says(t, card, "Match #1", fmt.Sprintf("carol beat %s 3:1", name))
		} else {
			says(t, card, "Match #1", fmt.Sprintf("%s beat Robert 3:1", name))
		}
		if n := count(t, b.pool,
			`SELECT count(*) FROM players WHERE username = $1 AND telegram_user_id IS NULL`, name); n != 1 {
			t.Errorf("%d unclaimed players are @%s, want 1", n, name)
		}
	}
}
