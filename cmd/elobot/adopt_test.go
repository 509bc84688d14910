package main_test

import (
	"testing"

	"elobot/internal/botsim"
)

// anotherBot starts a simulator with a different bot account.
func anotherBot(t *testing.T) *botsim.Server {
	t.Helper()
	return startTelegram(t, botsim.WithToken("7000000002:AAanother_bot_with_a_token_of_its_own"),
		botsim.WithBotUsername("other_bot"))
}

// playFromFirstMessage reports two matches in a new basic group, and undoes each by a reply. number
// is the label of the first match, such as #1. In a basic group, every bot has its own message ids,
// from 1 on.
func playFromFirstMessage(t *testing.T, sim *botsim.Server, number string) {
	t.Helper()
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.BasicGroup("Club", alice, bob)
	result := group.Say(alice, "/match @bob 3:1")
	if result.ID != 1 {
		t.Fatalf("the first message is %d", result.ID)
	}
	says(t, visible(awaitAnswers(t, group, 1)[0]), number)
	group.Reply(alice, result, "/undo")
	says(t, visible(awaitAnswers(t, group, 2)[1]), "Match "+number+" undone")
	group.Say(alice, "/match @bob 3:1")
	shown := awaitAnswers(t, group, 3)[2]
	group.Reply(alice, shown, "/undo")
	awaitAnswers(t, group, 4)
}

// TestAnotherBotOnTheSameDatabase checks that a database belongs to the first bot that runs on it.
// Until the operator adopts the database for another bot, that bot exits without any request but
// getMe. After the adoption, no command mistakes a message for a message of the old bot with the
// same id.
func TestAnotherBotOnTheSameDatabase(t *testing.T) {
	t.Parallel()
	sim, other := startTelegram(t), anotherBot(t)
	url, pool := database(t)
	first := launch(t, environment(sim, url), "run")
	playFromFirstMessage(t, sim, "#1")

	refused := func(args ...string) {
		t.Helper()
		p := launch(t, append(environment(other, url), "LISTEN_ADDR=127.0.0.1:0"), args...)
		equal(t, p.wait(t), 3, "exit code of %v", args)
		says(t, p.output.String(), "belongs to the bot whose token begins with 7000000001:",
			"@other_bot (7000000002)", "`elobot adopt`")
		for _, c := range other.Calls() {
			if c.Method != "getMe" {
				t.Errorf("%v has called %s", args, c.Method)
			}
		}
	}
	refused("run")
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
		VALUES ('update', 5, '{}', 'why', 1, now())`); err != nil {
		t.Fatal(err)
	}
	refused("dead", "retry", "all")

	adopt := func(code int, want ...string) {
		t.Helper()
		p := launch(t, environment(other, url), "adopt")
		equal(t, p.wait(t), code, "exit code of the adoption")
		says(t, p.output.String(), want...)
	}
	adopt(1, "token of the bot 7000000001 is running on the database", "Nothing was changed")
	first.stop(t)
	adopt(1, "are updates of the bot 7000000001", "`elobot dead drop 1`", "Nothing was changed")
	equal(t, launch(t, environment(sim, url), "dead", "drop", "1").wait(t), 0, "exit code of dropping the dead letter")
	adopt(0, "now belongs to @other_bot (7000000002)", "no longer to the bot 7000000001",
		"Stop everything", "Add @other_bot")
	adopt(0, "already belongs to @other_bot (7000000002)")
	launch(t, environment(other, url), "run")
	playFromFirstMessage(t, other, "#3")
	p := launch(t, environment(sim, url), "run")
	equal(t, p.wait(t), 3, "exit code of the old bot")
	says(t, p.output.String(), "token begins with 7000000002:")
	equal(t, count(t, pool, `SELECT count(*) FROM matches WHERE undone_at IS NOT NULL`), 4, "undone matches")
	verifyClean(t, url)
}
