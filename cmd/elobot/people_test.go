package main_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// testTwoTurnOutToBeOne: when a player known only by username turns out to be another player, their
// results are merged, and their matches against each other are undone.
func testTwoTurnOutToBeOne(t *testing.T, b *botFixture) {
	nora := b.sim.AddUser(botsim.User{FirstName: "Nora"})
	group := b.sim.Group("Chess", b.olga, b.alice, b.bob, nora)
	truth := newOracle()
	b.ask(group, nora, "/match @alice 2:1")
	truth.play("Nora", "Alice", 2, 1, "")
	b.ask(group, b.alice, "/match @newbie 3:0")
	truth.play("Alice", "Nora", 3, 0, "")
	self := b.ask(group, b.bob, fmt.Sprintf("/match %s @newbie 3:1", mention(nora)))
	b.ask(group, b.bob, "/match @newbie 0:2")
	truth.play("Bob", "Nora", 0, 2, "")
	again := b.ask(group, b.bob, fmt.Sprintf("/match @newbie %s 1:1", mention(nora)))
	says(t, visible(again), "newbie", "Nora")

	nora.Username = "newbie"
	b.sim.AddUser(nora)
	asked := group.Say(nora, "/ranking")
	answers := awaitAnswers(t, group, 7)
	says(t, visible(answers[5]), "newbie is Nora", "#3 and #5 undone", fmt.Sprintf("→ %d", truth.Standings["Nora"].Elo))
	if answers[6].ReplyTo != asked.ID || strings.Contains(answers[6].Text, "newbie") {
		t.Errorf("after the merge the ranking is\n%s", visible(answers[6]))
	}
	checkRanking(t, group, b.alice, truth)
	checkStruck(t, group, self, 1, "Match #3 · undone: both players are the same person")
	checkStruck(t, group, again, 1, "Match #5 · undone: both players are the same person")
	says(t, visible(b.ask(group, nora, "/undo 4")), "Match #4 undone", "undone by Nora")
	b.settle()
}

// testTeamsAndSets covers results of teams and results with sets, in the forms that people write.
func testTeamsAndSets(t *testing.T, b *botFixture) {
	group := b.group("Table tennis")
	b.seen(group, b.bob, b.olga, b.carol)
	card := b.ask(group, b.alice, "/match @alice @bob vs @olga @carol 8:10")
	says(t, visible(card), "Olga & Carol beat Alice & Bob 10:8", "Carol +16 → 1516", "Olga +16 → 1516",
		"Alice −16 → 1484", "Bob −16 → 1484", "Match #1")
	says(t, visible(b.ask(group, b.alice, "/match @bob 11:7 9:11 11:5")),
		"Alice beat Bob 2:1 (11:7 9:11 11:5)", "Match #2")
	says(t, visible(b.ask(group, b.bob, "/match @bob @olga vs @alice @carol 11:7, 11:9")),
		"Bob & Olga beat Alice & Carol 2:0 (11:7 11:9)", "Match #3")
	for text, want := range map[string][]string{
		"/match @alice @bob vs @carol 3:1":        {"the same number of players", "vs"},
		"/match @alice vs @bob @carol @olga 3:1":  {"the same number of players", "vs"},
		"/match @alice @bob @carol @olga 3:1":     {"Who played together?", "vs"},
		"/match @alice @bob vs 3:1":               {"missing", "vs"},
		"/match @alice @bob vs @carol @alice 3:1": {"can’t play twice"},
		"/match @alice @bob vs @carol @olga":      {"how did it end?"},
		"/match @alice @bob 11 7 9 11":            {"colon", "11:7 9:11"},
		"/macth @bob 3:1":                         {"Did you mean /match @bob 3:1?"},
	} {
		says(t, visible(b.ask(group, b.alice, text)), want...)
	}
	b.settle()
	if n := b.matches(group); n != 3 {
		t.Errorf("%d matches are recorded, want 3", n)
	}
	says(t, visible(b.answer(group.Reply(b.olga, card, "/fix 8:10"))),
		"Alice & Bob beat Olga & Carol 10:8", "was 8:10", "Olga −32 → ")
	b.settle()
	card, _ = group.Message(card.ID)
	says(t, b.press(b.carol, card, undoButton(t, card)), "Match #1 undone")
	checkStruck(t, group, card, 2, "undone by Carol")
	b.settle()
}
