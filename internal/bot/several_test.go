package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"elobot/internal/botsim"
	"elobot/internal/catalog"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// four returns a message with three results and a refusal.
func (p *post) four(t *testing.T) outbox.Message {
	t.Helper()
	m := messageOf(t, p.group.ID(),
		append(results(12, 3, "Alice", "Bob"), ranking.Refusal{Code: ranking.NotYours, Number: 11})...)
	request := p.group.Say(p.alice, "/match @bob 3:1")
	for i := range m.Items {
		m.Items[i].ReplyTo = int64(request.ID)
	}
	m.Row = m.Items[0]
	return m
}

// send sends a message, and returns the receipt and the delivered message, if any.
func (p *post) send(t *testing.T, m outbox.Message) (outbox.Receipt, botsim.Message, error) {
	t.Helper()
	receipt, err := p.sender.Send(testContext(t), m, atOnce)
	sent, _ := p.sim.Chat(m.ExternalChat).Message(int(receipt.MessageID))
	return receipt, sent, err
}

func TestSeveralAreOneMessage(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	receipt, m, err := p.send(t, p.four(t))
	if err != nil || receipt != (outbox.Receipt{MessageID: int64(m.ID), Covered: 4}) {
		t.Fatalf("%+v, error %v", receipt, err)
	}
	if m.ReplyTo != 0 || len(m.Buttons) > 0 || !m.Silent || !m.NoPreview || strings.Count(m.Text, "\n") != 5 {
		t.Errorf("message %+v", m)
	}
	equal(t, p.sim.CallCount("sendMessage"), 1, "requests")
	equal(t, p.logged.String(), "", "logged")
}

func TestSeveralInATopic(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	forum := p.sim.Forum("Club", p.alice)
	topic := forum.Topic(p.alice, "Results")
	several := messageOf(t, forum.ID(), results(12, 3, "Alice", "Bob")...)
	several.Thread = int64(topic.ID)
	if m := p.mustSend(t, several); m.ThreadID != topic.ID || !strings.Contains(m.Text, "#14 · ") {
		t.Errorf("message %+v", m)
	}
	forum.CloseTopic(topic.ID)
	receipt, m, err := p.send(t, several)
	if err != nil || receipt.Covered != 3 || m.ThreadID != 0 {
		t.Errorf("%+v, %+v, %v", receipt, m, err)
	}
}

// TestTheFirstIsSentAlone checks that the first item is sent alone if it or the second item cannot
// be merged.
func TestTheFirstIsSentAlone(t *testing.T) {
	t.Parallel()
	card := results(12, 1, "Alice", "Bob")[0]
	for what, c := range map[string]struct {
		first, second notice.Notice
		buttons       bool
	}{
		"a card before a page":   {card, stats.RankingPage{}, true},
		"a page before a card":   {stats.RankingPage{}, card, false},
		"a greeting":             {Greeting{}, card, false},
		"a help with a button":   {Help{Private: true}, card, true},
		"a command for a group":  {GroupOnly{Command: "match"}, card, true},
		"a refusal before help":  {ranking.Refusal{Code: ranking.NotYours, Number: 1}, Help{}, false},
		"a card before nonsense": {card, broken{}, true},
	} {
		p := newPost(t)
		several := answering(messageOf(t, p.group.ID(), c.first, c.second), p.group.Say(p.alice, "/x").ID)
		receipt, m, err := p.send(t, several)
		if err != nil || receipt.Covered != 1 || m.ReplyTo == 0 || (len(m.Buttons) > 0) != c.buttons {
			t.Errorf("%s: %+v, %+v, %v", what, receipt, m, err)
		}
		if want := mustRender(t, c.first).html; m.HTML != want {
			t.Errorf("%s: the text is %q, want %q", what, m.HTML, want)
		}
	}
}

// broken is a notice that cannot be read. It is stored as a ranking.Joined.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return json.Marshal([]string{"joined"}) }

// TestSeveralThatAreRefused checks that the first item of a merged message is sent alone if
// Telegram rejects the message.
func TestSeveralThatAreRefused(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	several := p.four(t)
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: "Bad Request: of tomorrow", Times: 1})
	receipt, m, err := p.send(t, several)
	if err != nil || receipt != (outbox.Receipt{MessageID: int64(m.ID), Covered: 1}) {
		t.Fatalf("%+v, error %v", receipt, err)
	}
	if m.HTML != mustRender(t, results(12, 1, "Alice", "Bob")[0]).html || len(m.Buttons) != 1 || m.ReplyTo == 0 {
		t.Errorf("message %+v", m)
	}
	logged := p.logged.String()
	for _, want := range []string{"level=ERROR", "kind=match_recorded", "operation_id=1", "covered=4", "of tomorrow"} {
		if !strings.Contains(logged, want) {
			t.Errorf("no %s is logged: %s", want, logged)
		}
	}
	if strings.Contains(logged, "Alice") {
		t.Errorf("logged: %s", logged)
	}
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: "Bad Request: of tomorrow"})
	receipt, _, err = p.send(t, several)
	if failure := failureOf(t, err); failure.Kind != outbox.Failed || receipt != (outbox.Receipt{Covered: 1}) {
		t.Errorf("%+v, kind %s: %v", receipt, failure.Kind, err)
	}
	equal(t, p.sim.CallCount("sendMessage"), 4, "requests")
}

// TestFailuresOfSeveral checks that a failure applies to all items of a merged message, and that
// none is sent alone, unless Telegram refuses the message's content.
func TestFailuresOfSeveral(t *testing.T) {
	t.Parallel()
	for kind, f := range map[outbox.FailureKind]botsim.Fault{
		outbox.RateLimited:  {Kind: botsim.TooManyRequests, RetryAfter: 7},
		outbox.Ambiguous:    {Kind: botsim.CutAfter},
		outbox.Unreachable:  {Kind: botsim.Reject, Status: 500, Description: "Internal Server Error"},
		outbox.Unauthorized: {Kind: botsim.Reject, Status: 401, Description: "Unauthorized"},
		outbox.Forbidden:    {Kind: botsim.Reject, Status: 403, Description: "Forbidden: bot was kicked from the supergroup chat"},
		outbox.Failed:       {Kind: botsim.Reject, Status: 409, Description: "Conflict"},
		outbox.Migrated: {
			Kind: botsim.Reject, Description: "Bad Request: group chat was upgraded to a supergroup chat",
			Parameters: map[string]any{"migrate_to_chat_id": -1001234},
		},
	} {
		p := newPost(t)
		p.sim.Fault(f)
		receipt, _, err := p.send(t, p.four(t))
		if failure := failureOf(t, err); failure.Kind != kind || receipt != (outbox.Receipt{Covered: 4}) {
			t.Errorf("%s: %+v, kind %s: %v", kind, receipt, failure.Kind, err)
		}
		equal(t, p.sim.CallCount("sendMessage"), 1, "%s: requests", kind)
	}
}

func TestSeveralThatCannotBeParsedAreSentAsPlainText(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: "Bad Request: can't parse entities: once", Times: 1})
	receipt, m, err := p.send(t, p.four(t))
	if err != nil || receipt.Covered != 4 || m.ParseMode != "" || strings.Contains(m.Text, "<") ||
		!strings.Contains(m.Text, "#14 · ") {
		t.Errorf("%+v, %+v, %v", receipt, m, err)
	}
}

func TestEditOfSeveral(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	cards := results(41, 3, "Alice", "Bob")
	sent := p.mustSend(t, messageOf(t, p.group.ID(), cards...))
	cards[1] = undoneCard()
	edit := p.editOf(t, sent.ID, cards...)
	edit.Row = itemOf(t, undoneCard())
	edit.Row.ID = 77
	m := p.mustSend(t, edit)
	if m.ID != sent.ID || m.Edits != 1 || len(m.Buttons) > 0 || !m.NoPreview || strings.Count(m.Text, " · undone") != 1 {
		t.Errorf("message %+v", m)
	}
	if want, _ := merge(edit, wordsFor("")); m.HTML != want.html {
		t.Errorf("the text is %q, want %q", m.HTML, want.html)
	}
	if m := p.mustSend(t, edit); m.Edits != 1 { // not modified
		t.Errorf("message %+v", m)
	}
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: "Bad Request: of tomorrow", Times: 1})
	if _, _, err := p.send(t, edit); failureOf(t, err).Kind != outbox.Failed {
		t.Errorf("refused: %v", err)
	}
	p.group.Delete(m)
	if _, _, err := p.send(t, edit); failureOf(t, err).Kind != outbox.Obsolete {
		t.Errorf("deleted: %v", err)
	}
	equal(t, p.sim.CallCount("sendMessage"), 1, "messages sent")
	edit = p.editOf(t, p.sendCard(t).ID, undoneCard())
	edit.Target = 0
	if _, _, err := p.send(t, edit); failureOf(t, err).Kind != outbox.Obsolete {
		t.Errorf("no message: %v", err)
	}
}

// TestAnEditNamesAllThatWereNamed checks that a full message has room to correct or undo all its
// results.
func TestAnEditNamesAllThatWereNamed(t *testing.T) {
	t.Parallel()
	team := []string{"Ann", "Ben", "Cem", "Dora"}
	for i, size := range slices.Repeat([]int{1, 4}, len(catalog.All())) {
		w := words{Language: catalog.All()[i/2]}
		card := func(number, change int) ranking.MatchRecorded {
			return ranking.MatchRecorded{Number: number,
				Sides: [2]ranking.Side{members(3, change, team[:size]...), members(1, -change, team[:size]...)}}
		}
		var cards []notice.Notice
		for i := range 70 {
			cards = append(cards, card(1000+i, 1))
		}
		m := messageOf(t, 1, cards...)
		_, n := merge(m, w)
		if n < 15 || n == 70 {
			t.Fatalf("%d of 70 are sent together", n)
		}
		for what, change := range map[string]func(*ranking.MatchRecorded){
			"corrected": func(c *ranking.MatchRecorded) {
				*c = card(c.Number, 32)
				c.Sides[0].Score, c.Sides[1].Score, c.Was = 999, 998, &ranking.OldScore{Score: [2]int{997, 999}}
			},
			"undone":    func(c *ranking.MatchRecorded) { c.Undone = true },
			"unchanged": func(*ranking.MatchRecorded) {},
		} {
			var now []notice.Notice
			for _, notice := range cards[:n] {
				c := notice.(ranking.MatchRecorded)
				change(&c)
				now = append(now, c)
			}
			edit := messageOf(t, 1, now...)
			edit.Action = outbox.Edit
			out, _ := merge(edit, w)
			if lines := strings.Count(out.html, "#1"); lines != n || utf16Length(plain(out.html)) > maxText {
				t.Errorf("%s, %s: %d of %d results are named in %s", w.Tag(), what, lines, n, out.html)
			}
		}
	}
}

// TestAnEditThatHasNoRoomCounts checks that an edit counts the results that do not fit.
func TestAnEditThatHasNoRoomCounts(t *testing.T) {
	t.Parallel()
	edit := messageOf(t, 1, results(100, 60, longestNames[0], longestNames[1])...)
	edit.Action = outbox.Edit
	out, _ := merge(edit, wordsFor(""))
	lines := strings.Count(out.html, " · ")
	if want := fmt.Sprintf("\n…and <b>%d more</b>. All results count", 60-lines); lines == 0 ||
		!strings.Contains(out.html, want) {
		t.Errorf("%d results are named in %s", lines, out.html)
	}
}

var idPattern = regexp.MustCompile(`70\d{4}`)

// TestEverythingIsSentOnce checks that each waiting item that can be read is sent exactly once, in
// as many messages as necessary.
func TestEverythingIsSentOnce(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	name := func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"Alice", "R&D", "<b>", "محمد", family}).Draw(t, "name")
	}
	rapid.Check(t, func(rt *rapid.T) {
		var waiting []notice.Notice
		var want, got []string
		for i := range rapid.IntRange(1, 70).Draw(rt, "items") {
			if rapid.IntRange(0, 19).Draw(rt, "unreadable") == 0 {
				waiting = append(waiting, broken{})
				continue
			}
			waiting = append(waiting, drawNotice(rt, 700_000+i, name))
			want = append(want, fmt.Sprint(700_000+i))
		}
		for len(waiting) > 0 {
			m := messageOf(t, group.ID(), waiting...)
			if _, unreadable := waiting[0].(broken); unreadable {
				receipt, err := sender.Send(testContext(t), m, atOnce)
				if failureOf(t, err).Kind != outbox.Rejected || receipt.Covered != 1 {
					rt.Fatalf("%+v, %v", receipt, err)
				}
				waiting = waiting[1:]
				continue
			}
			before := sim.CallCount("sendMessage")
			covered, text := deliverSome(testContext(t), rt, sim, sender, group, m)
			// Some ids are formatted with a comma, as in 700,001.
			text, _, _ = strings.Cut(strings.ReplaceAll(text, "700,", "700"), "\nUndo a match: ")
			got = append(got, idPattern.FindAllString(text, -1)...)
			waiting = waiting[covered:]
			if n := sim.CallCount("sendMessage") - before; n != 1 {
				rt.Fatalf("%d messages", n)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("covered (-want +got):\n%s", diff)
		}
	})
}

// deliverSome is deliver for several items. It returns how many of them the message covers, and its
// text.
func deliverSome(
	ctx context.Context, t fatalizer, sim *botsim.Server, s *Sender, group *botsim.Chat, m outbox.Message,
) (int, string) {
	t.Helper()
	spy := &receipts{Sender: s}
	sent := deliver(ctx, t, sim, spy, group, m)
	if spy.last.Covered < 1 {
		t.Fatalf("%+v", spy.last)
	}
	return spy.last.Covered, sent.Text
}

// receipts is a sender that keeps its last receipt.
type receipts struct {
	*Sender
	last outbox.Receipt
}

func (r *receipts) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	var err error
	r.last, err = r.Sender.Send(ctx, m, begin)
	return r.last, err
}

// TestTheContextEndsBetweenTwoTries checks that, after Telegram has refused the first try, Send
// fails as Unreachable if the context ends before the second try, because no message was sent. If
// the context ends during the second try, Send fails as Ambiguous, because the message may have
// been sent.
func TestTheContextEndsBetweenTwoTries(t *testing.T) {
	t.Parallel()
	for description, covered := range map[string]int{
		"Bad Request: can't parse entities: once": 4, // sent again as plain text
		"Bad Request: of tomorrow":                1, // the first item is sent alone
	} {
		t.Run("before the second: "+description, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			// The log line about the first response comes between the two tries.
			p.sender.log = slog.New(slog.NewTextHandler(writing(cancel), nil))
			p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: description, Times: 1})
			receipt, err := p.sender.Send(ctx, p.four(t), atOnce)
			if failure := failureOf(t, err); failure.Kind != outbox.Unreachable || !errors.Is(err, context.Canceled) {
				t.Errorf("kind %s: %v", failure.Kind, err)
			}
			if n := len(p.sim.CallsOf("sendMessage")); n != 1 || receipt != (outbox.Receipt{Covered: covered}) {
				t.Errorf("%d requests, %+v", n, receipt)
			}
		})
		t.Run("during the second: "+description, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			answered := make(chan struct{})
			p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: description, Times: 1})
			p.sim.OnCall(func(c botsim.Call) {
				if c.ID == 2 {
					cancel()
					<-answered
				}
			})
			receipt, err := p.sender.Send(ctx, p.four(t), atOnce)
			close(answered)
			if failure := failureOf(t, err); failure.Kind != outbox.Ambiguous || !errors.Is(err, context.Canceled) {
				t.Errorf("kind %s: %v", failure.Kind, err)
			}
			equal(t, receipt, outbox.Receipt{Covered: covered}, "receipt")
		})
	}
}

// writing is a writer that calls a function on each write.
type writing func()

func (w writing) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
