package bot

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

func TestOddsCommands(t *testing.T) {
	t.Parallel()
	const me = "Alice@alice#1001"
	w := newWorld(t)
	w.rankings.people = []command.Person{{ID: 1003, Username: "carol", Name: "Carol", Player: 3},
		{Username: "eve", Name: "Eve", Player: 4}}
	for text, want := range map[string]string{
		"/odds @bob":                         "odds " + me + " @bob",
		"/odds carol":                        "odds " + me + " Carol@carol#1003",
		"/odds @bob eve":                     "odds @bob Eve@eve",
		"/odds me & eve vs @bob & carol":     "odds " + me + "+Eve@eve @bob+Carol@carol#1003",
		"/odds @scorebot":                    "odds " + me + " @scorebot?",
		"/odds":                              `answer wrong_form {"command":"odds","reason":"no_opponent"}`,
		"/odds @bob 3:1":                     `answer wrong_form {"command":"odds","reason":"unexpected_word","detail":"3:1"}`,
		"/odds @bob @dave @carol":            `answer wrong_form {"command":"odds","reason":"no_versus"}`,
		"/odds zed":                          `answer unclear_people {"reason":"unknown_name","command":"odds","word":"zed"}`,
		"/odds help":                         `answer help {"topic":"odds"}`,
		"/teams @bob me carol eve":           "teams @bob+" + me + "+Carol@carol#1003+Eve@eve",
		"/teams":                             `answer wrong_form {"command":"teams","reason":"players"}`,
		"/teams @alice @bob vs @carol @dave": `answer wrong_form {"command":"teams","reason":"unexpected_word","detail":"vs"}`,
	} {
		w.group.Say(w.alice, text)
		for _, c := range w.expect(text, want) {
			equal(t, c.malformed, "", "malformed command of %s", text)
		}
	}
	w.group.Reply(w.alice, w.group.Say(w.bob, "Chess?"), "/odds")
	w.expect("in reply", "odds "+me+" Bob@bob#1002")
	w.sim.Private(w.alice).Say(w.alice, "/teams @a1 @b1 @c1 @d1")
	w.expect("in a private chat", `answer group_only {"command":"teams"}`)
}

// teamsBelow returns a /teams message and the bot's answer to it, with buttons for teams.
func (w *world) teamsBelow(text string) (request, answer botsim.Message) {
	w.t.Helper()
	request = w.group.Say(w.alice, text)
	w.handle()
	return request, w.replyBelow(w.group, request.ID, "1n:2", "1w:3")
}

// TestTeamTurns checks that a press that turns the teams, or reports their result, reads the
// players from the /teams message that the answer replies to. Without that message, the button is
// unknown.
func TestTeamTurns(t *testing.T) {
	t.Parallel()
	const players = "Alice@alice#1001+@bob+Dan_2#1004+@eve"
	w := newWorld(t)
	request, answer := w.teamsBelow("/teams me @bob [Dan 2](tg://user?id=1004) @eve")
	for data, want := range map[string]string{
		"1n:2":    fmt.Sprintf("teams %s 2 in %d", players, answer.ID),
		"1n:2:1a": fmt.Sprintf("teams %s 2 in %d", players, answer.ID),
		"1n:1":    fmt.Sprintf("teams %s 1 in %d", players, answer.ID),
		"1n:3":    fmt.Sprintf("teams %s 3 in %d", players, answer.ID),
		"1w:3":    "wizard Alice@alice#1001+@bob Dan_2#1004+@eve",
		"1w:9":    "wizard Alice@alice#1001+@eve @bob+Dan_2#1004",
		"1n:4":    unknownButton,
		"1n:0":    unknownButton,
		"1n:02":   unknownButton,
		"1w:1":    unknownButton,
		"1w:6":    unknownButton,
		"1w:19":   unknownButton,
	} {
		w.sim.Press(w.carol, answer, data)
		o := w.expect(data, want)[0].origin
		if o.Sender.ID != 1003 || o.ReplyTo != int64(answer.ID) {
			t.Errorf("%s: origin %+v", data, o)
		}
		if got := team(append(o.Said.Mentions, o.Said.Sender)); o.Said.MayNamePlayers() &&
			got != "@bob+Dan_2#1004+@eve+Alice@alice#1001" {
			t.Errorf("%s: the /teams mentions %s", data, got)
		}
	}
	w.sim.Press(w.carol, w.replyBelow(w.group, request.ID, "1u:42:0"), "1n:2")
	w.expect("below another message", unknownButton)
	w.sim.Press(w.carol, w.below(w.group, "1n:2"), "1n:2")
	w.expect("without a /teams", unknownButton)
	other := w.group.Say(w.alice, "/odds @bob")
	w.handle()
	w.sim.Press(w.carol, w.replyBelow(w.group, other.ID, "1n:2"), "1n:2")
	w.expect("in reply to something else", unknownButton)
	w.group.Delete(request)
	w.sim.Press(w.carol, answer, "1n:2")
	w.expect("once the /teams is gone", unknownButton)
}

// TestTeamWizardReplies checks that the first number of a typed score belongs to the first team of
// the wizard.
func TestTeamWizardReplies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10:8":      "typed @bob+@eve Carol#1003+@dave 10:8",
		"8 10":      "typed @bob+@eve Carol#1003+@dave 8:10",
		"11:9 11:7": "typed @bob+@eve Carol#1003+@dave 11:9 11:7",
		"zorb":      `answer wrong_form {"command":"match","reason":"unexpected_word","detail":"zorb"}`,
	} {
		w := newWorld(t)
		w.rankings.wizard = &ranking.WizardRequest{Teams: [2][]command.Person{
			{{Username: "bob"}, {Username: "eve"}}, {{ID: 1003, Name: "Carol"}, {Username: "dave"}},
		}}
		w.group.Reply(w.alice, w.below(w.group,
			promptData(promptNine, ranking.ScoreAgainst{Opponent: 0, Score: ladder.Score{A: 1}}),
			promptData(promptNine, ranking.Cancel{})), text)
		w.expect(text, want)
	}
}
