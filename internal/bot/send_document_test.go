package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// fakeExports writes the export of a group. If write is nil, the export is a few bytes.
type fakeExports struct{ write func(io.Writer) error }

func (e fakeExports) Export(_ context.Context, _ ranking.ExternalChatID, _ string, w io.Writer) error {
	if e.write != nil {
		return e.write(w)
	}
	_, err := io.WriteString(w, "PK export")
	return err
}

func (fakeExports) MyData(_ context.Context, who command.Person, w io.Writer) error {
	_, err := fmt.Fprintf(w, "data of %d %s", who.ID, who.Username)
	return err
}

func exported(title string) ranking.ExportedGroup {
	return ranking.ExportedGroup{Chat: -100, Title: title, TimeZone: "Pacific/Kiritimati"}
}

// TestSendDocument checks that an export arrives as a document, in a chat that gets notified. Its
// name has the title of the group, and the day in the zone of the group.
func TestSendDocument(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	private := p.sim.Private(p.alice)
	made := 0
	p.sender.WithExports(fakeExports{func(w io.Writer) error {
		made++
		_, err := io.WriteString(w, strings.Repeat("x", made))
		return err
	}})
	for title, want := range map[string]string{
		"Table tennis":                  "elobot-Table-tennis-",
		"../..\\ <Клуб №1>\u202e 🏓.exe": "elobot-Клуб-1-exe-",
		"🏓":                             "elobot-",
		strings.Repeat("ж", 128):        "elobot-" + strings.Repeat("ж", 40) + "-",
	} {
		m := messageOf(t, private.ID(), exported(title))
		m.Private = true
		sent := p.mustSend(t, m)
		d := sent.Document
		day := p.sender.client.Now().In(ranking.Display{TimeZone: "Pacific/Kiritimati"}.Zone()).Format("2006-01-02")
		if d == nil || d.Name != want+day+".zip" || len(d.Content) != made || sent.Silent || sent.ReplyTo != 0 {
			t.Errorf("%q: %+v, document %+v", title, sent, d)
		}
		if !strings.Contains(sent.Text, "spreadsheets") {
			t.Errorf("the caption is %q", sent.Text)
		}
	}
	equal(t, p.logged.String(), "", "logged")
}

// TestDocumentFailures checks what the outbox learns if a document cannot be made or sent.
func TestDocumentFailures(t *testing.T) {
	t.Parallel()
	fault := func(f botsim.Fault) func(*post) {
		f.Method = "sendDocument"
		return func(p *post) { p.sim.Fault(f) }
	}
	writes := func(write func(io.Writer) error) func(*post) {
		return func(p *post) { p.sender.WithExports(fakeExports{write}) }
	}
	for name, tc := range map[string]struct {
		set  func(*post)
		want outbox.FailureKind
	}{
		"blocked":          {func(p *post) { p.sim.Private(p.alice).Kick() }, outbox.Forbidden},
		"rate limited":     {fault(botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 7}), outbox.RateLimited},
		"perhaps sent":     {fault(botsim.Fault{Kind: botsim.CutAfter}), outbox.Ambiguous},
		"a proxy's limit":  {fault(botsim.Fault{Kind: botsim.ServerError, Status: 413}), outbox.Rejected},
		"a bad gateway":    {fault(botsim.Fault{Kind: botsim.ServerError}), outbox.Ambiguous},
		"no database":      {writes(func(io.Writer) error { return errors.New("no database") }), outbox.Unreachable},
		"half an export":   {writes(func(w io.Writer) error { _, _ = io.WriteString(w, "PK"); return errors.New("lost") }), outbox.Unreachable},
		"a panic":          {writes(func(io.Writer) error { panic("bug") }), outbox.Rejected},
		"no such source":   {func(p *post) { p.sender.exports = nil }, outbox.Unreachable},
		"of a gone sender": {func(p *post) { p.sim.Private(p.alice).NotStarted() }, outbox.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.sender.WithExports(fakeExports{})
			m := messageOf(t, p.sim.Private(p.alice).ID(), exported("Club"))
			tc.set(p)
			_, err := p.sender.Send(testContext(t), m, atOnce)
			if f, ok := errors.AsType[*outbox.Failure](err); !ok || f.Kind != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestTextInsteadOfDocument checks that a text says why a document is not sent.
func TestTextInsteadOfDocument(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.sender.WithExports(fakeExports{func(w io.Writer) error {
		block := make([]byte, 1<<20)
		for {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
	}})
	send := func(want string) {
		t.Helper()
		sent := p.mustSend(t, answering(messageOf(t, p.group.ID(), exported("Club")), 3))
		if sent.Document != nil || !strings.Contains(sent.Text, want) {
			t.Errorf("got %+v, want %q", sent, want)
		}
	}
	send("too large for Telegram")
	p.sender.WithExports(fakeExports{})
	p.group.AllowDocuments(false)
	send("I may not send files here")
	p.group.Promote(p.sim.Bot())
	if sent := p.mustSend(t, messageOf(t, p.group.ID(), exported("Club"))); string(sent.Document.Content) != "PK export" {
		t.Errorf("got %+v", sent)
	}
}

// TestNotStarted checks that the answer to a press leads to the private chat with the bot, and says
// what to do if Telegram refuses the link.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for _, refused := range []bool{false, true} {
		if refused {
			p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: "Bad Request: URL_INVALID", Times: 1})
		}
		id := p.sim.Press(p.alice, p.group.Say(p.alice, "x"), "data")
		m := messageOf(t, p.group.ID(), ranking.NotStarted{})
		m.Action, m.Row.Button = outbox.CallbackAnswer, id
		if _, err := p.sender.Send(testContext(t), m, atOnce); err != nil {
			t.Fatal(err)
		}
		answer, err := p.sim.WaitAnswer(testContext(t), id)
		must(t, err)
		opens := answer.URL == "https://t.me/elo_bot?start=file" && answer.Text == ""
		says := answer.URL == "" && strings.HasPrefix(answer.Text, "I can’t write to you yet.")
		if opens == refused || says != refused {
			t.Errorf("got %+v", answer)
		}
	}
}
