package bot

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"elobot/internal/botsim"
	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

func itemOf(t testing.TB, n notice.Notice) outbox.Item {
	t.Helper()
	payload, err := json.Marshal(n)
	if err != nil {
		t.Fatalf("encode notice: %v", err)
	}
	kind := "joined"
	if _, unreadable := n.(broken); !unreadable {
		kind = notice.KindOf(n).Name
	}
	return outbox.Item{ID: 1, Kind: kind, Payload: payload, Attempts: 1}
}

func messageOf(t testing.TB, to int64, notices ...notice.Notice) outbox.Message {
	t.Helper()
	m := outbox.Message{Lane: outbox.Lane{Chat: 1}, ExternalChat: to, Action: outbox.Send}
	for i, n := range notices {
		item := itemOf(t, n)
		item.ID += int64(i)
		m.Items = append(m.Items, item)
	}
	m.Row = m.Items[0]
	return m
}

func wordsFor(tag string) words { return words{Language: catalog.For(tag)} }

func mustRender(t testing.TB, n notice.Notice) outgoing {
	t.Helper()
	out, err := render(itemOf(t, n), wordsFor(""))
	if err != nil {
		t.Fatalf("render %+v: %v", n, err)
	}
	return out
}

// throughSimulator sends a notice to a chat and returns the message as people see it. Like
// Telegram, the simulator parses the HTML, which must be strictly valid, and names must stay plain
// text.
func throughSimulator(t testing.TB, n notice.Notice) botsim.Message {
	t.Helper()
	sim, client := startSimulator(t)
	group := sim.Group("Table tennis", sim.User("alice"))
	return sendTo(t, sim, NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler)), group, n)
}

// fatalizer is the part of testing.T and rapid.T that shared helpers call.
type fatalizer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func sendTo(t testing.TB, sim *botsim.Server, s *Sender, group *botsim.Chat, n notice.Notice) botsim.Message {
	t.Helper()
	return deliver(testContext(t), t, sim, s, group, messageOf(t, group.ID(), n))
}

func deliver(
	ctx context.Context, t fatalizer, sim *botsim.Server, s outbox.Sender, group *botsim.Chat, of outbox.Message,
) botsim.Message {
	t.Helper()
	receipt, err := s.Send(ctx, of, atOnce)
	if err != nil {
		t.Fatalf("send %s: %v", of.Row.Payload, err)
	}
	if complaints := sim.Complaints(); len(complaints) > 0 {
		t.Errorf("the simulator complains: %q", complaints)
	}
	m, ok := group.Message(int(receipt.MessageID))
	if !ok {
		t.Fatalf("no message %d", receipt.MessageID)
	}
	if m.ParseMode != "HTML" && !m.Rich {
		t.Errorf("parse mode %q: the markup was not accepted", m.ParseMode)
	}
	checkNames(t, m)
	return m
}

// checkNames checks the length of a message and the names in it, which it finds by their isolates.
// Bold, italic and strikethrough text may contain names, but no other entity may overlap a name.
func checkNames(t fatalizer, m botsim.Message) {
	t.Helper()
	start, units := -1, utf16.Encode([]rune(m.Text))
	for i, u := range units {
		switch string(rune(u)) {
		case isolate:
			if start >= 0 {
				t.Errorf("an isolate inside another one in %q", m.Text)
			}
			start = i
		case endIsolate:
			if start < 0 {
				t.Errorf("an isolate that was not begun ends in %q", m.Text)
			}
			checkEntities(t, m, start, i+1)
			start = -1
		}
	}
	if start >= 0 {
		t.Errorf("an isolate is not ended in %q", m.Text)
	}
	if len(units) > 4096 {
		t.Errorf("the text has %d UTF-16 units", len(units))
	}
}

func checkEntities(t fatalizer, m botsim.Message, from, to int) {
	t.Helper()
	for _, e := range m.Entities {
		overlaps := e.Offset < to && from < e.Offset+e.Length
		if overlaps && e.Type != "bold" && e.Type != "italic" && e.Type != "strikethrough" {
			t.Errorf("the name in %q has become a %s: %q", m.Text, e.Type, m.EntityText(e))
		}
	}
}

func TestUnknownKindIsAnError(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "match", "MATCH_RECORDED", "sticker"} {
		out, err := render(outbox.Item{Kind: kind, Payload: []byte(`{}`)}, wordsFor(""))
		if err == nil {
			t.Errorf("kind %q is rendered as %q", kind, out.html)
		}
	}
}

func TestBrokenPayloadIsAnError(t *testing.T) {
	t.Parallel()
	for _, kind := range noticeKinds() {
		for _, payload := range []string{``, `{`, `[]`, `"text"`, `12`, `{} {}`} {
			out, err := render(outbox.Item{Kind: kind, Payload: []byte(payload)}, wordsFor(""))
			if err == nil {
				t.Errorf("%s %s is rendered as %q", kind, payload, out.html)
			}
		}
	}
	for kind, payload := range map[string]string{
		"match_recorded": `{"number":"one"}`,
		"match_undone":   `{"sides":"two"}`,
		"match_restored": `{"by":"two"}`,
		"match_fixed":    `{"was":7}`,
		"players_merged": `{"undone":["4"]}`,
		"ranking_page":   `{"rows":{}}`,
		"joined":         `{"name":"alice"}`,
		"refusal":        `{"code":1}`,
		"wrong_form":     `{"reason":[]}`,
	} {
		out, err := render(outbox.Item{Kind: kind, Payload: []byte(payload)}, wordsFor(""))
		if err == nil {
			t.Errorf("%s %s is rendered as %q", kind, payload, out.html)
		}
	}
}

func TestWhatCannotBeRenderedIsRejectedWithoutARequest(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	group := sim.Group("g", sim.User("alice"))
	s := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		action  outbox.Action
		item    outbox.Item
		covered int
	}{
		{outbox.Send, outbox.Item{Kind: "joined", Payload: []byte(`{`)}, 1},
		{outbox.Edit, outbox.Item{Kind: "joined", Payload: []byte(`{`)}, 0},
		{outbox.Ensure, outbox.Item{Kind: "ranking_page", Payload: []byte(`{`)}, 0},
		{outbox.CallbackAnswer, outbox.Item{Kind: "joined", Payload: []byte(`{`), Button: "5"}, 0},
		{"of tomorrow", outbox.Item{Kind: "joined", Payload: []byte(`{}`)}, 0},
		{"", outbox.Item{Kind: "joined", Payload: []byte(`{}`)}, 0},
	} {
		m := outbox.Message{ExternalChat: group.ID(), Action: c.action, Items: []outbox.Item{c.item}, Row: c.item, Target: 5}
		receipt, err := s.Send(testContext(t), m, atOnce)
		if failure := failureOf(t, err); failure.Kind != outbox.Rejected || receipt != (outbox.Receipt{Covered: c.covered}) {
			t.Errorf("%s %s: %+v, %v", c.action, c.item.Kind, receipt, err)
		}
	}
	if _, err := s.Send(testContext(t),
		outbox.Message{ExternalChat: group.ID(), Action: outbox.Send}, atOnce); failureOf(t, err).Kind != outbox.Failed {
		t.Errorf("no items: %v", err)
	}
	equal(t, len(sim.Calls()), 0, "requests")
}

// TestEveryKindHasAView checks that each kind of notice that has a text has a view, and there are
// no other views.
func TestEveryKindHasAView(t *testing.T) {
	t.Parallel()
	kinds := noticeKinds()
	for _, kind := range kinds {
		if views[notice.Type(kind)] == nil {
			t.Errorf("%q has no view", kind)
		}
	}
	equal(t, len(views), len(kinds), "views")
}

// noticeKinds returns the kinds of notices that have a text.
func noticeKinds() []string {
	return slices.DeleteFunc(notice.Names(), func(k string) bool { return k == "acknowledged" })
}

func TestEveryReasonHasItsOwnWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{command.NameMatch, command.NameUndo, command.NameRestore, command.NameFix} {
		var reasons []notice.Notice
		for _, r := range constants(t, "../command", ofType("Reason")) {
			reasons = append(reasons, ranking.WrongForm{Command: name, Reason: command.Reason(r), Detail: "x"})
		}
		checkOwnWords(t, ranking.WrongForm{Command: name, Reason: "of tomorrow", Detail: "x"}, reasons)
	}
}

func TestEveryRefusalHasItsOwnWords(t *testing.T) {
	t.Parallel()
	var codes []notice.Notice
	for _, c := range constants(t, "../ranking", ofType("RefusalCode")) {
		codes = append(codes, ranking.Refusal{Code: ranking.RefusalCode(c), Name: "x"})
	}
	checkOwnWords(t, ranking.Refusal{Code: "of tomorrow", Name: "x"}, codes)
}

// checkOwnWords checks that no two notices have the same text, and that none has the fallback text.
func checkOwnWords(t *testing.T, unknown notice.Notice, all []notice.Notice) {
	t.Helper()
	texts := map[string]notice.Notice{mustRender(t, unknown).html: unknown}
	for _, n := range all {
		text := mustRender(t, n).html
		if other, twice := texts[text]; twice {
			t.Errorf("%+v and %+v have the same text: %q", n, other, text)
		}
		texts[text] = n
	}
}

// TestFreeForAllsAreRefusedInOneSentence checks that the answer to a free-for-all is one sentence,
// without a form to copy, because no form fits.
func TestFreeForAllsAreRefusedInOneSentence(t *testing.T) {
	t.Parallel()
	for _, l := range catalog.All() {
		text := words{Language: l}.wrongForm(
			ranking.WrongForm{Command: command.NameMatch, Reason: command.ReasonFreeForAll, Teams: true})
		if strings.IndexAny(text, ".!?\n<") != len(text)-1 {
			t.Errorf("%s: %q", l.Tag(), text)
		}
	}
}

// TestWrongInputNamesTheRightForm checks that the answer to a malformed command shows a correct
// form of the same command. Some faults are left out: a free-for-all has no correct form, a span
// belongs to questions, and nameless guests need another command.
func TestWrongInputNamesTheRightForm(t *testing.T) {
	t.Parallel()
	without := []command.Reason{
		command.ReasonFreeForAll, command.ReasonSpan, command.ReasonNamelessGuest, command.ReasonTooManyStandIns,
	}
	for _, r := range constants(t, "../command", ofType("Reason")) {
		if slices.Contains(without, command.Reason(r)) {
			continue
		}
		wrong := ranking.WrongForm{Command: command.NameMatch, Reason: command.Reason(r), Detail: "x"}
		if text := mustRender(t, wrong).html; !strings.Contains(text, "<code>/match ") {
			t.Errorf("%s: no form in %q", r, text)
		}
	}
	for _, r := range teamReasons(t) {
		if slices.Contains(without, r) {
			continue
		}
		text := mustRender(t, ranking.WrongForm{Command: command.NameMatch, Reason: r, Detail: "bobby", Teams: true}).html
		if n := strings.Count(text, "<code>/match "); n != 1 ||
			!strings.Contains(text, "<code>/match @alice @bobby vs @carol @david ") {
			t.Errorf("%s: no form for teams, or another, in %q", r, text)
		}
	}
	for name, reasons := range wrongForms {
		for _, r := range reasons {
			text := mustRender(t, ranking.WrongForm{Command: name, Reason: r, Detail: "x"}).html
			if !strings.Contains(text, "<code>/"+name+" ") || strings.Contains(text, "<code>/match ") {
				t.Errorf("%s: no form of /%s in %q", r, name, text)
			}
		}
	}
}
