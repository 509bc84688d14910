package main_test

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

// testEditedResult: editing a command records no second match. The bot offers a correction, and the button makes it.
func testEditedResult(t *testing.T, b *botFixture) {
	alice, bob, carol := b.alice, b.bob, b.carol
	group := b.group("Chess")
	posted := group.Say(alice, "/match @bob 1:3")
	card := awaitAnswers(t, group, 1)[0]

	group.Edit(posted, "/match @bob 1:3") // no visible change
	group.Edit(posted, "/match @carol 3:1")
	group.Edit(posted, "/match @bob 3")
	old := group.Post(botsim.Post{From: alice, Text: "/match @carol 2:0", Date: time.Now().Add(-10 * time.Minute)})
	group.Edit(old, "/match @carol 2:1")
	group.Edit(posted, "/match @bob 11:7 9:11 5:11")
	all := awaitAnswers(t, group, 3)
	if all[1].ReplyTo != old.ID {
		t.Errorf("the second answer is %+v", all[1])
	}
	offer := all[2]
	says(t, visible(offer), "/match now says 1:2 (11:7 9:11 5:11)", "match #1 still counts as 1:3", "/fix 11:7 9:11 5:11")
	if offer.ReplyTo != posted.ID || len(offer.Buttons) != 1 || offer.Buttons[0][0].Text != "Fix to 11:7 9:11 5:11?" {
		t.Fatalf("the offer is %+v", offer)
	}
	button := offer.Buttons[0][0].CallbackData
	says(t, b.press(carol, offer, button), "Only those who played")
	says(t, b.decide(bob, offer, "Fix to 11:7 9:11 5:11?"), "Match #1 corrected by Bob: Bob beat Alice 2:1 (7:11 11:9 11:5; was 3:1)")
	says(t, b.press(alice, offer, button), "This button no longer works")
	edited, err := group.WaitEdits(testContext(t), card.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	says(t, visible(edited), "Bob beat Alice 2:1 (7:11 11:9 11:5)", "corrected from 3:1")
	b.settle()
	if n := b.matches(group); n != 2 || len(group.BotMessages()) != 3 {
		t.Errorf("there are %d matches and %d messages", n, len(group.BotMessages()))
	}
}
