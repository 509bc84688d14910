package main_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// testEditedResult checks that an edit of a recorded report records no second match. If, within
// five minutes of the report, an edit names another opponent or score, the bot says that the match
// still counts as before. If only the score differs, a button corrects the match.
func testEditedResult(t *testing.T, b *botFixture) {
	alice, bob, carol := b.alice, b.bob, b.carol
	group := b.group("Chess")
	posted := group.Say(alice, "/match @bob 1:3")
	card := awaitAnswers(t, group, 1)[0]

	group.Edit(posted, "/match @bob 1:3") // the same text
	group.Edit(posted, "/match @carol 3:1")
	group.Edit(posted, "/match @bob 3")
	old := group.Post(botsim.Post{From: alice, Text: "/match @carol 2:0", Date: time.Now().Add(-10 * time.Minute)})
	group.Edit(old, "/match @carol 2:1")
	group.Edit(posted, "/match @bob 11:7 9:11 5:11")
	all := awaitAnswers(t, group, 4)
	says(t, visible(all[1]), "now says Alice 3:1 @carol, but match #1 still counts as Alice 1:3 bob")
	if all[2].ReplyTo != old.ID {
		t.Errorf("the third answer is %+v", all[2])
	}
	offer := all[3]
	says(t, visible(offer), "/match now says 1:2 (11:7 9:11 5:11)", "match #1 still counts as 1:3", "/fix 11:7 9:11 5:11")
	if offer.ReplyTo != posted.ID || len(offer.Buttons) != 1 || offer.Buttons[0][0].Text != "Fix to 11:7 9:11 5:11" {
		t.Fatalf("the offer is %+v", offer)
	}
	button := offer.Buttons[0][0].CallbackData
	says(t, b.press(carol, offer, button), "Only those who played")
	says(t, b.decide(bob, offer, "Fix to 11:7 9:11 5:11"),
		"Match #1 corrected by Bob: Bob beat Alice 2:1 (7:11 11:9 11:5; was 3:1)")
	says(t, b.press(alice, offer, button), "This button no longer works")
	edited, err := group.WaitEdits(testContext(t), card.ID, 1)
	must(t, err)
	says(t, visible(edited), "Bob beat Alice 2:1 (7:11 11:9 11:5)", "corrected from 3:1")
	b.settle()
	if n := b.matches(group); n != 2 || len(group.BotMessages()) != 4 {
		t.Errorf("there are %d matches and %d messages", n, len(group.BotMessages()))
	}
}

// testEditedCommands checks that, if a message was refused or incomplete, or was not a command, its
// edits are handled like new messages until one of them is not refused. Once such a message is more
// than five minutes old, its edits are ignored.
func testEditedCommands(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	answers := 0
	// edit edits a message and returns the next answer.
	edit := func(m botsim.Message, text string) string {
		t.Helper()
		group.Edit(m, text)
		answers++
		answer := awaitAnswers(t, group, answers)[answers-1]
		equal(t, answer.ReplyTo, m.ID, "what the answer to the edit to %q replies to", text)
		return visible(answer)
	}
	say := func(text, want string) botsim.Message {
		t.Helper()
		m := group.Say(b.alice, text)
		answers++
		says(t, visible(awaitAnswers(t, group, answers)[answers-1]), want)
		return m
	}
	result := say("/match @bob", "how did it end?")
	says(t, edit(result, "/match @alice 3:1"), "named only yourself")
	says(t, edit(result, "/match @bob 3:1"), "Match #1")
	group.Edit(result, "/ranking") // ignored
	says(t, edit(result, "/match @bob 3:2"), "/match now says 3:2")
	group.Reply(b.alice, result, "/undo")
	answers++
	says(t, visible(awaitAnswers(t, group, answers)[answers-1]), "Match #1 undone")
	says(t, edit(result, "/match @bob 3:0"), "Match #1 is already undone")

	typo := say("/matc @bob 3:0", "Did you mean /match @bob 3:0")
	says(t, edit(typo, "/match @bob 3:0"), "Match #2")
	undo := say("/undo 99", "There is no match #99")
	says(t, edit(undo, "/undo 2"), "Match #2 undone")
	question := group.Say(b.alice, "rankin")
	says(t, edit(question, "/ranking@"+b.sim.Bot().Username), "No matches yet")
	group.Edit(question, "/match @bob 2:0") // ignored
	late := group.Post(botsim.Post{From: b.alice, Text: "/mat @bob 3:1", Date: time.Now().Add(-301 * time.Second)})
	group.Edit(late, "/match @bob 3:1")

	// An edit arrives before its message, and once more after it.
	overtaken := result.ID + 1000
	message := matchUpdate(0, group, b.alice, overtaken)
	earlier := bytes.Replace(message, []byte(`"message":{`),
		fmt.Appendf(nil, `"edited_message":{"edit_date":%d,`, time.Now().Unix()+1), 1)
	for _, update := range [][]byte{earlier, message, earlier} {
		b.sim.Update(bytes.Replace(update, []byte(`"update_id":0,`), nil, 1))
	}
	answers++
	says(t, visible(awaitAnswers(t, group, answers)[answers-1]), "Match #3")
	b.settle()
	if n := b.matches(group); n != 3 || len(group.BotMessages()) != answers {
		t.Errorf("there are %d matches and %d messages, want 3 and %d", n, len(group.BotMessages()), answers)
	}
}
