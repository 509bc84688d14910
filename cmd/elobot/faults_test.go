package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestOneChatRateLimited: Telegram stops one chat for 5 s. The other chat does not notice, the answers of the first come
// in order afterwards, and a restart does not shorten the wait.
func TestOneChatRateLimited(t *testing.T) {
	t.Parallel()
	const pause = 5 * time.Second
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	stopped, free := sim.Group("Stopped", alice, bob), sim.Group("Free", alice, bob)
	bot := launch(t, environment(sim, url), "run")
	stopped.Say(alice, "/match @bob 3:0")
	free.Say(alice, "/match @bob 3:0")
	awaitAnswers(t, stopped, 1)
	awaitAnswers(t, free, 1)

	sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage", ChatID: stopped.ID(), RetryAfter: 5, Times: 1})
	for i := range 3 {
		stopped.Say(alice, fmt.Sprintf("/match @bob 3:%d", i))
	}
	refused := awaitRefusal(t, sim, stopped)
	begun := time.Now()
	for i := range 3 {
		free.Say(alice, fmt.Sprintf("/match @bob 3:%d", i))
	}
	awaitAnswers(t, free, 4)
	if took := time.Since(begun); took > pause/2 {
		t.Errorf("the other chat has waited %v", took)
	}
	eventually(t, "the pause is written down", func() bool {
		return count(t, pool, `SELECT count(*) FROM chats WHERE frozen_until > now()`) == 1
	})
	bot.kill()
	launch(t, environment(sim, url), "run")
	answers := awaitAnswers(t, stopped, 4)
	if waited := answers[1].Date.Sub(refused.At); waited < pause-time.Second { // dates have no fractions of a second
		t.Errorf("the bot has sent again after %v", waited)
	}
	for i, m := range answers[1:] {
		if want := fmt.Sprintf("3:%d\n", i); !strings.Contains(visible(m), want) {
			t.Errorf("answer %d is not that to %q:\n%s", i+1, want, visible(m))
		}
	}
	for _, call := range sim.CallsOf("sendMessage") {
		if call.ChatID == stopped.ID() && call.At.After(refused.At) && call.At.Before(refused.At.Add(pause)) {
			t.Errorf("there was a request %v after the refusal", call.At.Sub(refused.At))
		}
	}
}

// awaitRefusal waits for the first request for a chat that was answered with 429.
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

// TestTokenNeverShows breaks every method in every way and searches everything that the bot has written.
func TestTokenNeverShows(t *testing.T) {
	t.Parallel()
	for _, kind := range []botsim.FaultKind{botsim.CutBefore, botsim.CutAfter, botsim.ServerError, botsim.WrongAnswer} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			sim := botsim.Start(t)
			url, _ := database(t)
			for _, method := range []string{"getMe", "getMyCommands", "setMyCommands", "getUpdates", "sendMessage"} {
				sim.Fault(botsim.Fault{Kind: kind, Method: method, Times: 1, Body: "<html>no</html>"})
			}
			group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
			group.Say(sim.User("alice"), "/match @bob 3:1")
			bot := launch(t, environment(sim, url), "run")
			awaitAnswers(t, group, 1)
			sim.Fault(botsim.Fault{Kind: botsim.CutBefore}) // and everything while it stops
			if code, _ := bot.stop(t); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for _, method := range []string{"getMe", "getMyCommands", "getUpdates", "sendMessage"} {
				if !strings.Contains(bot.output.String(), method) && method != "sendMessage" {
					t.Errorf("nothing was written about the failure of %s", method)
				}
			}
			checkNoToken(t, sim, bot)
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		sim := botsim.Start(t)
		url, _ := database(t)
		sim.Fault(botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"})
		bot := launch(t, environment(sim, url), "run")
		if code := bot.wait(t); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		if !strings.Contains(bot.output.String(), "BotFather") {
			t.Error("the output does not say what to do")
		}
		checkNoToken(t, sim, bot)
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		sim := botsim.Start(t)
		url, _ := database(t)
		env := append(environment(sim, url), "TELEGRAM_API_URL=http://127.0.0.1:1")
		bot := launch(t, env, "run")
		eventually(t, "the bot says that Telegram does not answer", func() bool {
			return strings.Contains(bot.output.String(), "Telegram does not answer")
		})
		if code, _ := bot.stop(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
		checkNoToken(t, sim, bot)
	})
}

func checkNoToken(t *testing.T, sim *botsim.Server, bot *process) {
	t.Helper()
	_, secret, _ := strings.Cut(sim.Token(), ":")
	if strings.Contains(bot.output.String(), secret) {
		t.Error("the output contains the token")
	}
}
