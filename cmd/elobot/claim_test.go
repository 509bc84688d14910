package main_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// testClaimedByTheFirstCommand: a player who was only mentioned gets an account and a name with the
// first command that the person sends in the group, whichever it is. Commands in other chats claim
// nothing, because their sender need not be the person who was mentioned.
func testClaimedByTheFirstCommand(t *testing.T, b *botFixture) {
	for name, say := range map[string]func(group *botsim.Chat, who botsim.User) *botsim.Chat{
		"gina": func(group *botsim.Chat, who botsim.User) *botsim.Chat {
			group.Say(who, "/help")
			return group
		},
		"hugo": func(_ *botsim.Chat, who botsim.User) *botsim.Chat {
			other := b.sim.Group("Table tennis", b.olga, b.alice, who)
			other.Say(who, "/match @alice 3") // malformed
			return other
		},
		"iris": func(_ *botsim.Chat, who botsim.User) *botsim.Chat {
			private := b.sim.Private(who)
			private.Say(who, "/start")
			return private
		},
	} {
		who := b.sim.User(name)
		group := b.sim.Group("Chess", b.olga, b.alice, who)
		b.ask(group, b.alice, "/match @"+name+" 3:1")
		type player struct {
			UserID int64
			Name   string
		}
		known := func() []player {
			return collect(t, b.pool, pgx.RowToStructByPos[player],
				`SELECT coalesce(telegram_user_id, 0), display_name FROM players WHERE lower(username) = $1`, name)
		}
		if p := known(); len(p) != 1 || p[0] != (player{0, name}) {
			t.Fatalf("%s, who was only mentioned, is %v", name, p)
		}
		chat := say(group, who)
		if chat == group {
			awaitAnswers(t, chat, 2)
		} else {
			awaitAnswers(t, chat, 1)
		}
		if chat != group {
			if p := known(); p[0] != (player{0, name}) {
				t.Errorf("a command elsewhere makes %s %v", name, p)
			}
			b.ask(group, who, "/me")
		}
		if p := known(); len(p) != 1 || p[0] != (player{who.ID, who.FirstName}) {
			t.Errorf("%s is %v, want %v", name, p, player{who.ID, who.FirstName})
		}
	}
}
