package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestConfiguration: whatever is wrong is said in a sentence that helps, before anything starts.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	const token = "TELEGRAM_BOT_TOKEN=123456:abc-DEF_0123"
	const url = "DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot"
	for name, tc := range map[string]struct {
		env  []string
		code int
		says []string
	}{
		"no token":             {[]string{url}, 2, []string{"TELEGRAM_BOT_TOKEN is not set", "BotFather"}},
		"no token that is one": {[]string{url, "TELEGRAM_BOT_TOKEN=hush"}, 2, []string{"does not look like a token"}},
		"no database":          {[]string{token}, 2, []string{"DATABASE_URL is not set", "postgres://"}},
		"malformed URL":        {[]string{token, "DATABASE_URL=postgres://elobot:hush@host:port/x"}, 2, []string{"DATABASE_URL is no address", "postgres://"}},
		"malformed API URL":    {[]string{token, url, "TELEGRAM_API_URL=telegram"}, 2, []string{"TELEGRAM_API_URL"}},
		"wrong level":          {[]string{token, url, "LOG_LEVEL=loud"}, 2, []string{"LOG_LEVEL must be"}},
		"wrong format":         {[]string{token, url, "LOG_FORMAT=xml"}, 2, []string{"LOG_FORMAT must be"}},
		"everything at once": {[]string{"LOG_LEVEL=loud", "LOG_FORMAT=xml", "TELEGRAM_API_URL=x"}, 2,
			[]string{"TELEGRAM_BOT_TOKEN", "DATABASE_URL", "TELEGRAM_API_URL", "LOG_LEVEL", "LOG_FORMAT"}},
		"unreachable database": {[]string{token, url}, 1, []string{"connect to the database", "Is PostgreSQL running"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := launch(t, tc.env, "run")
			code := bot.wait(t)
			output := bot.output.String()
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(output, want) {
					t.Errorf("the output does not say %q:\n%s", want, output)
				}
			}
			if strings.Contains(output, "hush") || strings.Contains(output, "abc-DEF") {
				t.Errorf("the output contains a secret:\n%s", output)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"walk"}, {"run", "--fast"}} {
		bot := launch(t, nil, args...)
		if code := bot.wait(t); code != 2 {
			t.Errorf("elobot %v ends with %d, want 2", args, code)
		}
		if !strings.Contains(bot.output.String(), "elobot --help") {
			t.Errorf("elobot %v does not point to the help:\n%s", args, bot.output)
		}
	}
}

// TestGracefulStop: a bot that is told to stop under load ends soon and well, and the next one goes on where it was.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group, stopped := sim.Group("Chess", alice, bob), sim.Group("Stopped", alice, bob)
	bot := launch(t, environment(sim, url), "run")
	sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", ChatID: stopped.ID(), RetryAfter: 3600, Times: 1})
	said := []botsim.Message{stopped.Say(alice, "/match @bob 3:1")}
	const matches = 400
	for i := range matches {
		said = append(said, group.Say(alice, fmt.Sprintf("/match @bob %d:%d", i%10, i%7)))
	}
	awaitAnswers(t, group, 20)
	awaitRefusal(t, sim, stopped)
	code, took := bot.stop(t)
	if code != 0 || took > 10*time.Second {
		t.Errorf("the bot ended after %v with %d:\n%s", took, code, bot.output.tail(2000))
	}

	handled, confirmed := handledKeys(t, pool), len(said)-sim.Pending()
	t.Logf("stopped after %v with %d of %d commands handled, %d confirmed", took, len(handled), len(said), confirmed)
	for _, m := range said[:confirmed] {
		if !handled[key(m)] {
			t.Errorf("%q was confirmed and not handled", m.Text)
		}
	}
	if took < time.Second { // it has not run out of any time that it gives itself
		if len(handled) != confirmed {
			t.Errorf("%d commands were handled and %d confirmed", len(handled), confirmed)
		}
		if n := count(t, pool, `SELECT count(*) FROM outbox WHERE state = 'sending'`); n != 0 {
			t.Errorf("%d answers are still marked as being sent", n)
		}
	}

	launch(t, environment(sim, url), "run")
	awaitSettled(t, sim, pool, group)
	for i, m := range checkAnswered(t, pool, group, said[1:]) {
		if want := fmt.Sprintf("Match #%d", i+1); !strings.Contains(visible(m), want) {
			t.Fatalf("answer %d is\n%s", i+1, visible(m))
		}
	}
	if n := count(t, pool, `SELECT count(*) FROM outbox WHERE state = 'planned'`); n != 1 || len(stopped.BotMessages()) != 0 {
		t.Errorf("%d answers wait, want the one of the chat that Telegram has stopped", n)
	}
}

// testDeliveredTwice: the same update by two deliveries has one effect and one answer.
func testDeliveredTwice(t *testing.T, b *house) {
	sim, alice, group := b.sim, b.alice, b.group("Chess")
	sim.Fault(botsim.Fault{Kind: botsim.CutAfter, Method: "getUpdates", Skip: 1, Times: 1})
	group.Say(alice, "/match @bob 3:1")
	group.Say(alice, "/match @bob 3")
	group.Say(alice, "/ranking")
	awaitAnswers(t, group, 3)
	again := `{"message":{"message_id":%d,"date":1700000000,"chat":{"id":%d,"type":"supergroup","title":"Chess"},` +
		`"from":{"id":%d,"first_name":"Alice","username":"alice"},"text":"/match @bob 3:1",` +
		`"entities":[{"type":"bot_command","offset":0,"length":6},{"type":"mention","offset":7,"length":4}]}}`
	for _, m := range group.Messages() {
		if !m.From.IsBot {
			sim.Update([]byte(fmt.Sprintf(again, m.ID, group.ID(), alice.ID)))
		}
	}
	if err := sim.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	group.Say(alice, "/join") // its answer comes after all others
	if answers := awaitAnswers(t, group, 4); !strings.Contains(answers[3].Text, "you are in already") {
		t.Errorf("a second answer came:\n%s", answers[3].Text)
	}
	if n := b.matches(group); n != 1 {
		t.Errorf("%d matches, want 1", n)
	}
}
