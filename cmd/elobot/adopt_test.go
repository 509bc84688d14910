package main_test

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// anotherBot is the account of a bot that is not the simulator's usual one.
func anotherBot(t *testing.T) *botsim.Server {
	t.Helper()
	return botsim.Start(t, botsim.WithToken("7000000002:AAanother_bot_with_a_token_of_its_own"), botsim.WithBotUsername("other_bot"))
}

// TestAnotherBotOnTheSameDatabase: a database belongs to the bot that ran on it first. Another one is refused before it
// polls, serves or sends anything, until it has adopted the database.
func TestAnotherBotOnTheSameDatabase(t *testing.T) {
	t.Parallel()
	sim, other := botsim.Start(t), anotherBot(t)
	url, pool := database(t)
	first := launch(t, environment(sim, url), "run")
	first.await(t, "msg=ready")

	refused := func(args ...string) {
		t.Helper()
		p := launch(t, append(environment(other, url), "LISTEN_ADDR=127.0.0.1:0"), args...)
		if code := p.wait(t); code != 1 {
			t.Errorf("%v ended with %d", args, code)
		}
		says(t, p.output.String(), "belongs to the bot whose token begins with 7000000001:", "@other_bot (7000000002)", "`elobot adopt`")
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

	first.stop(t)
	adopt := func(want ...string) {
		t.Helper()
		p := launch(t, environment(other, url), "adopt")
		if code := p.wait(t); code != 0 {
			t.Errorf("the adoption ended with %d", code)
		}
		says(t, p.output.String(), want...)
	}
	adopt("belongs to @other_bot (7000000002) now", "no longer to the bot 7000000001", "Stop everything", "Add @other_bot")
	adopt("belongs to @other_bot (7000000002) already")
	launch(t, environment(other, url), "run").await(t, "msg=ready")
	p := launch(t, environment(sim, url), "run")
	if code := p.wait(t); code != 1 {
		t.Errorf("the bot that had the database before ended with %d", code)
	}
	says(t, p.output.String(), "token begins with 7000000002:")
}

// TestTwoBotsAtOnce: of two bots that start at once on an empty database one gets it, and the other ends.
func TestTwoBotsAtOnce(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	bots := []*process{
		launch(t, environment(botsim.Start(t), url), "run"), launch(t, environment(anotherBot(t), url), "run"),
	}
	var ready, refused bool
	eventually(t, "one is ready and the other has ended", func() bool {
		ready, refused = false, false
		for _, b := range bots {
			ready = ready || strings.Contains(b.output.String(), "msg=ready")
			refused = refused || strings.Contains(b.output.String(), "`elobot adopt`")
		}
		return ready && refused
	})
	if n := count(t, pool, `SELECT count(*) FROM bot`); n != 1 {
		t.Errorf("the database belongs to %d bots", n)
	}
}
