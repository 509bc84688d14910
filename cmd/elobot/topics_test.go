package main_test

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// testTopicNotFound checks that a topic that Telegram does not find stays bound to its ladder until
// an admin unbinds it. A final table that cannot be sent to a topic goes to the ladder's next
// topic, or to General if there is none.
func testTopicNotFound(t *testing.T, b *botFixture) {
	forum := b.sim.Forum("Club", b.olga, b.alice, b.bob, b.carol)
	forum.Say(b.olga, "welcome") // so that no topic gets the id 1, which stands for General
	b.seen(forum, b.alice, b.bob)
	padel, more := forum.Topic(b.olga, "Padel").ID, forum.Topic(b.olga, "More padel").ID
	said := func(from botsim.User, topic int, text string) botsim.Message {
		t.Helper()
		return b.answer(forum.Post(botsim.Post{From: from, Text: text, ThreadID: topic}))
	}
	said(b.olga, 0, "/ladder rename chess")
	said(b.olga, 0, "/ladder new padel")
	said(b.olga, padel, "/ladder use padel")
	said(b.olga, more, "/ladder use padel")
	b.settle()

	b.sim.Fault(botsim.Fault{
		Kind: botsim.Reject, Method: "sendMessage", ChatID: forum.ID(), Times: 1,
		Description: "Bad Request: message thread not found",
	})
	before := len(forum.BotMessages())
	forum.Post(botsim.Post{From: b.alice, Text: "/match @bob 3:1", ThreadID: padel})
	if card := awaitAnswers(t, forum, before+1)[before]; card.ThreadID != 0 {
		t.Errorf("the card is in topic %d", card.ThreadID)
	}
	b.settle()
	says(t, visible(said(b.alice, padel, "/match @bob 3:2")), "padel · ", "1531")

	ended := func() botsim.Message {
		t.Helper()
		b.later.Add(2) // two seasons cannot start within a second
		question := said(b.olga, more, "/season new")
		b.settle()
		before := len(forum.BotMessages())
		b.press(b.olga, question, dataOf(t, question, "Start it"))
		b.settle()
		for _, m := range forum.BotMessages()[before:] {
			if strings.HasPrefix(visible(m), "Final table") {
				return m
			}
		}
		t.Fatal("there is no final table")
		return botsim.Message{}
	}
	forum.DeleteTopic(padel)
	if m := ended(); m.ThreadID != more {
		t.Errorf("the final table is in topic %d, not in %d", m.ThreadID, more)
	}
	said(b.alice, more, "/match @bob 3:0")
	b.settle()
	b.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "sendMessage", ChatID: forum.ID(), Times: 1,
		Description: "Bad Request: TOPIC_CLOSED", Match: func(c botsim.Call) bool {
			return strings.Contains(c.Params["text"], "Final table") && c.Params["message_thread_id"] != ""
		}, Skip: 1}) // the first such request is for the deleted topic
	if m := ended(); m.ThreadID != 0 {
		t.Errorf("the final table is in topic %d, not in General", m.ThreadID)
	}

	says(t, visible(said(b.olga, more, "/ladder use none")), "chess counts in this topic")
	says(t, visible(said(b.alice, more, "/match @bob 3:1")), "chess · ", "1516")
	says(t, visible(said(b.olga, 0, "/ladder use none")), "There is no ranking none here")
	b.settle()
}
