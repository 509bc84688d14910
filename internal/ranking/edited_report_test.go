package ranking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// edit edits the message of the command with the given key, and returns the offer to fix its match.
// If there is no offer, edit returns nil and checks that nothing was stored.
func (g *game) edit(t *testing.T, o ranking.Origin, key string, r command.Match) *ranking.FixOffer {
	t.Helper()
	before := g.count(t, "outbox") + g.count(t, "handled_commands") + g.count(t, "players")
	o.Message = key
	must(t, g.RecordMatch(t.Context(), o, r))
	offers := notices[ranking.FixOffer](t, g, `kind = 'fix_offer' AND purpose = 'answer' AND key = $1`, o.Key)
	after := g.count(t, "outbox") + g.count(t, "handled_commands") + g.count(t, "players")
	switch {
	case len(offers) == 0 && before == after:
		return nil
	case len(offers) == 1 && after == before+2:
		return &offers[0]
	}
	t.Fatalf("%d offers and %d new rows", len(offers), after-before)
	return nil
}

// accept presses the button on message 77 that offers to fix match 1. changes is how often the
// match had been changed when the button was made.
func (g *game) accept(t *testing.T, who *command.Person, changes int, scores ...ladder.Score) ranking.Origin {
	t.Helper()
	o := g.press(who)
	o.SentAt = g.origin(who).SentAt
	a := ranking.Amendment{Match: ranking.MatchRef{Number: 1, Tag: ranking.TagOf("m:1")}, Changes: &changes}
	must(t, g.Do(t.Context(), below(77, o), ranking.AcceptFix{Amendment: a, Scores: scores}))
	return o
}

// offered returns the new content of the offer's message after a press. It checks that the press
// gets an empty answer, and that no message but a card is sent.
func (g *game) offered(t *testing.T, o ranking.Origin) ranking.Notice {
	t.Helper()
	g.has(t, 1, fmt.Sprintf("outbox WHERE key = '%s' AND kind = 'acknowledged' AND action = 'callback_answer'", o.Key))
	g.has(t, 0, fmt.Sprintf("outbox WHERE key = '%s' AND action = 'send' AND kind <> 'match_recorded'", o.Key))
	return g.answer(t, o.Key, "action = 'page' AND edited_message_id = 77")
}

// TestOfferIsOver checks that if an offer can no longer be accepted, a press replaces it with the
// reason. If the match does not exist, the press only gets a toast.
func TestOfferIsOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before func(*game)
		want   ranking.Refusal
	}{
		"corrected": {
			func(g *game) { g.fix(t, &bob, matchNumber(1), ladder.Score{A: 5, B: 0}) },
			ranking.Refusal{Code: ranking.ChangedSince, Number: 1},
		},
		"undone": {
			func(g *game) { g.undo(t, &bob, matchNumber(1)) },
			ranking.Refusal{Code: ranking.UndoneAlready, Number: 1, Minutes: 1440},
		},
		"no draws": {
			func(g *game) { g.exec(t, `UPDATE ladders SET draws_allowed = false`) },
			ranking.Refusal{Code: ranking.NoDraws},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			tc.before(g)
			before := g.cards(t, 1)
			checkNotice(t, g.offered(t, g.accept(t, &alice, 0, ladder.Score{A: 2, B: 2})), tc.want)
			if after := g.cards(t, 1); len(after) != len(before) {
				t.Errorf("%d cards, want %d", len(after), len(before))
			}
			g.verifyClean(t)
		})
	}
	g := newGame(t)
	nothing := g.press(&alice)
	a := ranking.Amendment{Match: ranking.MatchRef{Number: 1, Tag: ranking.TagOf("m:1")}, Changes: new(int)}
	must(t, g.Do(t.Context(), below(77, nothing), ranking.AcceptFix{Amendment: a, Scores: []ladder.Score{{A: 2, B: 3}}}))
	checkNotice(t, g.callbackAnswer(t, nothing), ranking.Refusal{Code: ranking.MatchGone})
}

func TestOfferFix(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	ghost := command.Person{Username: "ghost"}
	g.record(t, &alice, alice, ghost, 1, 3) // m:1
	offer := g.edit(t, g.origin(&alice), "m:1", singles(alice, command.Person{Username: "GHOST"}, 2, 3))
	checkNotice(t, *offer, ranking.FixOffer{
		Number: 1, Tag: ranking.TagOf("m:1"), Exchanged: true, Score: [2]int{2, 3},
		Was: ranking.OldScore{Score: [2]int{1, 3}},
	})

	sets := command.Match{
		A: []command.Person{alice}, B: []command.Person{ghost}, Scores: []ladder.Score{{A: 11, B: 7}, {A: 11, B: 5}},
	}
	ghost.ID, ghost.Name = 99, "Ghost"
	must(t, g.Do(t.Context(), g.origin(&ghost), ranking.Join{})) // claims the unclaimed player
	o := g.origin(&alice)
	offer = g.edit(t, o, "m:1", sets)
	checkNotice(t, *offer, ranking.FixOffer{
		Number: 1, Tag: ranking.TagOf("m:1"), Exchanged: true, Score: [2]int{2, 0},
		Sets: []ranking.SetScore{{11, 7}, {11, 5}},
		Was:  ranking.OldScore{Score: [2]int{1, 3}},
	})
	o.Message = "m:1"
	must(t, g.RecordMatch(t.Context(), o, sets)) // redelivered
	g.has(t, 2, "outbox WHERE kind = 'fix_offer'")
	// The button works once, and only for people who may amend the match. Its scores are in the
	// order of the card.
	press := func(who *command.Person) ranking.Origin {
		t.Helper()
		return g.accept(t, who, 0, ladder.Score{A: 3, B: 2})
	}
	checkNotice(t, g.callbackAnswer(t, press(&zoe)), ranking.Refusal{Code: ranking.NotYours, Number: 1})
	if n, ok := g.offered(t, press(&ghost)).(ranking.MatchFixed); !ok ||
		n.Sides[1].Players[0].Name.Name != "Alice" || n.Sides[1].Score != 2 {
		t.Errorf("notice is %+v", n)
	}
	checkNotice(t, g.callbackAnswer(t, press(&zoe)), ranking.Refusal{Code: ranking.NotYours, Number: 1})
	checkNotice(t, g.offered(t, press(&alice)), ranking.Refusal{Code: ranking.ChangedSince, Number: 1})
	if offer := g.edit(t, g.origin(&alice), "m:1", singles(alice, ghost, 2, 3)); offer != nil {
		t.Errorf("a fix that was already made is offered: %+v", offer)
	}
	offer = g.edit(t, g.origin(&alice), "m:1", singles(alice, ghost, 1, 3))
	checkNotice(t, *offer, ranking.FixOffer{
		Number: 1, Tag: ranking.TagOf("m:1"), Changes: 1, Exchanged: true, Score: [2]int{1, 3},
		Was: ranking.OldScore{Score: [2]int{2, 3}},
	})
}

// TestEditRecordsWhatIsOpen checks that if a message has several results, an edit records the
// results that are not recorded yet, once, under unused keys of the message. The bot asks first
// about a duplicate. Recorded matches stay. If it is unclear which results are new, the edit does
// nothing.
func TestEditRecordsWhatIsOpen(t *testing.T) {
	t.Parallel()
	bobAlice, bobCarol, bobZoe := singles(bob, alice, 1, 3), singles(bob, carol, 3, 0), singles(bob, zoe, 3, 2)
	for name, tc := range map[string]struct {
		// edit has the results in the edited message. The original message has bobCarol, bobAlice
		// and bobZoe; the bot asks about bobAlice.
		edit []command.Match
		want []string // the matches that the edit records
	}{
		"another score of the open one": {[]command.Match{bobCarol, singles(bob, alice, 2, 3), bobZoe}, []string{"m:2#2 Bob Alice 2:3"}},
		"another opponent":              {[]command.Match{bobCarol, singles(bob, carol, 3, 1), bobZoe}, []string{"m:2#2 Bob Carol 3:1"}},
		"the open one is gone":          {[]command.Match{bobCarol, bobZoe}, nil},
		"it is asked about again":       {[]command.Match{bobCarol, bobAlice, bobZoe}, nil},
		"another order":                 {[]command.Match{bobZoe, bobCarol, singles(bob, alice, 2, 3)}, []string{"m:2#2 Bob Alice 2:3"}},
		"two more": {
			[]command.Match{bobCarol, singles(bob, alice, 2, 3), bobZoe, singles(bob, zoe, 0, 3)},
			[]string{"m:2#2 Bob Alice 2:3", "m:2#4 Bob Zoe 0:3"},
		},
		"a recorded one is changed as well":  {[]command.Match{bobCarol, singles(bob, alice, 2, 3), singles(bob, zoe, 3, 1)}, []string{"m:2#2 Bob Alice 2:3"}},
		"a recorded one is gone":             {[]command.Match{bobCarol, singles(bob, alice, 2, 3)}, nil},
		"a recorded one may be changed":      {[]command.Match{bobCarol, singles(bob, alice, 2, 3), singles(alice, carol, 3, 2)}, nil},
		"none of them can be meant any more": {[]command.Match{singles(bob, alice, 2, 3)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAskingGame(t)
			g.report(t, &alice, 0, singles(alice, bob, 3, 1)) // m:1
			g.report(t, &bob, 2, bobCarol, bobAlice, bobZoe)
			first := g.newestPrompt(t)
			before := []string{"m:1 Alice Bob 3:1", "m:2 Bob Carol 3:0", "m:2#3 Bob Zoe 3:2"}
			g.hasMatches(t, before...)
			edit := g.at(&bob, 60)
			edit.Message, edit.Trigger = "m:2", ranking.ByEdit
			again := edit
			again.Key += "again"
			// A redelivery, and a later edit with the same text, change nothing.
			for _, o := range []ranking.Origin{edit, edit, again} {
				must(t, g.RecordMatch(t.Context(), o, tc.edit...))
			}
			g.hasMatches(t, slices.Concat(before, tc.want)...)
			want := tc.want
			if newest := g.newestPrompt(t); newest != first { // the bot asked about the edit, too
				g.pressPrompt(t, &bob, newest, ranking.Choice(0))
				want = []string{"m:2#2 Bob Alice 1:3"}
			}
			key := g.pressPrompt(t, &bob, first, ranking.Choice(0))
			if len(want) > 0 { // the edit, or the answer to the newest prompt, has closed the first prompt
				checkNotice(t, g.answer(t, key, toast), ranking.Refusal{Code: ranking.PromptOver})
				g.hasMatches(t, slices.Concat(before, want)...)
			} else {
				g.hasMatches(t, slices.Concat(before, []string{"m:2#2 Bob Alice 1:3"})...)
			}
			g.verifyClean(t)
		})
	}
}

// TestEditAndAnswerAtOnce checks that if an edit and an answer about one result arrive at once, on
// two instances, the match is recorded once.
func TestEditAndAnswerAtOnce(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1), singles(alice, carol, 3, 1), singles(alice, zoe, 3, 1))
	for round := range 10 {
		first, o := g.at(&alice, 3600*(round+1)), g.at(&bob, 3600*(round+1))
		must(t, g.RecordMatch(t.Context(), first, singles(alice, bob, 3, 1)))
		must(t, g.RecordMatch(t.Context(), o, singles(bob, carol, 3, 0), singles(bob, alice, 1, 3)))
		before, prompt := g.count(t, "matches"), g.newestPrompt(t)
		edit, press := g.at(&bob, 3600*(round+1)+2), g.press(&bob)
		edit.Message, edit.Trigger = o.Key, ranking.ByEdit
		a, b := newAskingService(g), newAskingService(g)
		var both errgroup.Group
		both.Go(func() error {
			return a.RecordMatch(t.Context(), edit, singles(bob, carol, 3, 0), singles(bob, alice, 2, 3))
		})
		both.Go(func() error {
			return b.Do(t.Context(), press, answerBy(prompt, ranking.Choice(0)))
		})
		must(t, both.Wait())
		if n := g.count(t, "matches"); n != before+1 {
			t.Fatalf("round %d: %d matches are recorded, want 1", round, n-before)
		}
	}
	g.verifyClean(t)
}

// TestEditOfAQuestion checks that if a message has only led to a prompt, its edit counts as a new
// report and closes the prompt.
func TestEditOfAQuestion(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	o := g.origin(&alice)
	g.doubt(t, o, command.Report{Doubt: command.DoubtWinner,
		Readings: []command.Reading{{singles(alice, bob, 3, 1)}, {singles(alice, bob, 1, 3)}}})
	prompt := g.newestPrompt(t)
	must(t, g.RecordMatch(t.Context(), editOf(&alice, o.Key, 60), singles(alice, bob, 1, 3)))
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1))) // redelivered
	key := g.pressPrompt(t, &alice, prompt, ranking.Choice(0))
	checkNotice(t, g.answer(t, key, toast), ranking.Refusal{Code: ranking.PromptOver})
	g.hasMatches(t, o.Key+" Alice Bob 1:3")
	g.verifyClean(t)
}

// TestEditClosesQuestions checks that once an edit has taken effect, earlier prompts about the
// message are closed for good: their buttons are refused, and they have no timers. A prompt that
// the edit leads to stays open.
func TestEditClosesQuestions(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, without(alice, bob, ladder.Win)) // m:1
	g.report(t, &bob, 60, singles(bob, alice, 1, 3))        // m:2, asked about
	g.startWizard(t, &carol, nil)                           // m:3, which stays open
	asked := rows[ranking.PromptRef](t, g, `SELECT p.id, payload ->> 'tag'
		FROM prompts p JOIN outbox o USING (id) ORDER BY id`)[0]
	g.exec(t, `UPDATE prompts SET delivered_at = now(), telegram_message_id = 77`)
	must(t, g.RecordMatch(t.Context(), editOf(&bob, "m:2", 90), singles(bob, alice, 1, 3), singles(bob, carol, 3, 0)))
	g.mustEnd(t, "after the edit", false, "cancelled", "open", "open")
	for _, option := range []ranking.PromptOption{ranking.Complete{}, ranking.Cancel{}, ranking.Choice(0)} {
		key := g.pressPrompt(t, &bob, asked, option)
		checkNotice(t, g.answer(t, key, toast), ranking.Refusal{Code: ranking.PromptOver})
	}
	g.pressWizard(t, &bob, ranking.Complete{})
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2#2 Bob Carol 3:0")
}

// TestNothingToOffer checks that an edit leads to an offer to fix the score only if it comes from
// the person who reported the match, keeps the players, and changes the score.
func TestNothingToOffer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	nobody := command.Person{ID: 500, Username: "nobody", Name: "Nobody"}
	team := func(people ...command.Person) []command.Person { return people }
	score := []ladder.Score{{A: 3, B: 1}}
	// The first four reports are m:1 to m:4. The undo is m:5.
	must(t, g.RecordMatch(t.Context(), g.origin(&alice),
		command.Match{A: team(alice, bob), B: team(carol, zoe), Scores: score}))
	g.record(t, nil, alice, bob, 3, 1)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &bob, alice, bob, 3, 1)
	g.undo(t, &alice, matchNumber(3))
	g.record(t, &carol, carol, bob, 3, 1)
	other := []ladder.Score{{A: 3, B: 2}}
	doubles := command.Match{A: team(bob, alice), B: team(carol, zoe), Scores: other}
	for what, tc := range map[string]struct {
		sender *command.Person
		made   string
		report command.Match
		want   bool
	}{
		"teams in another order":     {&alice, "m:1", doubles, true},
		"of an anonymous admin":      {nil, "m:2", singles(alice, bob, 3, 2), true},
		"of a third":                 {&bob, "m:4", singles(alice, bob, 3, 2), true},
		"a draw":                     {&bob, "m:4", singles(alice, bob, 2, 2), true},
		"the same score":             {&bob, "m:4", singles(alice, bob, 3, 1), false},
		"sides exchanged":            {&bob, "m:4", singles(bob, alice, 2, 3), true},
		"the same, sides exchanged":  {&bob, "m:4", singles(bob, alice, 1, 3), false},
		"one more":                   {&bob, "m:4", command.Match{A: team(alice), B: team(bob, carol), Scores: other}, false},
		"one in both teams":          {&alice, "m:1", command.Match{A: team(bob, alice), B: team(carol, alice), Scores: other}, false},
		"one twice in a team":        {&alice, "m:1", command.Match{A: team(alice, alice), B: team(carol, zoe), Scores: other}, false},
		"by another one":             {&alice, "m:4", singles(alice, bob, 3, 2), false},
		"by an anonymous admin":      {nil, "m:4", singles(alice, bob, 3, 2), false},
		"of an anonymous one by one": {&alice, "m:2", singles(alice, bob, 3, 2), false},
		"by somebody not known":      {&nobody, "m:2", singles(alice, bob, 3, 2), false},
		"what was no match":          {&alice, "m:5", singles(alice, bob, 3, 2), false},
	} {
		if offer := g.edit(t, g.origin(tc.sender), tc.made, tc.report); (offer != nil) != tc.want {
			t.Errorf("%s: offered %+v", what, offer)
		}
	}
	g.exec(t, `UPDATE ladders SET draws_allowed = false`)
	if offer := g.edit(t, g.origin(&bob), "m:4", singles(alice, bob, 2, 2)); offer != nil {
		t.Errorf("a draw is offered in a ladder without draws: %+v", offer)
	}
	g.edit(t, g.origin(&bob), "m:4", singles(alice, carol, 2, 2)) // no offer to replace Bob
	elsewhere := g.origin(&bob)
	elsewhere.Chat.ID = -200
	if offer := g.edit(t, elsewhere, "m:4", singles(alice, bob, 3, 2)); offer != nil {
		t.Errorf("a match of another group is offered: %+v", offer)
	}
	// A message that became the card of a match does not count as the match's report.
	g.exec(t, `INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id)
		SELECT -100, 7, id FROM matches WHERE number = 4`)
	if offer := g.edit(t, g.origin(&bob), "m:5", singles(alice, bob, 3, 2)); offer != nil {
		t.Errorf("offered for a card: %+v", offer)
	}
}

// TestEditOfTheWinner checks that an edit that swaps the players, and thereby the winner, leads to
// an offer to correct the match. If the match has been undone, the answer is a refusal.
func TestEditOfTheWinner(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // m:1
	edit := func() ranking.Notice {
		t.Helper()
		o := g.origin(&alice)
		o.Message = "m:1"
		must(t, g.RecordMatch(t.Context(), o, singles(bob, alice, 3, 2)))
		return g.answer(t, o.Key, "action = 'send'")
	}
	side := func(score int, who string) ranking.Side {
		return ranking.Side{Score: score, Players: []ranking.RatingChange{{Name: name(who)}}}
	}
	checkNotice(t, edit(),
		ranking.WinnerOffer{Number: 1, Tag: ranking.TagOf("m:1"), Sides: [2]ranking.Side{side(3, "Bob"), side(2, "Alice")}})
	g.undo(t, &alice, matchNumber(1))
	checkNotice(t, edit(), ranking.Refusal{Code: ranking.UndoneAlready, Number: 1})
}

// TestEditToEndedEarly checks that if an edit reports that the match ended early, the bot offers to
// replace the score with just the win.
func TestEditToEndedEarly(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	early := without(alice, bob, ladder.Win)
	early.Games = "6:4"
	if offer := g.edit(t, g.origin(&alice), "m:1", early); offer == nil || offer.Score != [2]int{0, ladder.NoPoints} {
		t.Errorf("the offer is %+v", offer)
	}
}

// TestEditToASlip checks that an edit with a new username that may be a slip is refused. The
// refusal names the player who may be meant.
func TestEditToASlip(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	seen(alice, bob, carol)(t, g)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	for slip, meant := range map[string]string{"boob": "Bob", "carl": "Carol"} {
		edit := g.at(&alice, 60)
		edit.Message, edit.Trigger = "m:4", ranking.ByEdit
		must(t, g.RecordMatch(t.Context(), edit, singles(alice, named(slip), 3, 1)))
		n, ok := g.notice(t, edit.Key).(ranking.Refusal)
		if !ok || n.Code != ranking.NoSuchPlayer || n.Near == nil || n.Near.Name != meant {
			t.Errorf("%s: %+v", slip, n)
		}
	}
}

// TestEditToOtherPlayers checks that an edit with another opponent, known or new, leads to an offer
// to replace the player. Only people who may fix the match can accept. Afterward, the ratings are
// as if the match had been reported with that opponent.
func TestEditToOtherPlayers(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))    // m:1
	g.report(t, &carol, 1000, singles(carol, bob, 3, 0)) // m:2
	edited := func(report command.Match) (ranking.ReportPrompt, ranking.PromptRef) {
		t.Helper()
		edit := g.at(&alice, 60)
		edit.Message, edit.Trigger = "m:1", ranking.ByEdit
		must(t, g.RecordMatch(t.Context(), edit, report))
		return g.notice(t, edit.Key).(ranking.ReportPrompt), g.newestPrompt(t)
	}
	press := func(who *command.Person, prompt ranking.PromptRef, which string) ranking.Notice {
		t.Helper()
		o := below(77, g.press(who))
		o.SentAt = g.at(who, 120).SentAt
		answer := ranking.PromptAnswer{Prompt: prompt, Option: ranking.Choice(0)}
		for range 2 { // the second is a redelivery
			must(t, g.Do(t.Context(), o, answer))
		}
		return g.answer(t, o.Key, which)
	}
	newcomer := command.Person{Username: "newcomer"}
	n, prompt := edited(singles(alice, newcomer, 2, 3))
	checkNotice(t, n, ranking.ReportPrompt{
		Doubt:   ranking.DoubtPlayers,
		Options: []ranking.ReportOption{{Results: []ranking.NamedResult{result([2]int{2, 3}, "Alice", "@newcomer")}}},
		Earlier: &ranking.EarlierReport{Number: 1, Result: new(result([2]int{3, 1}, "Alice", "Bob"))},
	})
	g.has(t, 3, "players")
	g.hasMatches(t, "m:1 Alice Bob 3:1", "m:2 Carol Bob 3:0")
	checkNotice(t, press(&carol, prompt, toast), ranking.Refusal{Code: ranking.NotYours, Number: 1})
	if n, ok := press(&bob, prompt, page).(ranking.MatchFixed); !ok ||
		n.Sides[0].Players[0].Name.Name != "newcomer" || n.Sides[0].Score != 3 ||
		len(n.Moved.Ratings) != 4 || n.Before.Sides[1][0].Name != "Bob" {
		t.Errorf("the answer is %+v", n)
	}
	checkNotice(t, press(&bob, prompt, toast), ranking.Refusal{Code: ranking.PromptOver})
	g.hasMatches(t, "m:1 Alice newcomer 2:3", "m:2 Carol Bob 3:0")
	g.verifyClean(t)

	n, prompt = edited(singles(alice, zoe, 3, 1))
	if n.Earlier.Result.Sides[1][0].Name != "newcomer" {
		t.Errorf("the question is %+v", n)
	}
	must(t, g.Do(t.Context(), g.at(&alice, 100), ranking.UndoMatch{Amendment: matchNumber(1)}))
	checkNotice(t, press(&alice, prompt, toast),
		ranking.Refusal{Code: ranking.UndoneAlready, Number: 1, Minutes: 100 * 365 * 24 * 60})
	must(t, g.Do(t.Context(), g.at(&alice, 101), ranking.RestoreMatch{Amendment: matchNumber(1)}))
	checkNotice(t, press(&alice, prompt, toast), ranking.Refusal{Code: ranking.ChangedSince, Number: 1})
	_, prompt = edited(singles(alice, carol, 3, 1))
	press(&alice, prompt, page)
	g.hasMatches(t, "m:1 Alice Carol 3:1", "m:2 Carol Bob 3:0")
	g.verifyClean(t)
	want := plainladder.Play(nil, []plainladder.Match{
		{A: []string{"Alice"}, B: []string{"Carol"}, ScoreA: 3, ScoreB: 1},
		{A: []string{"Carol"}, B: []string{"Bob"}, ScoreA: 3},
	}).Standings
	got := g.standingTable(t, club.ID, byName)
	delete(got, "newcomer")
	equal(t, "the standings", want, got)
}

// TestUnreadableEdit checks that an unreadable or ambiguous edit of a message that recorded a match
// gets no answer.
func TestUnreadableEdit(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	o := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	doubt := command.Report{
		Doubt: command.DoubtTotal, Readings: []command.Reading{{singles(alice, bob, 3, 1)}, {singles(alice, bob, 1, 3)}},
	}
	for _, reading := range []ranking.Parsed{{Malformed: ranking.Refusal{}}, {Ambiguous: &doubt}} {
		edit := g.origin(&alice)
		edit.Message, edit.Trigger = o.Key, ranking.ByEdit
		must(t, g.Do(t.Context(), edit, ranking.ReadReport{Parsed: &reading}))
	}
	g.has(t, 1, "outbox")
}

// TestOffersCountAsQuestions checks that a sender over the question limit gets neither an offer nor
// a refusal. Edits without an offer do not count.
func TestOffersCountAsQuestions(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // m:1
	for range 5 {
		g.edit(t, g.origin(&alice), "m:1", singles(alice, bob, 3, 1))
	}
	for i := range 19 {
		if got := g.askRanking(t, g.Service, g.origin(&alice)); got != "answered" {
			t.Fatalf("question %d: %s", i+1, got)
		}
	}
	if g.edit(t, g.origin(&alice), "m:1", singles(alice, bob, 3, 2)) == nil {
		t.Error("no offer at the limit")
	}
	if offer := g.edit(t, g.origin(&alice), "m:1", singles(alice, bob, 3, 2)); offer != nil {
		t.Errorf("offered over the limit: %+v", offer)
	}
	g.checkBuckets(t, "all", "question=20 result=1")
}

// TestOfferAfterMove checks that an edit that was sent before the chat got a new id is answered in
// the new chat, but neither as a reply nor in a topic.
func TestOfferAfterMove(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // m:1
	must(t, g.MoveChat(t.Context(), club.ID, -1000))
	if g.edit(t, g.origin(&alice), "m:1", singles(alice, bob, 3, 2)) == nil {
		t.Error("no offer")
	}
	g.has(t, 1, `outbox o JOIN chats c ON c.id = o.chat_id AND c.telegram_chat_id = -1000
		WHERE o.kind = 'fix_offer' AND reply_to IS NULL AND thread_id IS NULL`)
}

// TestRedeliveredNoticesNeverExpire checks that the answers to a command have an expiry time,
// unless an operator retries the command.
func TestRedeliveredNoticesNeverExpire(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, redelivered := range []bool{false, true} {
		retried := func() ranking.Origin {
			o := g.origin(&alice)
			o.Retried = redelivered
			return o
		}
		match, press := retried(), retried()
		press.Button = press.Key
		must(t, g.RecordMatch(t.Context(), match, singles(alice, bob, 3, 1)))
		must(t, g.ShowRanking(t.Context(), retried()))
		must(t, g.Do(t.Context(), press, ranking.UndoMatch{Amendment: matchNumber(1)}))
		edit := retried()
		edit.Message = match.Key
		must(t, g.RecordMatch(t.Context(), edit, singles(alice, bob, 3, 2)))
	}
	var got []string
	for _, row := range texts(t, g, `SELECT kind || ' ' || (expires_at IS NULL)
		FROM outbox WHERE action <> 'edit' ORDER BY id`) {
		got = append(got, strings.ReplaceAll(row, "match_", ""))
	}
	want := "recorded false,ranking_page false,undone false,undone false,refusal false," +
		"recorded true,ranking_page true,refusal true,fix_offer true"
	if s := strings.Join(got, ","); s != want {
		t.Errorf("notices are %s, want %s", s, want)
	}
	if n := g.count(t,
		fmt.Sprintf("matches WHERE played_at <> '%s'", time.Unix(1_700_000_000, 0).UTC().Format(time.RFC3339))); n > 0 {
		t.Errorf("%d matches do not have the time of their command", n)
	}
}
