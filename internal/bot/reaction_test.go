package bot

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
)

// react reports a result in a chat and acknowledges it. It returns the failure, nil if there was none.
func (p *post) react(t *testing.T, chat *botsim.Chat) *outbox.Failure {
	t.Helper()
	m := chat.Say(p.alice, "/match @bob 3:1")
	err := p.sender.React(testContext(t), chat.ID(), int64(m.ID), atOnce)
	var f *outbox.Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatalf("an error of another type: %v", err)
	}
	if shown, _ := chat.Message(m.ID); (shown.Reaction == acknowledgement) != (f == nil) {
		t.Errorf("the reaction is %q, with the failure %v", shown.Reaction, f)
	}
	return f
}

func TestReact(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for range 2 {
		if f := p.react(t, p.group); f != nil {
			t.Error(f)
		}
	}
	if c := p.sim.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
	if text := p.logged.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
}

// TestReactionRefused: what Telegram refused once is not tried again for a day: in the chat, or in all chats if the server does
// not know the method. Nothing is logged.
func TestReactionRefused(t *testing.T) {
	t.Parallel()
	reject := func(status int, description string) func(*post) {
		return func(p *post) {
			p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "setMessageReaction", Status: status, Description: description, Times: 1})
		}
	}
	for name, tc := range map[string]struct {
		refuse     func(*post)
		everywhere bool
	}{
		"reactions are disabled": {func(p *post) { p.group.DisableReactions() }, false},
		"message gone":           {reject(400, "Bad Request: message to react not found"), false},
		"no right":               {reject(400, "Bad Request: not enough rights"), false},
		"upgraded":               {reject(400, "Bad Request: group chat was upgraded to a supergroup chat"), false},
		"kicked":                 {reject(403, "Forbidden: bot was kicked from the supergroup chat"), false},
		"no such method":         {reject(404, "Not Found"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			now := time.Now()
			p.sender.noReactions.now = func() time.Time { return now }
			tc.refuse(p)
			if f := p.react(t, p.group); f == nil || f.Class != outbox.Rejected {
				t.Errorf("refused: %+v", f)
			}
			now = now.Add(refusalKept - time.Second)
			if f := p.react(t, p.group); f == nil || f.Class != outbox.Rejected {
				t.Errorf("within the day: %+v", f)
			}
			other := p.sim.Group("Other", p.alice)
			if f := p.react(t, other); (f != nil) != tc.everywhere {
				t.Errorf("in another chat: %+v", f)
			}
			want := 2
			if tc.everywhere {
				want = 1
			}
			if n := p.sim.CallCount("setMessageReaction"); n != want {
				t.Errorf("%d requests, want %d", n, want)
			}
			now = now.Add(time.Second)
			if f := p.react(t, p.group); (f == nil) == (name == "reactions are disabled") || p.sim.CallCount("setMessageReaction") != want+1 {
				t.Errorf("after a day: %+v", f)
			}
			if m := p.mustSend(t, hello(t, p.group.ID())); m.ID == 0 {
				t.Error("no messages any more")
			}
			if text := p.logged.String(); text != "" {
				t.Errorf("logged: %s", text)
			}
		})
	}
}

// TestReactionFails: other failures are no refusals. A rate limit holds in that chat for as long as Telegram asks.
func TestReactionFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault botsim.Fault
		class outbox.Class
		retry time.Duration
	}{
		"limited":      {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 700}, outbox.RateLimited, 700 * time.Second},
		"no answer":    {botsim.Fault{Kind: botsim.CutAfter}, outbox.Ambiguous, 0},
		"server error": {botsim.Fault{Kind: botsim.Reject, Status: 500, Description: "Internal Server Error"}, outbox.Unreachable, 0},
		"proxy":        {botsim.Fault{Kind: botsim.ServerError, Status: 403, Body: "<html>"}, outbox.Unreachable, 0},
		"token":        {botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"}, outbox.Unauthorized, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			now := time.Now()
			p.sender.noReactions.now = func() time.Time { return now }
			tc.fault.Method = "setMessageReaction"
			remove := p.sim.Fault(tc.fault)
			m := p.group.Say(p.alice, "/match @bob 3:1")
			err := p.sender.React(testContext(t), p.group.ID(), int64(m.ID), atOnce)
			var f *outbox.Failure
			if !errors.As(err, &f) || f.Class != tc.class || f.RetryAfter != tc.retry {
				t.Errorf("%+v", err)
			}
			remove()
			if tc.retry > 0 {
				before := p.sim.CallCount("setMessageReaction")
				if f := p.react(t, p.group); f == nil || p.sim.CallCount("setMessageReaction") != before {
					t.Errorf("before the time: %+v", f)
				}
				now = now.Add(tc.retry)
			}
			if f := p.react(t, p.group); f != nil {
				t.Error(f)
			}
			if f := p.react(t, p.sim.Group("Other", p.alice)); f != nil {
				t.Error(f)
			}
		})
	}
}
