package main_test

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// testUndoInTopics checks that answers go to the topic of the command, and cards are edited in
// their own topic. In Telegram's data, every message in a topic replies to the topic's creation,
// but the bot does not treat that as a reply.
func testUndoInTopics(t *testing.T, b *botFixture) {
	forum := b.sim.Forum("Club", b.olga, b.alice, b.bob, b.carol)
	chess, tennis := forum.Topic(b.olga, "Chess").ID, forum.Topic(b.olga, "Tennis").ID
	say := func(topic int, text string) botsim.Message {
		return b.answer(forum.Post(botsim.Post{From: b.alice, Text: text, ThreadID: topic}))
	}
	for number, ask := range []func(card botsim.Message) (topic int, answer botsim.Message){
		func(botsim.Message) (int, botsim.Message) { return chess, say(chess, "/undo") },
		func(botsim.Message) (int, botsim.Message) { return tennis, say(tennis, "/undo 2") },
		func(botsim.Message) (int, botsim.Message) { return 0, say(0, "/undo") },
		func(card botsim.Message) (int, botsim.Message) {
			return chess, b.answer(forum.Reply(b.alice, card, "/undo"))
		},
		func(card botsim.Message) (int, botsim.Message) {
			says(t, b.press(b.bob, card, undoButton(t, card)), "undone")
			return chess, b.answer(card)
		},
	} {
		card := say(chess, "/match @bob 3:1")
		b.settle()
		topic, answer := ask(card)
		says(t, visible(answer), fmt.Sprintf("Match #%d undone", number+1))
		checkStruck(t, forum, card, 1, fmt.Sprintf("Match #%d · undone by", number+1))
		if card.ThreadID != chess || answer.ThreadID != topic {
			t.Errorf("card %d is in topic %d, want %d, and the answer in topic %d, want %d",
				number+1, card.ThreadID, chess, answer.ThreadID, topic)
		}
	}
	b.settle()
}

// testUndoneBeforeTheCardIsSent checks that, if a match is undone or fixed before its card is sent,
// the card shows that from the start. It is sent in order and never edited.
func testUndoneBeforeTheCardIsSent(t *testing.T, b *botFixture) {
	group, edits := b.group("Chess"), b.sim.CallCount("editMessageText")
	heal := b.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendMessage",
		ChatID: group.ID(), RetryAfter: 1})
	posted := []botsim.Message{group.Say(b.alice, "/match @bob 3:1")}
	awaitRefusal(t, b.sim, group)
	for _, text := range []string{"/undo 1", "/match @carol 3:0", "/fix 3:2", "/match @bob 2:2", "/undo 1", "/undo"} {
		posted = append(posted, group.Say(b.alice, text))
	}
	must(t, b.sim.WaitConfirmed(testContext(t)))
	heal()
	answers := awaitAnswers(t, group, len(posted))
	b.settle()
	if len(group.BotMessages()) != len(posted) || b.sim.CallCount("editMessageText") != edits {
		t.Errorf("there were %d messages, want %d, and %d edits, want none",
			len(group.BotMessages()), len(posted), b.sim.CallCount("editMessageText")-edits)
	}
	for i, m := range answers {
		if m.ReplyTo != posted[i].ID {
			t.Fatalf("answer %d does not reply to %q:\n%s", i+1, posted[i].Text, visible(m))
		}
	}
	checkUndone(t, answers[0], "Match #1 · undone by Alice")
	says(t, visible(answers[1]), "Match #1 undone")
	says(t, visible(answers[2]), "Alice beat carol 3:2", "Match #2", "corrected from 3:0")
	undoButton(t, answers[2])
	says(t, visible(answers[3]), "Match #2 corrected")
	checkUndone(t, answers[4], "Match #3 · undone by Alice")
	says(t, visible(answers[5]), "Match #1 is already undone")
	says(t, visible(answers[6]), "Match #3 undone")
}

// testUndoWithoutTheCard checks that a match can be undone after its card was deleted, and the
// queue does not get stuck.
func testUndoWithoutTheCard(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	card := b.ask(group, b.alice, "/match @bob 3:1")
	group.Delete(card)
	says(t, visible(b.ask(group, b.alice, "/fix 1 3:2")), "Match #1 corrected")
	b.settle()
	says(t, visible(b.ask(group, b.alice, "/undo 1")), "Match #1 undone")
	// A member whose phone still shows the deleted card can press its button.
	card = b.ask(group, b.alice, "/match @bob 3:1")
	group.Delete(card)
	says(t, b.press(b.bob, card, undoButton(t, card)), "Match #2 undone")
	posted := group.Say(b.alice, "/match @bob 3:1")
	answers := awaitAnswers(t, group, 6)
	says(t, visible(answers[4]), "Match #2 undone", "undone by Bob")
	if answers[4].ReplyTo != 0 || answers[5].ReplyTo != posted.ID {
		t.Errorf("the answers reply to %d and %d, want nothing and %d", answers[4].ReplyTo, answers[5].ReplyTo, posted.ID)
	}
	b.settle()
	if n := count(t, b.pool, `
		SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1 AND action = 'edit' AND state = 'expired'`, group.ID()); n != 3 {
		t.Errorf("%d edits have expired, want 3", n)
	}
}
