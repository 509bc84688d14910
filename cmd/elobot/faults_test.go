package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// awaitRefusal waits until Telegram refuses a message to a chat with 429, and returns the request.
func awaitRefusal(t *testing.T, sim *botsim.Server, chat *botsim.Chat) (refused botsim.Call) {
	t.Helper()
	eventually(t, "a 429", func() bool {
		for _, call := range sim.CallsOf("sendMessage") {
			if call.ChatID == chat.ID() && call.Status == 429 {
				refused = call
				return true
			}
		}
		return false
	})
	return refused
}

// testServerErrorAfterTheEffect checks that, if a gateway returns an error although the message was
// sent, the request counts as a possible duplicate. The answer may then arrive twice, but the next
// answer still follows it.
func testServerErrorAfterTheEffect(t *testing.T, b *botFixture) {
	sim, pool, alice, group := b.sim, b.pool, b.alice, b.group("Chess")
	hits := len(faulted(sim, "sendMessage"))
	sim.Fault(botsim.Fault{
		Kind: botsim.WrongAnswer, Name: "gateway", Method: "sendMessage", ChatID: group.ID(), Status: 504, Times: 1,
		Body: "<html><h1>504 Gateway Time-out</h1></html>",
	})
	posted := []botsim.Message{group.Say(alice, "/match @bob 3:1"), group.Say(alice, "/match @bob 3:2")}
	awaitAnswers(t, group, 2)
	awaitSettled(t, sim, pool, group)
	checkAnswered(t, pool, group, posted)
	if hit := faulted(sim, "sendMessage")[hits:]; len(hit) != 1 || hit[0].Status != 504 || !hit[0].Delivered {
		t.Fatalf("the fault was applied to %+v", hit)
	}
	copies, duplicates := len(group.BotMessages())-len(posted), count(t, pool, `
		SELECT sum(possible_duplicates) FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID())
	if copies > duplicates || duplicates == 0 {
		t.Errorf("%d answers came twice, %d were counted as possible duplicates", copies, duplicates)
	}
}

// testUpgradedGroup checks that, if a group becomes a supergroup with a new id while an answer is
// queued, the answer goes to the supergroup and the ranking continues there.
func testUpgradedGroup(t *testing.T, b *botFixture) {
	for name, migrate := range map[string]func(*botsim.Chat) *botsim.Chat{
		"old group first": (*botsim.Chat).Migrate, "new group first": (*botsim.Chat).MigrateNewFirst,
		"join first": (*botsim.Chat).MigrateJoinFirst,
	} {
		t.Run(name, func(t *testing.T) {
			sim, pool, alice := b.sim, b.pool, b.alice
			group := sim.BasicGroup("Chess", b.olga, alice, b.bob)
			chats := count(t, pool, `SELECT count(*) FROM chats`)
			heal := sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage",
				ChatID: group.ID(), RetryAfter: 1})
			group.Say(alice, "/match @bob 3:1")
			awaitRefusal(t, sim, group)
			upgraded := migrate(group)
			heal()
			upgraded.Say(alice, "/match @bob 3:2")
			// The supergroup is greeted, because the basic group was not.
			answers := slices.DeleteFunc(awaitAnswers(t, upgraded, 3), isGreeting)
			if len(answers) != 2 {
				t.Fatalf("the answers are %+v", answers)
			}
			for i, want := range []string{"Alice +16 → 1516", "Alice +15 → 1531"} {
				if got := visible(answers[i]); !strings.Contains(got, want) ||
					!strings.Contains(got, fmt.Sprintf("Match #%d", i+1)) {
					t.Errorf("answer %d:\n%s\nwant match #%d and %s", i+1, got, i+1, want)
				}
			}
			equal(t, answers[0].ReplyTo, 0, "what the answer to a message of the old group replies to")
			awaitSettled(t, sim, pool, upgraded)
			if n := count(t, pool, `SELECT count(*) FROM chats`); n != chats+1 {
				t.Errorf("there are %d more chats, want 1", n-chats)
			}
			if n := count(t, pool, `SELECT count(*) FROM chat_aliases WHERE telegram_chat_id = $1`, group.ID()); n != 1 {
				t.Error("the old id is not an alias")
			}
		})
	}
}

// TestTokenNeverShows checks that the token appears neither in the bot's output nor in the outbox
// nor in a dead letter when requests to several methods fail in different ways.
func TestTokenNeverShows(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	page := "<html>/bot" + sim.Token() + "/ is not here</html>"
	for method, kind := range map[string]botsim.FaultKind{
		"getMe": botsim.ServerError, "getMyCommands": botsim.CutBefore, "getUpdates": botsim.WrongAnswer, "sendMessage": botsim.CutAfter,
	} {
		sim.Fault(botsim.Fault{Kind: kind, Method: method, Times: 1, Body: page})
	}
	alice := sim.User("alice")
	group := sim.Group("Chess", alice, sim.User("bob"))
	sim.Fault(botsim.Fault{
		Kind: botsim.Reject, Method: "sendMessage", Skip: 2, Times: 1,
		Description: "Bad Request: message is too long, no /bot" + sim.Token() + "/sendMessage",
	})
	for i := range 3 {
		group.Say(alice, fmt.Sprintf("/match @bob 3:%d", i))
	}
	bot := launch(t, environment(sim, url), "run")
	for _, method := range []string{"getMe", "getMyCommands", "getUpdates", "sendMessage"} {
		awaitFailure(t, sim, bot, method)
	}
	eventually(t, "a dead letter quotes Telegram", func() bool {
		return count(t, pool,
			`SELECT count(*) FROM dead_letters WHERE last_error LIKE '%Bad Request: message is too long, no /bot%'`) == 1
	})
	// During the shutdown, every poll and every message fails.
	sim.Fault(botsim.Fault{Kind: botsim.CutBefore, Match: func(c botsim.Call) bool {
		return c.Method == "getUpdates" || c.Method == "sendMessage"
	}})
	if code, _ := bot.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkNoToken(t, sim, pool, bot)
}

// faulted returns the calls of a method that hit a fault.
func faulted(sim *botsim.Server, method string) []botsim.Call {
	return slices.DeleteFunc(sim.CallsOf(method), func(c botsim.Call) bool { return c.Fault == "" })
}

// awaitFailure waits until a call of the method has failed and the bot has logged it.
func awaitFailure(t *testing.T, sim *botsim.Server, bot *process, method string) {
	t.Helper()
	eventually(t, "the bot logs a failure of "+method, func() bool {
		return len(faulted(sim, method)) > 0 && strings.Contains(bot.output.String(), method+": ")
	})
}

// checkNoToken checks that the token is neither in the bot's output nor in the outbox nor in a dead
// letter.
func checkNoToken(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, bot *process) {
	t.Helper()
	_, secret, _ := strings.Cut(sim.Token(), ":")
	if strings.Contains(bot.output.String(), secret) {
		t.Error("the output contains the token")
	}
	if n := count(t, pool, `SELECT count(*) FROM outbox o WHERE strpos(o::text, $1) > 0`, secret); n != 0 {
		t.Error("the outbox contains the token")
	}
	if n := count(t, pool, `
		SELECT count(*) FROM dead_letters d
		WHERE strpos(d.last_error || encode(d.payload, 'escape'), $1) > 0`, secret); n != 0 {
		t.Error("a dead letter contains the token")
	}
}
