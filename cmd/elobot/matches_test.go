package main_test

import (
	"fmt"
	"strings"
	"testing"
)

// testHistory: members look up past matches and page through them.
func testHistory(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.seen(group, b.alice, b.bob, b.carol)
	for i := range 12 {
		b.ask(group, b.alice, fmt.Sprintf("/match @bob 3:%d", i%3))
	}
	b.ask(group, b.bob, "/match @carol 1:0")
	b.settle()
	b.ask(group, b.carol, "/undo 13")
	b.ask(group, b.alice, "/fix 12 3:0")
	b.settle()
	first := b.ask(group, b.alice, "/matches")
	says(t, visible(first), "Matches · Chess\n",
		"#13 Bob 1:0 Carol · undone\n#12 Alice 3:0 Bob · corrected from 3:2\n#11 Alice 3:1 Bob\n", "\n#4 Alice 3:0 Bob")
	if toast := b.press(b.carol, first, dataOf(t, first, "›")); toast != "" {
		t.Errorf("the toast is %q", toast)
	}
	second, err := group.WaitEdits(testContext(t), first.ID, 1)
	must(t, err)
	if !strings.HasSuffix(visible(second), "\n#3 Alice 3:2 Bob\n#2 Alice 3:1 Bob\n#1 Alice 3:0 Bob") {
		t.Errorf("the second page is\n%s", visible(second))
	}
	b.press(b.carol, second, dataOf(t, second, "‹"))
	if back, err := group.WaitEdits(testContext(t), first.ID, 2); err != nil || visible(back) != visible(first) {
		t.Errorf("back on the first page: %v\n%s", err, visible(back))
	}
	own := b.ask(group, b.bob, "/history")
	says(t, visible(own), "Matches · Bob\n", "#13 Bob 1:0 Carol · undone\n",
		"#12 Alice 3:0 Bob · −", " · corrected from 3:2\n")
	b.press(b.carol, own, dataOf(t, own, "Stats"))
	player, err := group.WaitEdits(testContext(t), own.ID, 1)
	must(t, err)
	b.press(b.carol, player, dataOf(t, player, "Matches"))
	if back, err := group.WaitEdits(testContext(t), own.ID, 2); err != nil || visible(back) != visible(own) {
		t.Errorf("back from the player: %v\n%s", err, visible(back))
	}
	says(t, visible(b.ask(group, b.bob, "/history carol")), "Matches · Carol\n", "#13 Bob 1:0 Carol · undone")
}

// testOddsAndTeams: members ask for the odds of a match, let the bot make even teams, and report
// the result of these teams by a button.
func testOddsAndTeams(t *testing.T, b *botFixture) {
	group := b.group("Kicker")
	b.seen(group, b.olga, b.alice, b.bob, b.carol)
	b.ask(group, b.alice, "/match @bob 3:1")
	says(t, visible(b.ask(group, b.bob, "/odds @alice")),
		"Bob (1484): expected 45% · win +17, lose −15, draw +1\nAlice (1516): expected 55% · win +15, lose −17, draw −1")
	b.ask(group, b.bob, "/match @alice 1:3")
	says(t, visible(b.ask(group, b.bob, "/odds nobody")), "Nobody here is called nobody")
	teams := b.ask(group, b.carol, "/teams @alice bob me @olga")
	says(t, visible(teams), "The most even teams\nAlice & Bob (1500): expected 50%",
		"Carol & Olga (1500)", "new here, so at the start rating: Carol, Olga")
	b.press(b.bob, teams, dataOf(t, teams, "Next best"))
	next, err := group.WaitEdits(testContext(t), teams.ID, 1)
	must(t, err)
	says(t, visible(next), "Teams · 2 of 3, the most even first\nAlice & Carol (1516)", "Bob & Olga (1485)")
	before := len(group.BotMessages())
	b.press(b.bob, next, dataOf(t, next, "Report the result"))
	asked := awaitAnswers(t, group, before+1)[before]
	says(t, visible(asked),
		"Bob & Olga against Alice & Carol: how did it end? The points of the side that is named first come first.")
	says(t, b.press(b.alice, asked, dataOf(t, asked, "3:1")), "Only the person who was asked can answer")
	card := b.answer(group.Reply(b.bob, asked, "10:8"))
	says(t, visible(card), "Bob & Olga beat Alice & Carol 10:8", "Match #3")
	if now, _ := group.Message(next.ID); visible(now) != visible(next) {
		t.Errorf("the teams have become\n%s", visible(now))
	}
}
