package bot

import (
	"errors"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// wantsTables returns a message with a ranking, to a chat with tables turned on.
func wantsTables(t testing.TB, to int64) outbox.Message {
	t.Helper()
	m := messageOf(t, to,
		stats.RankingPage{Title: "Chess", Page: 1, Total: 1, Rows: []stats.Row{{Position: 1, Elo: 1516, Won: 1}}})
	m.Tables = true
	return m
}

// methods returns the methods of all requests that send or edit texts and tables, in order.
func (p *post) methods() (all []string) {
	for _, c := range p.sim.Calls() {
		if c.Method == "sendMessage" || c.Method == "sendRichMessage" || c.Method == "editMessageText" {
			all = append(all, c.Method)
		}
	}
	return all
}

func TestSendTable(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	request := p.group.Say(p.alice, "/ranking")
	m := p.mustSend(t, answering(wantsTables(t, p.group.ID()), request.ID))
	if !m.Rich || !m.Silent || m.ReplyTo != request.ID {
		t.Errorf("message %+v", m)
	}
	edit := wantsTables(t, p.group.ID())
	edit.Action, edit.Target = outbox.Page, int64(m.ID)
	edit.Items[0].Payload = []byte(`{"page":2,"total":11,"rows":[{"position":11,"elo":1400}]}`)
	if edited := p.mustSend(t, edit); !edited.Rich || edited.Edits != 1 || len(edited.Buttons) == 0 {
		t.Errorf("edited to %+v", edited)
	}
	p.mustSend(t, edit) // not modified is not a refusal
	edit.Tables = false
	if edited := p.mustSend(t, edit); edited.Rich {
		t.Error("the table stays where the chat wants text")
	}
}

// TestTableRefused checks that the sender sends the text immediately, and only once, if Telegram
// refuses a table. It remembers the refusal for a day: for the chat, or for all chats if the server
// does not know the method.
func TestTableRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status     int
		everywhere bool
	}{"bad request": {400, false}, "no such method": {404, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			now := time.Now()
			p.sender.refusals.Now = func() time.Time { return now }
			refuse := func(method string) {
				p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: method, Status: tc.status,
					Description: "Not Found: method not found", Times: 1})
			}
			refuse("sendRichMessage")
			receipt, err := p.sender.Send(testContext(t), wantsTables(t, p.group.ID()), atOnce)
			if err != nil || len(p.group.BotMessages()) != 1 || p.group.BotMessages()[0].Rich {
				t.Fatalf("%+v, %v, messages %+v", receipt, err, p.group.BotMessages())
			}
			if m := p.mustSend(t, wantsTables(t, p.group.ID())); m.Rich {
				t.Error("the refusal is forgotten")
			}
			other := p.sim.Group("Other", p.alice)
			if m := p.mustSend(t, wantsTables(t, other.ID())); m.Rich == tc.everywhere {
				t.Errorf("in another chat, a table was sent: %t", m.Rich)
			}
			now = now.Add(refusalKept)
			m := p.mustSend(t, wantsTables(t, p.group.ID()))
			if !m.Rich {
				t.Error("the refusal is remembered for longer than a day")
			}
			refuse("editMessageText")
			edit := wantsTables(t, p.group.ID())
			edit.Action, edit.Target = outbox.Page, int64(m.ID)
			edit.Items[0].Payload = []byte(`{"page":2,"total":11,"rows":[{"position":11,"elo":1400}]}`)
			if receipt, err := p.sender.Send(testContext(t), edit, atOnce); err != nil {
				t.Errorf("%+v, %v", receipt, err)
			}
			if edited, _ := p.group.Message(m.ID); edited.Rich || edited.Edits != 1 {
				t.Errorf("edited to %+v", edited)
			}
			equal(t, len(p.group.BotMessages()), 3, "messages")
		})
	}
}

// TestTableNotAtFault checks that text is sent only if Telegram refuses the content of the table. A
// refusal is remembered only if Telegram accepts the text.
func TestTableNotAtFault(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault botsim.Fault
		kind  outbox.FailureKind
		want  []string // methods
	}{
		"limited":   {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 7}, outbox.RateLimited, []string{"sendRichMessage"}},
		"no answer": {botsim.Fault{Kind: botsim.CutAfter}, outbox.Ambiguous, []string{"sendRichMessage"}},
		"muted": {botsim.Fault{Kind: botsim.Reject, Status: 400, Description: "Bad Request: not enough rights to send text messages to the chat"},
			outbox.Forbidden, []string{"sendRichMessage"}},
		"refused both": {botsim.Fault{Kind: botsim.Reject, Status: 400, Description: "Bad Request: no"}, outbox.Failed, []string{"sendRichMessage", "sendMessage"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			remove := p.sim.Fault(tc.fault)
			receipt, err := p.sender.Send(testContext(t), wantsTables(t, p.group.ID()), atOnce)
			var failure *outbox.Failure
			if !errors.As(err, &failure) || telegram.Failure(err).Kind != tc.kind {
				t.Errorf("%+v, %v", receipt, err)
			}
			remove()
			if got := p.methods(); len(got) != len(tc.want) || got[len(got)-1] != tc.want[len(tc.want)-1] {
				t.Errorf("requests: %q, want %q", got, tc.want)
			}
			if m := p.mustSend(t, wantsTables(t, p.group.ID())); !m.Rich {
				t.Error("the failure is remembered as a refusal")
			}
		})
	}
}
