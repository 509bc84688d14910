package botsim_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// sendText calls sendMessage. An error means that the connection was closed without a response.
func sendText(t *testing.T, bot *client, chat *botsim.Chat, text string) (reply, error) {
	t.Helper()
	return bot.send(testContext(t), "sendMessage", fields{"chat_id": chat.ID(), "text": text})
}

func lastCall(t *testing.T, s *botsim.Server) botsim.Call {
	t.Helper()
	calls := s.Calls()
	return calls[len(calls)-1]
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	other := s.Group("Other", alice)
	s.Fault(botsim.Fault{Kind: botsim.TooManyRequests, ChatID: group.ID(), RetryAfter: 7, Times: 1})
	params := fields{"chat_id": group.ID(), "text": "x"}
	bot.want(t, "sendMessage", fields{"chat_id": other.ID(), "text": "x"}, nil)
	r := bot.refused(t, "sendMessage", params, http.StatusTooManyRequests, "Too Many Requests: retry after 7")
	if r.Parameters["retry_after"] != float64(7) || len(group.BotMessages()) != 0 {
		t.Errorf("parameters = %v, %d messages", r.Parameters, len(group.BotMessages()))
	}
	if call := lastCall(t, s); call.Fault != "TooManyRequests" || call.Delivered || call.Status != 429 {
		t.Errorf("record = %+v", call)
	}
	bot.want(t, "sendMessage", params, nil)
}

func TestServerError(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	remove := s.Fault(botsim.Fault{Kind: botsim.ServerError, Method: "sendMessage"})
	r, err := sendText(t, bot, group, "x")
	if err != nil || r.Status != http.StatusBadGateway || !strings.HasPrefix(r.Raw, "<html>") {
		t.Errorf("response =  %+v, %v", r, err)
	}
	bot.want(t, "getMe", nil, nil)
	remove()
	if r, err = sendText(t, bot, group, "x"); err != nil || !r.OK {
		t.Errorf("after removal = %+v, %v", r, err)
	}
	if n := len(group.BotMessages()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	s.Fault(botsim.Fault{Kind: botsim.ServerError, Status: 503, Body: "busy", Times: 1})
	if r, err = sendText(t, bot, group, "x"); err != nil || r.Status != 503 || r.Raw != "busy" {
		t.Errorf("response =  %+v, %v", r, err)
	}
}

func TestCutBeforeAndAfterTheEffect(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	for kind, effect := range map[botsim.FaultKind]int{botsim.CutBefore: 0, botsim.CutAfter: 1} {
		before := len(group.BotMessages())
		s.Fault(botsim.Fault{Kind: kind, Times: 1})
		if r, err := sendText(t, bot, group, "x"); err == nil {
			t.Errorf("%s: got a response: %+v", kind, r)
		}
		if n := len(group.BotMessages()) - before; n != effect {
			t.Errorf("%s: %d messages, want %d", kind, n, effect)
		}
		call := lastCall(t, s)
		if call.Delivered != (effect == 1) || call.Status != 0 || call.Fault != kind.String() || !call.Done {
			t.Errorf("%s: record = %+v", kind, call)
		}
	}
}

func TestCutAroundConfirmation(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	group.Say(alice, "x")
	id := bot.updates(t, fields{})[0].ID
	s.Fault(botsim.Fault{Kind: botsim.CutBefore, Method: "getUpdates", Times: 1})
	if _, err := bot.send(testContext(t), "getUpdates", fields{"offset": id + 1}); err == nil || s.Pending() != 1 {
		t.Errorf("cut before: %v, %d pending", err, s.Pending())
	}
	s.Fault(botsim.Fault{Kind: botsim.CutAfter, Method: "getUpdates", Times: 1})
	if _, err := bot.send(testContext(t), "getUpdates", fields{"offset": id + 1}); err == nil || s.Pending() != 0 {
		t.Errorf("cut after: %v, %d pending", err, s.Pending())
	}
}

func TestDelaysAndSlowAnswers(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	s.Fault(botsim.Fault{Kind: botsim.Delay, Delay: 50 * time.Millisecond, Times: 1})
	began := time.Now()
	if r, err := sendText(t, bot, group, "x"); err != nil || !r.OK || time.Since(began) < 50*time.Millisecond {
		t.Errorf("response after %s: %+v, %v", time.Since(began), r, err)
	}
	s.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Delay: time.Hour, Times: 1})
	ctx, giveUp := context.WithCancel(testContext(t))
	got := bot.later(ctx, "sendMessage", fields{"chat_id": group.ID(), "text": "slow"})
	if _, err := group.WaitBot(testContext(t), 2); err != nil {
		t.Fatal(err)
	}
	giveUp()
	if r := receive(t, got); r.Status != 0 {
		t.Errorf("got a response: %+v", r)
	}
	s.Close() // does not wait for the whole delay
}

func TestRejectAndWrongAnswer(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	s.Fault(botsim.Fault{
		Kind: botsim.Reject, Status: 400, Description: "Bad Request: CHAT_WRITE_FORBIDDEN", Times: 1, Name: "muted",
		Parameters: map[string]any{"migrate_to_chat_id": -5},
	})
	r := bot.refused(t, "sendMessage", fields{"chat_id": group.ID(), "text": "x"}, 400, "Bad Request: CHAT_WRITE_FORBIDDEN")
	if r.Parameters["migrate_to_chat_id"] != float64(-5) || lastCall(t, s).Fault != "muted" {
		t.Errorf("response =  %+v, record = %+v", r, lastCall(t, s))
	}
	s.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":"?"}`, Times: 1})
	r = bot.must(t, "sendMessage", fields{"chat_id": group.ID(), "text": "x"})
	if string(r.Result) != `"?"` || len(group.BotMessages()) != 1 {
		t.Errorf("response =  %+v, %d messages", r, len(group.BotMessages()))
	}
}

func TestSkipTimesAndMatch(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	s.Fault(botsim.Fault{
		Kind: botsim.Reject, Skip: 1, Times: 2,
		Match: func(c botsim.Call) bool { return c.Params["text"] != "innocent" },
	})
	var statuses []int
	for _, text := range []string{"a", "b", "innocent", "c", "d"} {
		r, err := sendText(t, bot, group, text)
		must(t, err)
		statuses = append(statuses, r.Status)
	}
	equal(t, "statuses", statuses, []int{200, 400, 200, 400, 200})
}

func TestHookOrder(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	var before, after []int
	removeBefore := s.OnCall(func(c botsim.Call) {
		if before = append(before, len(group.BotMessages())); c.Params["text"] == "cut me" {
			s.Fault(botsim.Fault{Kind: botsim.CutBefore, Times: 1})
		}
	})
	removeAfter := s.AfterEffect(func(c botsim.Call) {
		if after = append(after, len(group.BotMessages())); c.Done || c.Delivered != (c.Params["text"] == "x") {
			t.Errorf("call after the effect = %+v", c)
		}
	})
	if _, err := sendText(t, bot, group, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := sendText(t, bot, group, "cut me"); err == nil {
		t.Error("the hook's fault was not applied")
	}
	removeBefore()
	removeAfter()
	if _, err := sendText(t, bot, group, "y"); err != nil {
		t.Fatal(err)
	}
	equal(t, "messages before", before, []int{0, 1})
	equal(t, "messages after", after, []int{1, 1})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now), botsim.WithLimits(botsim.Limits{
		Chat:    botsim.Window{N: 2, Per: time.Second},
		Group:   botsim.Window{N: 3, Per: time.Minute},
		Overall: botsim.Window{N: 4, Per: time.Second},
	}))
	private := s.Private(alice)
	send := func(chat *botsim.Chat, want int, retryAfter any) {
		t.Helper()
		r, err := sendText(t, bot, chat, "x")
		if err != nil || r.Status != want || r.Parameters["retry_after"] != retryAfter {
			t.Errorf("response =  %+v, %v; want %d, retry_after %v", r, err, want, retryAfter)
		}
	}
	send(group, 200, nil)
	c.advance(400 * time.Millisecond)
	send(group, 200, nil)
	send(group, 429, 1.0) // second send in this second
	send(private, 200, nil)
	send(private, 200, nil)
	send(private, 429, 1.0) // the bot's fourth send, and the second in this chat
	c.advance(600 * time.Millisecond)
	send(group, 200, nil) // the first send is outside the window
	c.advance(2 * time.Second)
	send(group, 429, 57.0) // third send in this minute
	send(private, 200, nil)
	c.advance(57 * time.Second)
	send(group, 200, nil)
}

func TestWaitsEndWithContextOrServer(t *testing.T) {
	t.Parallel()
	s, _, group, alice := scene(t)
	m := group.Say(alice, "x")
	waits := map[string]func(context.Context) error{
		"WaitConfirmed": s.WaitConfirmed,
		"WaitBot":       func(ctx context.Context) error { _, err := group.WaitBot(ctx, 1); return err },
		"WaitEdits":     func(ctx context.Context) error { _, err := group.WaitEdits(ctx, m.ID, 1); return err },
		"WaitAnswer":    func(ctx context.Context) error { _, err := s.WaitAnswer(ctx, "1"); return err },
	}
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	for name, wait := range waits {
		if err := wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v", name, err)
		}
	}
	s.Close()
	for name, wait := range waits {
		if err := wait(testContext(t)); !errors.Is(err, botsim.ErrClosed) {
			t.Errorf("%s on a closed server = %v", name, err)
		}
	}
}
