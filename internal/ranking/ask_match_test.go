package ranking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// newAskingGame returns a game whose service asks about unusual reports.
func newAskingGame(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	g.Service = newAskingService(g)
	return g
}

func newAskingService(g *game) *ranking.Service {
	return g.newServiceOn(newStore(g.pool), ranking.Settings{
		// The tests press buttons now but date their reports years back, so the undo window must be
		// longer than the time in between.
		ResultsPerMinute: -1, AskUnusual: true, UndoWindow: 100 * 365 * 24 * time.Hour,
	})
}

// report has a person report results and returns the answer. The message is sent the given number
// of seconds after the start of the test's clock.
func (g *game) report(t *testing.T, sender *command.Person, seconds int, reports ...command.Match) ranking.Notice {
	t.Helper()
	o := g.at(sender, seconds)
	must(t, g.RecordMatch(t.Context(), o, reports...))
	return g.notice(t, o.Key)
}

func result(score [2]int, a, b string) ranking.NamedResult {
	return ranking.NamedResult{Sides: [2][]ranking.Name{{{Name: a}}, {{Name: b}}}, Score: score}
}

func by(name string) ranking.Reporter { return ranking.Reporter{Name: &ranking.Name{Name: name}} }

func TestDuplicates(t *testing.T) {
	t.Parallel()
	sets := command.Match{A: []command.Person{alice}, B: []command.Person{bob},
		Scores: []ladder.Score{{A: 11, B: 5}, {A: 5, B: 11}, {A: 11, B: 5}, {A: 11, B: 5}}}
	mirrored := command.Match{A: sets.B, B: sets.A,
		Scores: []ladder.Score{{A: 5, B: 11}, {A: 11, B: 5}, {A: 5, B: 11}, {A: 5, B: 11}}}
	otherSets := sets
	otherSets.Scores = []ladder.Score{{A: 11, B: 5}, {A: 6, B: 11}, {A: 11, B: 5}, {A: 11, B: 5}}
	doubles := func(a, b, c, d command.Person) command.Match {
		return command.Match{A: []command.Person{a, b}, B: []command.Person{c, d}, Scores: []ladder.Score{{A: 3, B: 1}}}
	}
	for name, tc := range map[string]struct {
		first, second command.Match
		by            *command.Person // reports the second match; Alice reports the first
		seconds       int             // from the first report to the second
		asked         bool
	}{
		"mirrored by the loser":         {singles(alice, bob, 3, 1), singles(bob, alice, 1, 3), &bob, 600, true},
		"earlier by the loser":          {singles(alice, bob, 3, 1), singles(bob, alice, 1, 3), &bob, -600, true},
		"later":                         {singles(alice, bob, 3, 1), singles(bob, alice, 1, 3), &bob, 601, false},
		"by an admin":                   {singles(alice, bob, 3, 1), singles(alice, bob, 3, 1), nil, 0, true},
		"by the same person":            {singles(alice, bob, 3, 1), singles(alice, bob, 3, 1), &alice, 30, true},
		"by the same person later":      {singles(alice, bob, 3, 1), singles(alice, bob, 3, 1), &alice, 31, false},
		"by the same person, no score":  {singles(alice, bob, 3, 1), without(alice, bob, ladder.Win), &alice, 1, false},
		"the score by the same person":  {without(alice, bob, ladder.Win), singles(alice, bob, 3, 1), &alice, 1, false},
		"no score twice":                {without(alice, bob, ladder.Win), without(alice, bob, ladder.Win), &alice, 1, true},
		"another winner":                {singles(alice, bob, 3, 1), singles(bob, alice, 3, 1), &bob, 0, false},
		"another score":                 {singles(alice, bob, 3, 1), singles(alice, bob, 3, 2), &bob, 0, false},
		"another opponent":              {singles(alice, bob, 3, 1), singles(alice, carol, 3, 1), &carol, 0, false},
		"a draw":                        {singles(alice, bob, 2, 2), singles(bob, alice, 2, 2), &bob, 0, true},
		"without the score":             {singles(alice, bob, 3, 1), without(bob, alice, ladder.Loss), &bob, 0, true},
		"both without a score":          {without(alice, bob, ladder.Win), without(bob, alice, ladder.Loss), &bob, 0, true},
		"another winner, no score":      {singles(alice, bob, 3, 1), without(bob, alice, ladder.Win), &bob, 0, false},
		"a draw, no score":              {without(alice, bob, ladder.Draw), singles(bob, alice, 2, 2), &bob, 0, true},
		"sets, and their total":         {sets, singles(bob, alice, 1, 3), &bob, 0, true},
		"sets":                          {sets, mirrored, &bob, 0, true},
		"other sets":                    {sets, otherSets, &bob, 0, false},
		"teams in another order":        {doubles(alice, bob, carol, zoe), doubles(bob, alice, zoe, carol), &bob, 0, true},
		"teams with exchanged partners": {doubles(alice, bob, carol, zoe), doubles(alice, carol, bob, zoe), &bob, 0, false},
		"mentioned by username":         {singles(alice, bob, 3, 1), singles(command.Person{Username: "alice"}, bob, 3, 1), &bob, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAskingGame(t)
			g.report(t, &alice, 0, tc.first)
			prompt, asked := g.report(t, tc.by, tc.seconds, tc.second).(ranking.ReportPrompt)
			if asked != tc.asked || asked && (prompt.Doubt != ranking.DoubtDuplicate || prompt.Earlier.Number != 1) {
				t.Errorf("asked: %v, want %v: %+v", asked, tc.asked, prompt)
			}
			want := 2
			if asked {
				want = 1
			}
			g.has(t, want, "matches")
		})
	}
}

// TestDuplicatesOfSeveral checks that the prompt about a message with several results names each
// duplicate and the earlier match that it repeats.
func TestDuplicatesOfSeveral(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	g.report(t, &carol, 1, singles(carol, zoe, 3, 0))
	again := []command.Match{singles(zoe, bob, 3, 2), singles(bob, alice, 1, 3), singles(zoe, carol, 0, 3)}
	prompt, _ := g.report(t, &zoe, 2, again...).(ranking.ReportPrompt)
	prompt.Options = nil
	checkNotice(t, prompt, ranking.ReportPrompt{
		Doubt:       ranking.DoubtDuplicate,
		Earlier:     &ranking.EarlierReport{Number: 1, By: by("Alice"), Result: new(result([2]int{1, 3}, "Bob", "Alice"))},
		MoreEarlier: []ranking.EarlierReport{{Number: 2, By: by("Carol"), Result: new(result([2]int{0, 3}, "Zoe", "Carol"))}},
	})
}

// TestLastOfTheTwo checks that a report with one result counts as a repetition of an earlier report
// by the same sender only if the two players have no later match. If a message with several results
// is sent twice, the bot asks about each result.
func TestLastOfTheTwo(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	asked := func(sender *command.Person, seconds int, reports ...command.Match) int {
		t.Helper()
		prompt, _ := g.report(t, sender, seconds, reports...).(ranking.ReportPrompt)
		return len(prompt.Options)
	}
	asked(&alice, 0, singles(alice, bob, 3, 1))
	asked(&alice, 1, singles(alice, carol, 3, 1))
	asked(&alice, 2, singles(bob, alice, 3, 2))
	if asked(&alice, 3, singles(alice, bob, 3, 1)) != 0 {
		t.Error("not the last match of Alice and Bob is taken for a repetition")
	}
	if asked(&alice, 4, singles(alice, carol, 3, 1)) != 1 || asked(&bob, 5, singles(bob, alice, 3, 2)) != 1 {
		t.Error("the last match, or one that somebody else has reported, is not asked about")
	}
	evening := []command.Match{singles(zoe, bob, 3, 1), singles(zoe, bob, 3, 2)}
	if asked(&zoe, 100, evening...) != 0 || asked(&zoe, 110, evening...) != 3 {
		t.Error("a message sent again is not asked about")
	}
}

// TestReportedByBoth checks that once both players have reported a match, no further report counts
// as a duplicate of that match.
func TestReportedByBoth(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	asks := func(sender *command.Person, seconds int, report command.Match, option ranking.PromptOption) bool {
		t.Helper()
		_, asked := g.report(t, sender, seconds, report).(ranking.ReportPrompt)
		if asked {
			g.pressWizard(t, sender, option)
		}
		return asked
	}
	won, lost := singles(alice, bob, 3, 1), singles(bob, alice, 1, 3)
	asks(&alice, 0, won, nil)
	// Bob reports another game with the result of m:1, and then m:1 itself.
	if !asks(&bob, 60, lost, ranking.Choice(0)) || !asks(&bob, 100, lost, ranking.Cancel{}) {
		t.Error("Bob’s report is not asked about")
	}
	if asks(&bob, 200, lost, nil) {
		t.Error("what both have reported is asked about")
	}
	if !asks(&alice, 300, won, ranking.Cancel{}) {
		t.Error("what only Bob has reported is not asked about")
	}
	asks(&alice, 1000, without(alice, bob, ladder.Win), nil)
	if !asks(&bob, 1010, lost, ranking.Complete{}) || asks(&bob, 1020, lost, nil) {
		t.Error("a match whose score Bob has added is not reported by both")
	}
	g.verifyClean(t)
}

// TestAnswerToEach checks that the prompt about several duplicates has a button for all of them,
// and a button for each.
func TestAnswerToEach(t *testing.T) {
	t.Parallel()
	for option, want := range map[ranking.Choice][]string{
		0: {"m:3 Bob Alice 1:3", "m:3#2 Bob Carol 3:0"}, 1: {"m:3 Bob Alice 1:3"}, 2: {"m:3#2 Bob Carol 3:0"},
	} {
		g := newAskingGame(t)
		g.report(t, &alice, 0, singles(alice, bob, 3, 1))
		g.report(t, &carol, 1, singles(bob, carol, 3, 0))
		g.report(t, &bob, 2, singles(bob, alice, 1, 3), singles(bob, carol, 3, 0))
		g.pressWizard(t, &bob, option)
		g.hasMatches(t, append([]string{"m:1 Alice Bob 3:1", "m:2 Bob Carol 3:0"}, want...)...)
	}
}

// TestSameResultTwice checks that an earlier match has at most one duplicate in a message, even if
// the message repeats the result.
func TestSameResultTwice(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
	twice := []command.Match{singles(bob, alice, 1, 3), singles(bob, alice, 1, 3)}
	g.report(t, &bob, 2, twice...)
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2 Bob Alice 1:3")
	prompt, _ := g.report(t, &alice, 4, twice...).(ranking.ReportPrompt)
	if len(prompt.MoreEarlier) != 1 || prompt.Earlier.Number == prompt.MoreEarlier[0].Number {
		t.Errorf("the question is %+v", prompt)
	}
}

// TestNoDuplicates checks that a report duplicates neither an undone match nor another result in
// its message. A service that does not ask about unusual reports records a duplicate at once.
func TestNoDuplicates(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 1, 0), singles(alice, bob, 1, 0))
	for number := 1; number <= 2; number++ {
		must(t, g.Do(t.Context(), g.at(&alice, 1), ranking.UndoMatch{Amendment: matchNumber(number)}))
	}
	g.report(t, &bob, 2, singles(alice, bob, 1, 0))
	g.Service = g.newService(g.store)
	g.report(t, &alice, 3, singles(alice, bob, 1, 0))
	g.has(t, 4, "matches")
}

// TestAnotherGame checks that only the players of a possible duplicate may answer the prompt about
// it, if one of them reported it. Cancel records nothing. A Choice records the match as of the time
// of its report.
func TestAnotherGame(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	o := g.at(&bob, 125)
	earlier := 0
	ask := func() ranking.PromptRef {
		g.report(t, &alice, 1000*earlier, singles(alice, bob, 3, 1))
		o = g.at(&bob, 1000*earlier+125)
		earlier++
		must(t, g.RecordMatch(t.Context(), o, singles(bob, alice, 1, 3)))
		checkNotice(t, g.notice(t, o.Key), ranking.ReportPrompt{
			Doubt:   ranking.DoubtDuplicate,
			Options: []ranking.ReportOption{{Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")}}},
			Earlier: &ranking.EarlierReport{Number: earlier, By: by("Alice")},
		})
		return g.newestPrompt(t)
	}
	id := ask()
	for _, other := range []*command.Person{&carol, nil} {
		key := g.pressPrompt(t, other, id, ranking.Choice(0))
		checkNotice(t, g.answer(t, key, toast), ranking.Refusal{Code: ranking.NotYourReport})
	}
	for _, unknown := range []ranking.PromptOption{ranking.Choice(1), ranking.Choice(-1), ranking.OpponentPage(1), nil} {
		checkNotice(t, g.answer(t, g.pressPrompt(t, &bob, id, unknown), toast), ranking.Refusal{Code: ranking.UnknownButton})
	}
	checkNotice(t, g.answer(t, g.pressPrompt(t, &alice, id, ranking.Cancel{}), page), ranking.ReportDropped{
		By: new(by("Alice")), Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")},
	})
	checkNotice(t, g.answer(t, g.pressPrompt(t, &bob, id, ranking.Choice(0)), toast),
		ranking.Refusal{Code: ranking.PromptOver})
	if n := g.count(t, "matches"); n != 1 {
		t.Fatalf("%d matches after the question was canceled, want 1", n)
	}
	key := g.pressPrompt(t, &alice, ask(), ranking.Choice(0))
	checkNotice(t, g.answer(t, key, page),
		ranking.ReportChosen{Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")}, By: by("Alice")})
	got := texts(t, g, `
		SELECT concat_ws(' ', m.number, m.idempotency_key = $1, p.username, m.played_at = $2,
			o.kind, o.action, o.reply_to, o.thread_id)
		FROM matches m JOIN players p ON p.id = m.reported_by JOIN outbox o ON o.match_id = m.id
		WHERE m.number = 3`, o.Key, o.SentAt)
	equal(t, "the match", []string{"3 t bob t match_recorded send 7 8"}, got)
	g.mustEnd(t, "answered", false, "cancelled", "answered")
}

// TestReportsAtOnce checks that if both players report one game at once, on two instances, the bot
// records one report and asks about the other.
func TestReportsAtOnce(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 0)) // adds both players
	for round := range 10 {
		var both errgroup.Group
		for _, p := range []command.Person{alice, bob} {
			o, s := g.at(&p, 3600*(round+1)), newAskingService(g)
			both.Go(func() error { return s.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)) })
		}
		must(t, both.Wait())
		if matches, prompts := g.count(t, "matches"), g.count(t, "prompts"); matches != round+2 || prompts != round+1 {
			t.Fatalf("%d matches and %d prompts after %d games", matches, prompts, round+1)
		}
	}
}

// TestNearUsernames checks that the bot asks before it adds a player whose username is close to a
// known username.
func TestNearUsernames(t *testing.T) {
	t.Parallel()
	for username, asked := range map[string]bool{
		"bobb": true, "Bobb": true, "bobby": false, "b0bb": false, "bob1": false, "zo": false, "aliice": true, "alise": true, "alce": true, "alcie": true, "laice": true,
		"bo": true, "obb": true, "bbob": true, "rob": false, "alie1": false, "alcei": false, "valentin": true, "valentian": true, "waldentin": false,
	} {
		t.Run(username, func(t *testing.T) {
			t.Parallel()
			g := newAskingGame(t)
			g.report(t, &alice, 0, singles(alice, bob, 3, 0), singles(alice, command.Person{Username: "valentina"}, 3, 0))
			_, got := g.report(t, &carol, 1, singles(carol, command.Person{Username: username}, 3, 0)).(ranking.ReportPrompt)
			if got != asked {
				t.Errorf("asked: %v, want %v", got, asked)
			}
			known := g.count(t, fmt.Sprintf("players WHERE username = '%s'", username))
			if (known == 0) != asked {
				t.Errorf("%d players have the username", known)
			}
		})
	}
}

// TestUsernamesOfKnownPlayers checks that the bot asks about a new username that resembles a
// player’s name, username or former username.
func TestUsernamesOfKnownPlayers(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	maria, david := command.Person{ID: 31, Username: "masha77", Name: "María García"},
		command.Person{ID: 32, Username: "davey_k", Name: "Dave"}
	sasha := command.Person{ID: 33, Username: "Alex_One", Name: "Alex"}
	g.report(t, &maria, 0, singles(maria, david, 3, 0))
	g.report(t, &sasha, 1, singles(sasha, david, 3, 0))
	sasha.Username, sasha.Name = "sasha_new", "Sasha"
	g.report(t, &sasha, 2, singles(sasha, david, 3, 1))
	for username, want := range map[string]string{
		"maria": "María García", "DAVE": "Dave", "alex_one": "Sasha",
		"davey": "Dave", "davey_": "Dave", "daveyk": "Dave", "garcia": "", "alexa": "",
	} {
		got := ""
		if n, ok := g.report(t, &alice, 3,
			singles(alice, command.Person{Username: username}, 3, 0)).(ranking.ReportPrompt); ok {
			got = n.Options[0].Who.Name
			if len(n.Options) != 2 || !n.Options[1].New || n.Options[1].Who.Name != "@"+username {
				t.Errorf("@%s: the options are %+v", username, n.Options)
			}
		}
		if got != want {
			t.Errorf("@%s may be %q, want %q", username, got, want)
		}
	}
}

func TestNearUsernameAnswered(t *testing.T) {
	t.Parallel()
	for option, want := range map[ranking.PromptOption]string{
		ranking.Choice(0): "Carol Bob", ranking.Choice(1): "Carol bobb",
	} {
		g := newAskingGame(t)
		g.report(t, &alice, 0, singles(alice, bob, 3, 0))
		report := singles(carol, command.Person{Username: "bobb"}, 3, 0)
		checkNotice(t, g.report(t, &carol, 1, report), ranking.ReportPrompt{
			Doubt: ranking.DoubtUsername, Word: "bobb", Options: []ranking.ReportOption{
				{Results: []ranking.NamedResult{result([2]int{3, 0}, "Carol", "Bob")}, Who: &ranking.Name{Name: "Bob"}},
				{Results: []ranking.NamedResult{result([2]int{3, 0}, "Carol", "@bobb")}, Who: &ranking.Name{Name: "@bobb"}, New: true},
			},
		})
		g.pressWizard(t, &carol, option)
		got := texts(t, g, `
			SELECT string_agg(s.name, ' ' ORDER BY mp.place) FROM match_players mp JOIN matches m ON m.id = mp.match_id
			JOIN group_players s ON s.player_id = mp.player_id WHERE m.number = 2`)
		equal(t, fmt.Sprint("option ", option), []string{want}, got)
	}
}

// TestAskMatch checks that the prompt offers the readings, except for those in which a match names
// a person twice.
func TestAskMatch(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	o := g.origin(&alice)
	g.doubt(t, o, command.Report{Doubt: command.DoubtResults, Readings: []command.Reading{
		{singles(alice, bob, 3, 1), singles(alice, carol, 3, 2)},
		{singles(bob, carol, 2, 0)},
		{singles(bob, bob, 2, 0)}, // impossible, not offered
	}})
	prompt, ok := g.notice(t, o.Key).(ranking.ReportPrompt)
	if !ok || len(prompt.Options) != 2 || len(prompt.Options[0].Results) != 2 || len(prompt.Options[1].Results) != 1 {
		t.Fatalf("the question is %+v", prompt)
	}
	g.has(t, 0, "players")
	g.pressWizard(t, &alice, ranking.Choice(0))
	keys := texts(t, g, `SELECT idempotency_key FROM matches ORDER BY number`)
	equal(t, "keys", []string{o.Key, o.Key + "#2"}, keys)
}

// TestQuestionAfterQuestion checks that an answer may lead to another question, even if the person
// who answers is not a player. The new question replaces the first question in the message, with
// new buttons and a new time limit. Neither question adds a player.
func TestQuestionAfterQuestion(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 0))
	o := g.origin(&zoe)
	bobb := command.Person{Username: "bobb"}
	g.doubt(t, o, command.Report{Doubt: command.DoubtWinner, Readings: []command.Reading{
		{singles(zoe, bobb, 3, 1)}, {singles(zoe, bobb, 1, 3)},
	}})
	first := g.newestPrompt(t)
	g.due(t)
	next, ok := g.answer(t, g.pressPrompt(t, &zoe, first, ranking.Choice(1)), page).(ranking.ReportPrompt)
	g.has(t, 1, "timers WHERE due_at BETWEEN now() + interval '4 minutes' AND now() + interval '5 minutes'")
	if !ok || next.Doubt != ranking.DoubtUsername || len(next.Options) != 2 || next.Prompt != first.ID {
		t.Fatalf("the next question is %+v", next)
	}
	again := g.pressPrompt(t, &zoe, first, ranking.Choice(1))
	checkNotice(t, g.answer(t, again, toast), ranking.Refusal{Code: ranking.UnknownButton})
	g.has(t, 2, "players")
	key := g.pressPrompt(t, &zoe, ranking.PromptRef{ID: first.ID, Tag: next.Tag}, ranking.Choice(1))
	checkNotice(t, g.answer(t, key, page),
		ranking.ReportChosen{Results: []ranking.NamedResult{result([2]int{1, 3}, "Zoe", "@bobb")}, By: by("Zoe")})
	g.has(t, 1, "matches WHERE score_b = 3")
	g.has(t, 2, "outbox WHERE action = 'send' AND kind = 'match_recorded'")
	g.mustEnd(t, "answered", false, "answered")
}

// TestOneOfSeveralRepeated checks that if one of three results is a duplicate, the others are
// recorded at once, under their own keys. The answer affects only the duplicate, and only once.
func TestOneOfSeveralRepeated(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
	o := g.at(&bob, 2)
	deliver := func() {
		t.Helper()
		must(t, g.RecordMatch(t.Context(), o, singles(bob, carol, 3, 0), singles(bob, alice, 1, 3), singles(bob, zoe, 3, 2)))
	}
	deliver()
	deliver()
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2 Bob Carol 3:0", "m:2#3 Bob Zoe 3:2")
	checkNotice(t, g.notice(t, o.Key), ranking.ReportPrompt{
		Doubt:   ranking.DoubtDuplicate,
		Options: []ranking.ReportOption{{Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")}}},
		Earlier: &ranking.EarlierReport{Number: 1, By: by("Alice"), Result: new(result([2]int{1, 3}, "Bob", "Alice"))},
	})
	prompt := g.newestPrompt(t)
	press := func() ranking.Origin {
		p := g.press(&bob)
		for range 2 { // the second is a redelivery
			must(t, g.Do(t.Context(), p, answerBy(prompt, ranking.Choice(0))))
		}
		return p
	}
	checkNotice(t, g.answer(t, press().Key, page), ranking.ReportChosen{
		Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")}, By: by("Bob"),
	})
	checkNotice(t, g.answer(t, press().Key, toast), ranking.Refusal{Code: ranking.PromptOver})
	deliver()
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2 Bob Carol 3:0", "m:2#3 Bob Zoe 3:2", "m:2#2 Bob Alice 1:3")
	g.verifyClean(t)
}

// TestSlipInALine checks that if a message has a doubtful username, all its results with new
// players wait for the answer. A result of known players is recorded at once. Before the answer, no
// mentioned player is added.
func TestSlipInALine(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1), singles(alice, carol, 3, 1))
	bobb, carl := command.Person{Username: "bobb"}, command.Person{Username: "carrol"}
	g.report(t, &zoe, 60, singles(zoe, bobb, 3, 0), singles(zoe, bob, 3, 2), singles(zoe, carl, 3, 1))
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:1#2 Alice Carol 3:1")
	g.report(t, &zoe, 61, singles(bob, carol, 2, 1), singles(zoe, bobb, 3, 0), singles(zoe, carl, 3, 1))
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:1#2 Alice Carol 3:1", "m:3 Bob Carol 2:1")
	g.has(t, 4, "players") // with Zoe, the sender
	prompt := g.newestPrompt(t)
	key := g.pressPrompt(t, &zoe, prompt, ranking.Choice(1)) // bobb is a new player
	prompt.Tag = g.answer(t, key, page).(ranking.ReportPrompt).Tag
	g.pressPrompt(t, &zoe, prompt, ranking.Choice(0))
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:1#2 Alice Carol 3:1", "m:3 Bob Carol 2:1",
		"m:3#2 Zoe bobb 3:0", "m:3#3 Zoe Carol 3:1")
	g.verifyClean(t)
}

// TestGhosts checks that a player who is known only from mentions disappears when the player's only
// match is undone, and comes back when the match is restored.
func TestGhosts(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	dan := command.Person{Username: "bobb"}
	ask := func() bool {
		t.Helper()
		_, asked := g.report(t, &carol, 60, singles(carol, dan, 3, 0)).(ranking.ReportPrompt)
		return asked
	}
	g.Service = g.newService(g.store)
	g.report(t, &alice, 1, singles(alice, dan, 3, 1))
	g.Service = newAskingService(g)
	must(t, g.Do(t.Context(), g.at(&alice, 2), ranking.UndoMatch{Amendment: matchNumber(2)}))
	if !ask() {
		t.Error("a ghost is known")
	}
	g.has(t, 1, "matches WHERE undone_at IS NULL")
	must(t, g.Do(t.Context(), g.at(&alice, 3), ranking.RestoreMatch{Amendment: matchNumber(2)}))
	if ask() {
		t.Error("the restored player is unknown")
	}
	g.verifyClean(t)
}

// TestGhostAccounts checks that a person who is known only from mentions disappears when the
// person's only match in the group is undone, even if the reports showed the person's account. If
// the person has sent a command to the group, the undo does not remove them.
func TestGhostAccounts(t *testing.T) {
	t.Parallel()
	for _, named := range []command.Person{carol, zoe} { // with and without a username
		g := newGame(t)
		isHere := func(want bool, when string) {
			t.Helper()
			if isHere := strings.Contains(fmt.Sprint(g.everybody(t)), named.Name); isHere != want {
				t.Errorf("%s is here %s: %t", named.Name, when, isHere)
			}
		}
		amend := func(match int, op func(ranking.Amendment) ranking.Operation) {
			t.Helper()
			must(t, g.Do(t.Context(), g.origin(&alice), op(matchNumber(match))))
		}
		undo := func(a ranking.Amendment) ranking.Operation { return ranking.UndoMatch{Amendment: a} }
		elsewhere := g.origin(&alice)
		elsewhere.Chat = otherClub
		must(t, g.RecordMatch(t.Context(), elsewhere, singles(alice, named, 3, 1)))
		g.record(t, &alice, alice, named, 3, 1)
		isHere(true, "after a match")
		amend(1, undo)
		isHere(false, "after the undo")
		amend(1, func(a ranking.Amendment) ranking.Operation { return ranking.RestoreMatch{Amendment: a} })
		isHere(true, "after the restore")
		must(t, g.Do(t.Context(), g.origin(&named), ranking.Join{}))
		amend(1, undo)
		isHere(true, "after /join and the undo")
	}
}

// TestPartIsDropped checks that the message about a dropped part of a report names that part. The
// rest of the report is recorded.
func TestPartIsDropped(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
	g.report(t, &bob, 2, singles(bob, alice, 1, 3), singles(bob, carol, 3, 0))
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, ranking.Cancel{}), page), ranking.ReportDropped{
		By: new(by("Alice")), Results: []ranking.NamedResult{result([2]int{1, 3}, "Bob", "Alice")},
	})
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2#2 Bob Carol 3:0")
	g.verifyClean(t)
}

// TestBadLine checks that if one line of a message is unreadable, a button records the other lines.
// When the sender corrects the line, before or after the press, the line is recorded too, and no
// line is recorded twice.
func TestBadLine(t *testing.T) {
	t.Parallel()
	others := []command.Match{singles(alice, bob, 3, 1), singles(alice, zoe, 3, 0)}
	all := []command.Match{others[0], singles(alice, carol, 3, 2), others[1]}
	for _, editsFirst := range []bool{false, true} {
		g := newAskingGame(t)
		o := g.origin(&alice)
		g.doubt(t, o, command.Report{Doubt: command.DoubtLine, Word: "carol 3:x", Readings: []command.Reading{others}})
		prompt, want := g.newestPrompt(t), []string{"m:1 Alice Bob 3:1", "m:1#2 Alice Zoe 3:0", "m:1#3 Alice Carol 3:2"}
		if !editsFirst {
			g.pressPrompt(t, &alice, prompt, ranking.Choice(0))
			g.hasMatches(t, want[:2]...)
		} else {
			want = []string{"m:1 Alice Bob 3:1", "m:1#2 Alice Carol 3:2", "m:1#3 Alice Zoe 3:0"}
		}
		must(t, g.RecordMatch(t.Context(), editOf(&alice, o.Key, 60), all...))
		g.pressPrompt(t, &alice, prompt, ranking.Choice(0))
		g.hasMatches(t, want...)
		g.verifyClean(t)
	}
}

// TestAnswerThatRecordsAPart checks that an answer about several results records the new results at
// once. The next question is about the duplicate.
func TestAnswerThatRecordsAPart(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
	o := g.at(&bob, 2)
	g.doubt(t, o, command.Report{Doubt: command.DoubtResults, Readings: []command.Reading{
		{singles(bob, alice, 1, 3), singles(bob, carol, 3, 0)}, {singles(alice, carol, 3, 0)},
	}})
	prompt := g.newestPrompt(t)
	answer := func() ranking.Notice {
		t.Helper()
		return g.answer(t, g.pressPrompt(t, &bob, prompt, ranking.Choice(0)), page)
	}
	next := answer().(ranking.ReportPrompt)
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2#2 Bob Carol 3:0")
	prompt.Tag = next.Tag
	if _, ok := answer().(ranking.ReportChosen); !ok || next.Prompt != prompt.ID || next.Doubt != ranking.DoubtDuplicate {
		t.Errorf("the next question is %+v", next)
	}
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2#2 Bob Carol 3:0", "m:2 Bob Alice 1:3")
	g.verifyClean(t)
}

// hasMatches checks the key, the players and the score of each match, ordered by number.
func (g *game) hasMatches(t *testing.T, want ...string) {
	t.Helper()
	got := texts(t, g, `
		SELECT m.idempotency_key || ' ' || (SELECT string_agg(s.name, ' ' ORDER BY mp.place) FROM match_players mp
		           JOIN group_players s ON s.player_id = mp.player_id AND s.season_id = m.season_id WHERE mp.match_id = m.id)
		       || ' ' || score_a || ':' || score_b
		FROM matches m ORDER BY number`)
	equal(t, "matches", want, got)
}

// TestOnlyOneMeant checks that if an unknown name can mean only one player, the prompt names that
// player.
func TestOnlyOneMeant(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 0))
	people := g.everybody(t)
	o := g.origin(&alice)
	g.doubt(t, o, command.Report{
		Doubt: command.DoubtUnknownName, Word: "bobi", Readings: []command.Reading{{singles(alice, people[1], 3, 1)}},
	})
	checkNotice(t, g.notice(t, o.Key), ranking.ReportPrompt{Doubt: command.DoubtUnknownName, Word: "bobi",
		Options: []ranking.ReportOption{
			{Results: []ranking.NamedResult{result([2]int{3, 1}, "Alice", "Bob")}, Who: &ranking.Name{Name: "Bob"}},
		}})
}

// TestAnswersThatAreNoPeople checks that options are shown as people only if the question is about
// a name and each option means a different person.
func TestAnswersThatAreNoPeople(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 0), singles(alice, carol, 3, 0))
	people := g.everybody(t)
	named := func(score int, i int) []command.Match { return []command.Match{singles(alice, people[i], score, 1)} }
	asked := map[string]ranking.Notice{"duplicate": g.report(t, &alice, 1, singles(alice, people[1], 3, 0))}
	for name, q := range map[string]command.Report{
		"results":         {Doubt: command.DoubtResults, Readings: []command.Reading{named(3, 1)}},
		"winner":          {Doubt: command.DoubtWinner, Readings: []command.Reading{named(1, 1)}},
		"name and winner": {Doubt: command.DoubtName, Word: "b", Readings: []command.Reading{named(3, 1), named(0, 1), named(3, 2), named(0, 2)}},
	} {
		o := g.origin(&alice)
		g.doubt(t, o, q)
		asked[name] = g.notice(t, o.Key)
	}
	for name, n := range asked {
		prompt, ok := n.(ranking.ReportPrompt)
		if !ok || len(prompt.Options) == 0 {
			t.Errorf("%s: the question is %+v", name, n)
		}
		for _, o := range prompt.Options {
			if o.Who != nil {
				t.Errorf("%s: an answer is shown as %+v", name, o.Who)
			}
		}
	}
}

// TestEarlierNames checks that an answer does not overwrite names that were seen after the prompt
// was made.
func TestEarlierNames(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	g.report(t, &bob, 1, singles(alice, bob, 3, 1))
	renamed := bob
	renamed.Username, renamed.Name = "robert", "Robert"
	must(t, g.Do(t.Context(), g.at(&renamed, 2), ranking.Join{}))
	p := g.at(&alice, 3)
	p.Button = p.Key
	must(t, g.Do(t.Context(), below(77, p), answerBy(g.newestPrompt(t), ranking.Choice(0))))
	got := texts(t, g, `SELECT concat_ws(' ', s.name, p.username) FROM group_players s
		JOIN players p ON p.id = s.player_id ORDER BY 1`)
	equal(t, "the players", []string{"Alice alice", "Robert robert"}, got)
	g.has(t, 2, "matches")
}

// TestLadderOfAPromptIsGone checks that an answer about a ladder that no longer exists records
// nothing in any other ladder.
func TestLadderOfAPromptIsGone(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
	g.report(t, &bob, 2, singles(bob, alice, 1, 3))
	prompt := g.newestPrompt(t)
	g.exec(t, `UPDATE prompts SET request = jsonb_set(request, '{ladder}', '99')`)
	key := g.pressPrompt(t, &bob, prompt, ranking.Choice(0))
	checkNotice(t, g.answer(t, key, toast), ranking.Refusal{Code: ranking.PromptOver})
	g.hasMatches(t, "m:1 Alice Bob 3:1")
}
