package bot

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// TestUndoInReplyToAButton checks that the button of the replied-to card identifies the match, if
// the button has a tag and this bot sent the card.
func TestUndoInReplyToAButton(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.sim.AddUser(botsim.User{ID: 4711, IsBot: true, FirstName: "Other", Username: "other_bot"})
	for name, tc := range map[string]struct {
		from   botsim.User
		markup any
		want   string // after "undo "; empty if the reply identifies no match by a button
	}{
		"a card":           {w.sim.Bot(), keyboard("1u:42:0:Aa0_-zZ9"), "#42 Aa0_-zZ9"},
		"an undone card":   {w.sim.Bot(), keyboard("1b:42:1:Aa0_-zZ9"), "#42 Aa0_-zZ9"},
		"an older card":    {w.sim.Bot(), keyboard("1u:42:0"), ""},
		"another button":   {w.sim.Bot(), keyboard("more:42"), ""},
		"no button":        {w.sim.Bot(), nil, ""},
		"another bot's":    {other, keyboard("1u:42:0:Aa0_-zZ9"), ""},
		"something else":   {w.sim.Bot(), "a text", ""},
		"a forged number":  {w.sim.Bot(), keyboard("1u:042:0:Aa0_-zZ9"), ""},
		"the second of it": {w.sim.Bot(), keyboard("more", "1u:7:0:Aa0_-zZ9"), "#7 Aa0_-zZ9"},
	} {
		card := w.group.Post(botsim.Post{From: tc.from, Text: "Bob beat Alice 3:1",
			Extra: map[string]any{"reply_markup": tc.markup}})
		w.fetch()
		w.group.Reply(w.alice, card, "/undo")
		want := tc.want
		if want == "" {
			want = fmt.Sprintf("message %d or m:%d:%d", card.ID, w.group.ID(), card.ID)
		}
		w.expect(name, "undo "+want)
	}
}

func keyboard(data ...string) any {
	var row []map[string]string
	for _, d := range data {
		row = append(row, map[string]string{"text": "Button", "callback_data": d})
	}
	return map[string]any{"inline_keyboard": []any{row}}
}

// TestUndoAndFixAsReplies checks that /undo and /fix may reply to any message. The service finds
// out whether that message is a card or a /match. A number takes precedence.
func TestUndoAndFixAsReplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request := w.group.Say(w.bob, "/match @alice 3:1")
	card := w.group.Post(botsim.Post{From: w.sim.Bot(), Text: "Bob beat Alice 3:1", ReplyTo: request.ID})
	chat := w.group.Say(w.carol, "good game")
	w.fetch()
	for _, target := range []botsim.Message{request, card, chat} {
		which := fmt.Sprintf("message %d or m:%d:%d", target.ID, w.group.ID(), target.ID)
		m := w.group.Reply(w.alice, target, "/undo")
		o := w.expect("undo", "undo "+which)[0].origin
		if o.ReplyTo != int64(m.ID) || o.Key != fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID) || o.Button != "" {
			t.Errorf("origin %+v of message %d", o, m.ID)
		}
		w.group.Reply(w.alice, target, "/fix 3:2")
		w.expect("fix", "fix "+which+" 3:2")
		w.group.Reply(w.alice, target, "/undo 42")
		w.expect("undo with a number", "undo #42")
		w.group.Reply(w.alice, target, "/fix 42 3:2")
		w.expect("fix with a number", "fix #42 3:2")
		w.group.Reply(w.alice, target, "/undo it")
		w.expect("a wrong form", `answer wrong_form {"command":"undo","reason":"unexpected_word","detail":"it"}`)
	}
	w.group.Delete(request)
	w.group.Reply(w.alice, request, "/undo")
	w.expect("a reply to what is not there any more", "undo last")
}

// TestAmendmentInATopic checks that a message in a topic is not treated as a reply if it only seems
// to reply to the creation of the topic.
func TestAmendmentInATopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forum := w.sim.Forum("Club", w.alice, w.bob)
	topic := forum.Topic(w.bob, "Results")
	request := forum.Post(botsim.Post{From: w.bob, Text: "hello", ThreadID: topic.ID})
	w.expect("before")
	forum.Post(botsim.Post{From: w.alice, Text: "/undo", ThreadID: topic.ID})
	if o := w.expect("undo", "undo last")[0].origin; o.Thread != int64(topic.ID) {
		t.Errorf("thread %d", o.Thread)
	}
	forum.Post(botsim.Post{From: w.alice, Text: "/fix 3:2", ThreadID: topic.ID})
	w.expect("fix", "fix last 3:2")
	forum.Reply(w.alice, request, "/undo")
	w.expect("a true reply", fmt.Sprintf("undo message %d or m:%d:%d", request.ID, forum.ID(), request.ID))
}

// TestFixAlone checks that a score in reply to the bot's question for the right score of a match
// fixes the match. The question's button undoes the match.
func TestFixAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	question := func(from botsim.User) botsim.Message {
		markup := keyboard("1uf:42:0:Aa0_-zZ9@7")
		return w.group.Post(botsim.Post{From: from, Text: "Match #42?", Extra: map[string]any{"reply_markup": markup}})
	}
	asks := question(w.sim.Bot())
	for text, want := range map[string]string{
		"3:2":            "fix #42 Aa0_-zZ9 3:2",
		"11:7 9:11 11:5": "fix #42 Aa0_-zZ9 11:7 9:11 11:5",
		"/undo":          "undo #42 Aa0_-zZ9",
		"@bob":           "fix players #42 Aa0_-zZ9 Alice@alice#1001 @bob",
	} {
		w.group.Reply(w.alice, asks, text)
		w.expect(text, want)
	}
	w.sim.Press(w.alice, asks, "1uf:42:0:Aa0_-zZ9@7")
	w.expect("the button", "undo #42 Aa0_-zZ9")
	w.group.Reply(w.alice, question(w.bob), "3:2")
	w.expect("a question of Bob")
	card := w.card(w.group, 0)
	w.group.Reply(w.alice, card, "3:2")
	w.expect("a reply to a card")
	w.group.Reply(w.alice, card, "/fix")
	w.expect("about a certain match", fmt.Sprintf("fix message %d or m:%d:%d ", card.ID, w.group.ID(), card.ID))
}
