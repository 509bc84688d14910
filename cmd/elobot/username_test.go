package main_test

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestFirstReportAfterAChangeOfUsername: what a message shows of people counts before the names in it are looked up. Bob
// goes by another username now, so @bob means somebody else, whether Bob reports the match or is merely replied to.
func TestFirstReportAfterAChangeOfUsername(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(b *takeBack, group *botsim.Chat) botsim.Message{
		"by the one who has changed it": func(b *takeBack, group *botsim.Chat) botsim.Message {
			return group.Say(b.bob, "/match @carol @bob 3:1")
		},
		"who plays": func(b *takeBack, group *botsim.Chat) botsim.Message {
			return group.Say(b.bob, "/match @bob 1:3")
		},
		"in reply to them": func(b *takeBack, group *botsim.Chat) botsim.Message {
			return group.Reply(b.alice, group.Say(b.bob, "Good game!"), "/match @carol @bob 3:1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startTakeBack(t, botsim.Start(t))
			group := b.group("Chess")
			b.bob.Username, b.bob.FirstName = "robert", "Robert"
			b.sim.AddUser(b.bob)
			m := report(b, group)
			card := visible(b.answer(m))
			says(t, card, "Match #1", "bob")
			if strings.Contains(m.Text, "@carol") {
				says(t, card, "Carol beat bob 3:1")
			} else {
				says(t, card, "bob beat Robert 3:1")
			}
			if n := count(t, b.pool, `SELECT count(*) FROM players WHERE username = 'bob' AND telegram_user_id IS NULL`); n != 1 {
				t.Errorf("%d unclaimed players are @bob, want 1", n)
			}
			b.finish()
		})
	}
}
