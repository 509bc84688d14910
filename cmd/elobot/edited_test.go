package main_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestEditedResult: a command that is edited makes no second match; its correction is offered, and done by the button.
func TestEditedResult(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob, carol := sim.User("alice"), sim.User("bob"), sim.User("carol")
	group := sim.Group("Chess", alice, bob, carol)
	launch(t, environment(sim, url), "run")
	said := group.Say(alice, "/match @bob 1:3")
	card := awaitAnswers(t, group, 1)[0]

	group.Edit(said, "/match @bob 1:3") // which nobody sees
	group.Edit(said, "/match @carol 3:1")
	group.Edit(said, "/match @bob 3")
	old := group.Post(botsim.Post{From: alice, Text: "/match @carol 2:0", Date: time.Now().Add(-10 * time.Minute)})
	group.Edit(old, "/match @carol 2:1")
	group.Edit(said, "/match @bob 11:7 9:11 5:11")
	all := awaitAnswers(t, group, 3)
	if all[1].ReplyTo != old.ID {
		t.Errorf("the second answer is %+v", all[1])
	}
	offer := all[2]
	says(t, visible(offer), "/match says 1:2 (11:7 9:11 5:11) now", "match #1 still counts as 1:3", "/fix 11:7 9:11 5:11")
	if offer.ReplyTo != said.ID || len(offer.Buttons) != 1 || offer.Buttons[0][0].Text != "Fix to 11:7 9:11 5:11?" {
		t.Fatalf("the offer is %+v", offer)
	}
	press := func(who botsim.User) string {
		t.Helper()
		answer, err := sim.WaitAnswer(testContext(t), sim.Press(who, offer, offer.Buttons[0][0].CallbackData))
		if err != nil {
			t.Fatal(err)
		}
		return answer.Text
	}
	if got := press(carol); !strings.Contains(got, "Only those who played") {
		t.Errorf("somebody else is answered %q", got)
	}
	if got := press(bob); !strings.Contains(got, "corrected") {
		t.Errorf("the press is answered %q", got)
	}
	if got := press(alice); !strings.Contains(got, "has this score already") {
		t.Errorf("the second press is answered %q", got)
	}
	awaitAnswers(t, group, 4)
	edited, err := group.WaitEdits(testContext(t), card.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	says(t, visible(edited), "Bob beat Alice 2:1 (7:11 11:9 11:5)", "corrected from 3:1")
	awaitSettled(t, sim, pool, group)
	if n := count(t, pool, `SELECT count(*) FROM matches`); n != 2 || len(group.BotMessages()) != 4 {
		t.Errorf("there are %d matches and %d messages", n, len(group.BotMessages()))
	}
	verifyClean(t, url)
	checkNoComplaints(t, sim)
}
