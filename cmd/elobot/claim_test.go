package main_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// TestClaimedByTheFirstCommand: somebody who was only named so far is known by account and name after the first command
// of their own, whatever it is and wherever.
func TestClaimedByTheFirstCommand(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(sim *botsim.Server, group *botsim.Chat, bob botsim.User) *botsim.Chat{
		"a question": func(_ *botsim.Server, group *botsim.Chat, bob botsim.User) *botsim.Chat {
			group.Say(bob, "/help")
			return group
		},
		"a mistake in another group": func(sim *botsim.Server, _ *botsim.Chat, bob botsim.User) *botsim.Chat {
			other := sim.Group("Table tennis", sim.User("alice"), bob)
			other.Say(bob, "/match @alice 3")
			return other
		},
		"a private chat": func(sim *botsim.Server, _ *botsim.Chat, bob botsim.User) *botsim.Chat {
			private := sim.Private(bob)
			private.Say(bob, "/start")
			return private
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := botsim.Start(t)
			url, pool := database(t)
			alice, bob := sim.User("alice"), sim.User("bob")
			group := sim.Group("Chess", alice, bob)
			launch(t, environment(sim, url), "run")
			group.Say(alice, "/match @bob 3:1")
			awaitAnswers(t, group, 1)
			type player struct {
				UserID int64
				Name   string
			}
			const sql = `SELECT coalesce(telegram_user_id, 0), display_name FROM players WHERE lower(username) = 'bob'`
			if p := collect(t, pool, pgx.RowToStructByPos[player], sql); len(p) != 1 || p[0] != (player{0, "bob"}) {
				t.Fatalf("bob, who was only named, is %v", p)
			}
			chat := say(sim, group, bob)
			if chat == group {
				awaitAnswers(t, chat, 2)
			} else {
				awaitAnswers(t, chat, 1)
			}
			if p := collect(t, pool, pgx.RowToStructByPos[player], sql); len(p) != 1 || p[0] != (player{bob.ID, bob.FirstName}) {
				t.Errorf("bob is %v, want %v", p, player{bob.ID, bob.FirstName})
			}
			verifyClean(t, url)
		})
	}
}
