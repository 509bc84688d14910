package bot

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// TestReports checks that reports with names, notes and several results lead to the right service
// calls.
func TestReports(t *testing.T) {
	t.Parallel()
	const me = "Alice@alice#1001"
	people := []command.Person{
		{ID: 1002, Username: "bob", Name: "Bob", Player: 2}, {ID: 1003, Name: "Béla Kovács", Player: 3}, {Username: "kim", Name: "kim", Player: 4},
		{ID: 1005, Username: "bob_2", Name: "Bob", Player: 5}, {ID: 1006, Name: "Carol", Player: 6},
	}
	for text, want := range map[string]string{
		"/match @bob 3:1 @carol 3:2":          "match " + me + " @bob 3:1 and " + me + " @carol 3:2",
		"/match @bob 3:1\n@carol 3:2":         "match " + me + " @bob 3:1 and " + me + " @carol 3:2",
		"/match béla kovacs 3:1":              "match " + me + " Béla_Kovács#1003 3:1",
		"/match KIM 3:1":                      "match " + me + " kim@kim 3:1",
		"/match bob 3:1":                      "ask name bob: " + me + " Bob@bob#1002 3:1, or " + me + " Bob@bob_2#1005 3:1",
		"/match carl 3:1":                     "ask unknown_name carl: " + me + " Carol#1006 3:1, or " + me + " carl 3:1",
		"/match @bob 3:1 11:5 9:11 11:7 11:9": "match " + me + " @bob 11:5 9:11 11:7 11:9",
		"/match a @bob le ganó carol 3-1":     "ask winner : @bob Carol#1006 3:1, or @bob Carol#1006 1:3",
		"/match @bob 3:1\ncarol 3:x\nkim 3:0": "ask line carol 3:x: " + me + " @bob 3:1 and " + me + " kim@kim 3:0",
		"/lost @bob 3:1":                      "match " + me + " @bob 1:3",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rankings.people = people
			w.group.Say(w.alice, text)
			w.expect(text, want)
		})
	}
}

// TestPlayersAreReadOnlyForNames checks that the group's players are not read for a report that
// mentions all its players, even if it contains small talk. A player whose name is a word of small
// talk is still found if the report makes no sense otherwise.
func TestPlayersAreReadOnlyForNames(t *testing.T) {
	t.Parallel()
	const me = "Alice@alice#1001"
	for text, tc := range map[string]struct {
		reads int
		want  string
	}{
		"/match @bob 3:1":                 {0, "match " + me + " @bob 3:1"},
		"/match @bob 3:1 gg":              {0, "match " + me + " @bob 3:1"},
		"/match I beat @bob 3 to 1, easy": {0, "match " + me + " @bob 3:1"},
		"/match @carol vs @bob 3:1":       {0, "match @carol @bob 3:1"},
		"/match @bob 3:1, @carol 3:2 GG!": {0, "match " + me + " @bob 3:1 and " + me + " @carol 3:2"},
		"/match gg 3:1":                   {1, "match " + me + " GG#1005 3:1"},
		"/match @bob kim 3:1":             {1, "match @bob Kim#1006 3:1"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rankings.people = []command.Person{{ID: 1005, Name: "GG", Player: 5}, {ID: 1006, Name: "Kim", Player: 6}}
			w.group.Say(w.alice, text)
			w.expect(text, tc.want)
			equal(t, w.rankings.reads, tc.reads, "reads of the people")
		})
	}
}

// TestWizardReplies checks that a reply to a wizard answers it if the wizard asks the sender of the
// reply. Replies to a card or to a message without buttons are ignored.
func TestWizardReplies(t *testing.T) {
	t.Parallel()
	const me = "Alice@alice#1001"
	opponents := []command.Person{{ID: 1002, Username: "bob", Name: "Bob", Player: 2}}
	opponent := []string{promptData(promptNine, ranking.Choice(0)), promptData(promptNine, ranking.Cancel{})}
	score := []string{promptData(promptNine, ranking.ScoreAgainst{Opponent: 0, Score: ladder.Score{A: 1}}),
		promptData(promptNine, ranking.Cancel{})}
	doubles := []string{promptData(promptNine, ranking.ScoreAgainst{Picks: ranking.Picks{1, 2, 3}, Score: ladder.Win}),
		promptData(promptNine, ranking.Doubles{Picks: ranking.Picks{1, 2, 3}})}
	picks := []string{promptData(promptNine, ranking.Doubles{Picks: ranking.Picks{1, 2}, Page: 1}),
		promptData(promptNine, ranking.Doubles{Picks: ranking.Picks{1}})}
	offersDoubles := append(opponent, promptData(promptNine, ranking.Doubles{Page: 1}))
	const vs = `answer wrong_form {"command":"match","reason":"no_versus","teams":true}`
	for name, tc := range map[string]struct {
		below  []string // data of the buttons below the message
		wizard bool     // whether a wizard is open and asks Alice
		text   string
		want   string
	}{
		"a score":             {score, true, "11:9", "typed " + me + " Bob@bob#1002 11:9"},
		"sets":                {score, true, "11:9 9:11 11:0", "typed " + me + " Bob@bob#1002 11:9 9:11 11:0"},
		"a name":              {opponent, true, "bob", "typed against Bob@bob#1002"},
		"a few words":         {opponent, true, "I played bob", "typed against Bob@bob#1002"},
		"a mention":           {opponent, true, "@dave", "typed against @dave"},
		"a name and a score":  {opponent, true, "bob 3:1", "typed " + me + " Bob@bob#1002 3:1"},
		"nonsense":            {score, true, "3:", `answer wrong_form {"command":"match","reason":"incomplete_score","detail":"3"}`},
		"an unknown name":     {opponent, true, "somebody", "typed unknown_name somebody: somebody"},
		"nearly a name":       {opponent, true, "boob", "typed unknown_name boob: Bob@bob#1002 boob"},
		"nearly, and a score": {opponent, true, "boob 3:1", "typed unknown_name boob: Bob@bob#1002 boob 3:1"},
		"another opponent":    {score, true, "kim 3:1", "typed name kim: Kim#1005 Kim#1006 3:1"},
		"name and sets":       {opponent, true, "kim 11:9 9:11 11:0", "typed name kim: Kim#1005 Kim#1006"},
		"lost, and a name":    {opponent, true, "lost to kim 1:3", "typed name kim: Kim#1005 Kim#1006 1:3"},
		"a match of others":   {opponent, true, "kim beat bob 3:1", `answer wrong_form {"command":"match","reason":"unclear_name","detail":"kim"}`},
		"two names":           {opponent, true, "bob @dave", `answer wrong_form {"command":"match","reason":"no_score"}`},
		"a name of several":   {opponent, true, "kim", "typed name kim: Kim#1005 Kim#1006"},
		"of two against two":  {doubles, true, "11:9", "typed " + me + "+Bob@bob#1002 Kim#1005+Kim#1006 11:9"},
		"a name for a pick":   {picks, true, "bob", vs},
		"a score for a pick":  {picks, true, "bob 3:1", vs},
		"before the picks":    {offersDoubles, true, "bob", "typed against Bob@bob#1002"},
		"a wizard of others":  {score, false, "11:9", ignored},
		"a card":              {[]string{"1u:1:0:Aa0_-zZ9"}, true, "11:9", ignored},
		"without any buttons": {nil, true, "11:9", ignored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rankings.people = append(opponents, command.Person{ID: 1005, Name: "Kim", Player: 5},
				command.Person{ID: 1006, Name: "Kim", Player: 6})
			if tc.wizard {
				w.rankings.wizard = &ranking.WizardRequest{
					ReportMessage: ranking.ReportMessage{Reporter: &command.Person{ID: 1001, Username: "alice", Name: "Alice"}},
					Opponents:     w.rankings.people, Doubles: true,
				}
			}
			w.group.Reply(w.alice, w.below(w.group, tc.below...), tc.text)
			w.expect(name, none(tc.want)...)
		})
	}
}

// promptNine is a prompt's reference as its buttons contain it.
var promptNine = ranking.PromptRef{ID: 9, Tag: "Aa0_-zZ9"}

// TestOpponentWhoIsNotInTheLadder checks that the opponent of a wizard need not be among the
// players of the ladder, and that a typed name is unclear if it may mean the opponent or another
// player.
func TestOpponentWhoIsNotInTheLadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rankings.people = []command.Person{{Username: "Kim", Name: "Kim", Player: 4}, {ID: 1006, Name: "Kim", Player: 6}}
	w.rankings.wizard = &ranking.WizardRequest{Opponents: []command.Person{{ID: 1005, Username: "kim", Name: "Kimberly"}}}
	asks := w.below(w.group, promptData(promptNine, ranking.ScoreAgainst{Opponent: 0, Score: ladder.Score{A: 1}}),
		promptData(promptNine, ranking.Cancel{}))
	w.group.Reply(w.alice, asks, "kim 3:1")
	w.expect("a name of several", "typed name kim: Kimberly@kim#1005 Kim#1006 3:1")
}

// TestQuestionsTellPeopleApart checks that the buttons distinguish people with the same name by
// their marks.
func TestQuestionsTellPeopleApart(t *testing.T) {
	t.Parallel()
	n := ranking.ReportPrompt{Doubt: command.DoubtName, Options: []ranking.ReportOption{
		{Who: &ranking.Name{Player: 1}}, {Who: &ranking.Name{Player: 2}},
	}}
	item := itemOf(t, n)
	item.ID, item.Names = 5, map[int64]outbox.Name{1: {Name: "Bob", Mark: "@bob"}, 2: {Name: "Bob", Mark: "@bob_2"}}
	out, err := render(item, wordsFor("en"))
	must(t, err)
	equal(t, out.buttons[0][0].text+", "+out.buttons[1][0].text, "Bob (@bob), Bob (@bob_2)", "labels")
	if strings.Contains(out.html, "\n") {
		t.Errorf("the readings are listed as well: %s", out.html)
	}
}
