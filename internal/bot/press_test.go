package bot

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ranking"
)

const unknownButton = `answer refusal {"code":"unknown_button"}`

// card posts a message of the bot that looks like a match's card, but has no buttons. thread is the
// topic, 0 for none.
func (w *world) card(in *botsim.Chat, thread int) botsim.Message {
	w.t.Helper()
	return in.Post(botsim.Post{From: w.sim.Bot(), Text: "Alice beat Bob 3:1", ThreadID: thread})
}

func TestPress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.card(w.group, 0)
	id := w.sim.Press(w.bob, card, "1u:42:0:Aa0_-zZ9")
	c := w.expect("a press", "undo #42 Aa0_-zZ9")[0]
	want := ranking.Origin{
		Logged: ranking.Logged{Update: c.origin.Update, Command: "undo"}, Place: ranking.Place{ReplyTo: int64(card.ID)},
		Press: ranking.Press{Button: id, Instead: "/undo 42", Pressed: int64(card.ID)},
		Key:   "c:" + id,
		Chat: ranking.Chat{ID: ranking.ExternalChatID(w.group.ID()), Kind: ranking.Supergroup,
			Title: "Table tennis", Language: "en"},
		Sender: &command.Person{ID: 1002, Username: "bob", Name: "Bob"},
		SentAt: worldTime.Add(time.Minute),
	}
	if diff := cmp.Diff(want, c.origin, unsaid); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
	if changes := c.take.Changes; changes == nil || *changes != 0 {
		t.Errorf("the button says %v changes", changes)
	}
	w.sim.Press(w.bob, card, "1b:42:3:Aa0_-zZ9")
	if c := w.expect("a press to restore", "restore #42 Aa0_-zZ9")[0]; *c.take.Changes != 3 {
		t.Errorf("the amendment is %+v", c.take)
	}
	if again := w.sim.Press(w.bob, card, "1u:42:0:Aa0_-zZ9"); again == id {
		t.Error("two presses have the same id")
	}
	if o := w.expect("a second press", "undo #42 Aa0_-zZ9")[0].origin; o.Key == want.Key {
		t.Errorf("two presses have the key %s", o.Key)
	}
	w.group.Delete(card)
	w.sim.Press(w.bob, card, "1u:42:0:Aa0_-zZ9")
	if o := w.expect("a press below what is gone", "undo #42 Aa0_-zZ9")[0].origin; o.ReplyTo != int64(card.ID) ||
		o.Chat.ID != want.Chat.ID {
		t.Errorf("origin %+v", o)
	}
}

// TestPressBelowAnAnonymousMessage checks that the sender of a press is the user who pressed, not
// the sender of the message.
func TestPressBelowAnAnonymousMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.group.SayAnonymously("hello")
	w.fetch()
	w.sim.Press(w.bob, m, "1u:42:0:Aa0_-zZ9")
	c := w.expect("a press", "undo #42 Aa0_-zZ9")[0]
	if c.origin.Sender == nil || c.origin.Sender.ID != 1002 {
		t.Errorf("sender %v", c.origin.Sender)
	}
}

func TestPressInATopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forum := w.sim.Forum("Club", w.alice)
	topic := forum.Topic(w.alice, "Results")
	w.fetch()
	card := w.card(forum, topic.ID)
	w.sim.Press(w.alice, card, "1u:7:0:Aa0_-zZ9")
	if o := w.expect("in a topic", "undo #7 Aa0_-zZ9")[0].origin; o.Thread != int64(topic.ID) ||
		o.ReplyTo != int64(card.ID) {
		t.Errorf("in topic %d: thread %d, reply to %d", topic.ID, o.Thread, o.ReplyTo)
	}
	w.sim.Press(w.alice, w.card(forum, 0), "1u:7:0:Aa0_-zZ9")
	if o := w.expect("in General", "undo #7 Aa0_-zZ9")[0].origin; o.Thread != 0 {
		t.Errorf("in General: thread %d", o.Thread)
	}
}

// TestForgedData checks that data that the bot does not produce is rejected.
func TestForgedData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.card(w.group, 0)
	for _, data := range []string{
		"", "undo", "1u:", "1u:42:0", "1b:42:1", "1u:0", "1u:-1", "1u:+1", "1u:042", "1u:4 2", " 1u:42", "1u:42 ", "1u:42\n", "1u:42", "1u:42:", "1u:42:01",
		"1u:42:-1", "1u:42:+1", "1u:42:1:", "1u:42::Aa0_-zZ9", "1u::1:Aa0_-zZ9", "1u:042:0:Aa0_-zZ9", "1u:42:1 ", "1u:42:2147483648", "1u:0:1", "1u::1", "1b:42", "1b:42:x", "1b:0:1",
		"1u:4.2", "1u:0x2a", "1u:1e3", "1u:1_000", "1u:４２", "1u:٤٢", "1u:4\u206002", "1U:42", "u:42", "2u:42", "01u:42", "1u42", "undo:42", "42",
		"1u:1u:42", "1u:#42", "1u:-1001234:42", "1u:2147483648", "1u:9223372036854775808",
		"1u:99999999999999999999999999999999999999999999999999", "1f:42", "redo:42", "/undo 42", "/match @bob 3:1",
		"1u:42'; DROP TABLE matches; --", "\x00", "1u:\x0042", strings.Repeat("9", 64),
	} {
		id := w.sim.Press(w.alice, card, data)
		o := w.expect(fmt.Sprintf("%q", data), unknownButton)[0].origin
		if o.Button != id || o.Key != "c:"+id {
			t.Errorf("%q: origin %+v", data, o)
		}
	}
}

func TestCardData(t *testing.T) {
	t.Parallel()
	for _, code := range []string{undoCode, restoreCode} {
		for _, number := range []int{1, 9, 10, 42, 999_999_999, math.MaxInt32} {
			for _, changes := range []int{0, 7, math.MaxInt32} {
				for _, tag := range []ranking.MatchTag{"", ranking.TagOf("m:-100:7")} {
					card := cardButton{number, changes, tag}
					data := card.data(code)
					args, _ := argsOf(code, data)
					if got, ok := parseCardArgs(args); !ok || got != card || len(data) > maxData {
						t.Errorf("%q says %+v, %t", data, got, ok)
					}
					if got, ok := parseCardData(data); !ok || got != card {
						t.Errorf("%q belongs to %+v, %t", data, got, ok)
					}
				}
			}
		}
	}
}

func TestPressInAPrivateChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.card(w.sim.Private(w.alice), 0)
	id := w.sim.Press(w.alice, card, "1u:42:0:Aa0_-zZ9")
	o := w.expect("in a private chat", unknownButton)[0].origin
	if o.Chat.Kind != ranking.Private || o.Button != id || o.ReplyTo != 0 {
		t.Errorf("origin %+v", o)
	}
}

func TestPressesThatAreIgnored(t *testing.T) {
	t.Parallel()
	const from, chat = `"from":{"id":1001,"first_name":"Alice"}`, `"chat":{"id":-100,"type":"supergroup","title":"T"}`
	for what, raw := range map[string]string{
		"of a message sent inline": `{"id":"1",` + from + `,"inline_message_id":"x","data":"1u:42:0:Aa0_-zZ9"}`,
		"of a game":                `{"id":"1",` + from + `,"game_short_name":"x"}`,
		"of a bot":                 `{"id":"1","from":{"id":77,"is_bot":true,"first_name":"B"},"message":{"message_id":5,` + chat + `},"data":"1u:42:0:Aa0_-zZ9"}`,
		"of nobody":                `{"id":"1","message":{"message_id":5,` + chat + `},"data":"1u:42:0:Aa0_-zZ9"}`,
		"without an id":            `{` + from + `,"message":{"message_id":5,` + chat + `},"data":"1u:42:0:Aa0_-zZ9"}`,
		"without a chat":           `{"id":"1",` + from + `,"message":{"message_id":5},"data":"1u:42:0:Aa0_-zZ9"}`,
		"in a channel":             `{"id":"1",` + from + `,"message":{"message_id":5,"chat":{"id":-100,"type":"channel"}},"data":"1u:42:0:Aa0_-zZ9"}`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sim.Update(json.RawMessage(`{"callback_query":` + raw + `}`))
			w.expect(what)
		})
	}
}

// TestPressIsNotBeforeItsMessage checks that a press is never dated before its message. A press has
// no date of its own, so intake may give it the date of an older update.
func TestPressIsNotBeforeItsMessage(t *testing.T) {
	t.Parallel()
	rankings := &fakeRankings{}
	const shown = 1700000000
	raw := fmt.Sprintf(`{"callback_query":{"id":"1","from":{"id":1001,"first_name":"Alice"},"data":"1u:42:0:Aa0_-zZ9",`+
		`"message":{"message_id":5,"date":%d,"chat":{"id":-100,"type":"supergroup"}}}}`, shown)
	for sent, want := range map[int64]int64{shown - 3600: shown, shown: shown, shown + 5: shown + 5} {
		err := newRouter(rankings).Handle(t.Context(),
			decoded(intake.Update{ID: 1, Raw: json.RawMessage(raw), SentAt: time.Unix(sent, 0)}))
		if last := rankings.calls[len(rankings.calls)-1]; err != nil || last.origin.SentAt.Unix() != want {
			t.Errorf("a press dated %d is taken as of %v, want %d: %v", sent, last.origin.SentAt, want, err)
		}
	}
}

func TestUnknownThingsInAPress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Update(json.RawMessage(
		`{"callback_query":{"id":"1","from":{"id":1001,"first_name":"Alice","of_the_future":[1]},"chat_instance":5,` +
			`"game_short_name":{},"message":{"message_id":5,"date":0,"chat":{"id":-100,"type":"supergroup"},` +
			`"reply_markup":7,"dice":"x"},"data":"1u:42:0:Aa0_-zZ9"}}`))
	w.expect("a press", "undo #42 Aa0_-zZ9")
}
