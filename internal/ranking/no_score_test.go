package ranking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// without returns a report of an outcome without points.
func without(a, b command.Person, outcome ladder.Score) command.Match {
	return singles(a, b, outcome.A, outcome.B)
}

// unscored returns a report whose score is missing.
func unscored(a, b command.Person) *command.Match {
	return &command.Match{A: []command.Person{a}, B: []command.Person{b}}
}

// storedScores returns the score of each match, and the winner of each match without a score.
func (g *game) storedScores(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `SELECT concat_ws(' ', coalesce(score_a::text, '–'), coalesce(score_b::text, '–'), winner)
		FROM matches ORDER BY number`)
}

// TestNoScore checks that a match without a score changes the ratings like a match with a score. A
// fix adds the score or corrects the winner. The match can be undone and restored.
func TestNoScore(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, r := range []command.Match{
		without(alice, bob, ladder.Win), without(alice, carol, ladder.Loss), without(bob, carol, ladder.Draw),
	} {
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), r))
	}
	equal(t, "stored", []string{"– – 1", "– – 2", "– – 0"}, g.storedScores(t))
	card := ranking.MatchRecorded{
		Number: 2, Sides: [2]ranking.Side{side(0, "Carol", 1500, 1517), side(ladder.NoPoints, "Alice", 1516, 1499)},
		NewPlayers: []ranking.Name{{Name: "Carol"}},
	}
	equal(t, "the card", []ranking.MatchRecorded{card}, g.cards(t, 2), cmpopts.EquateEmpty(), untagged)
	fixed := g.fix(t, &alice, matchNumber(1), ladder.Score{A: 3, B: 2}).(ranking.MatchFixed)
	if want := (ranking.OldScore{Score: [2]int{0, ladder.NoPoints}}); !cmp.Equal(want, fixed.Was) ||
		fixed.Ratings[0].Before != fixed.Ratings[0].After {
		t.Errorf("the score is added as in %+v", fixed)
	}
	checkNotice(t, g.fix(t, &alice, matchNumber(2), ladder.Win), ranking.Refusal{Code: ranking.SameScore, Number: 2})
	g.fix(t, &alice, matchNumber(2), ladder.Loss) // a fix is in the order of the card, so Alice wins now
	g.fix(t, &bob, matchNumber(3), ladder.Score{A: 1, B: 1})
	equal(t, "after the fixes", []string{"3 2", "– – 1", "1 1"}, g.storedScores(t))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(2)}))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.RestoreMatch{Amendment: matchNumber(2)}))
	fixes := texts(t, g, `SELECT concat_ws(' ', coalesce(old_score_a::text, '–'), coalesce(old_winner::text, '–'),
		coalesce(new_score_a::text, '–'), coalesce(new_winner::text, '–')) FROM match_fixes ORDER BY id`)
	equal(t, "the fixes", []string{"– 1 3 –", "– 2 – 1", "– 0 1 –"}, fixes)
	g.verifyClean(t)
}

// TestComplete checks that if a match was recorded without a score, and a later report has the
// score, a button adds the score to the match. The two reports may name the players in different
// orders.
func TestComplete(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, without(alice, bob, ladder.Win))
	asked := g.report(t, &bob, 60, singles(bob, alice, 1, 3)).(ranking.ReportPrompt)
	if !asked.Completes {
		t.Fatalf("the question is %+v", asked)
	}
	key := g.pressWizard(t, &bob, ranking.Complete{})
	fixed := g.answer(t, key, page).(ranking.MatchFixed)
	if fixed.Number != 1 || fixed.Sides[0].Score != 3 || fixed.Sides[0].Players[0].Name.Name != "Alice" {
		t.Errorf("the match is %+v", fixed)
	}
	equal(t, "stored", []string{"3 1"}, g.storedScores(t))
	checkNotice(t, g.answer(t, g.pressWizard(t, &bob, ranking.Complete{}), toast),
		ranking.Refusal{Code: ranking.PromptOver})
	g.mustEnd(t, "after it is complete", false, "answered")
	g.report(t, &alice, 1000, singles(alice, bob, 3, 1))
	if asked := g.report(t, &bob, 1060, without(bob, alice, ladder.Loss)).(ranking.ReportPrompt); asked.Completes {
		t.Errorf("there is nothing to complete: %+v", asked)
	}
	checkNotice(t, g.answer(t, g.pressWizard(t, &bob, ranking.Complete{}), toast),
		ranking.Refusal{Code: ranking.UnknownButton})
}

// TestCompleteLast checks that the button adds the score to the later of two matches without a
// score.
func TestCompleteLast(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, without(alice, bob, ladder.Win))
	g.report(t, &alice, 60, without(bob, alice, ladder.Loss))
	g.report(t, &bob, 120, singles(alice, bob, 3, 1))
	g.pressWizard(t, &bob, ranking.Complete{})
	equal(t, "stored", []string{"– – 1", "1 3"}, g.storedScores(t))
}

// TestScoreOfAnEarlierMatch checks that if an earlier match has the reported score, the bot asks
// about that match, and does not offer to add the score to a later match without a score.
func TestScoreOfAnEarlierMatch(t *testing.T) {
	t.Parallel()
	for _, by := range []*command.Person{&bob, &carol, nil} {
		g := newAskingGame(t)
		g.report(t, &alice, 0, singles(alice, bob, 3, 1))
		g.report(t, &alice, 60, without(alice, bob, ladder.Win))
		asked := g.report(t, by, 120, singles(bob, alice, 1, 3)).(ranking.ReportPrompt)
		if asked.Earlier.Number != 1 || asked.Completes {
			t.Errorf("by %v: the question is %+v about %+v", by, asked, asked.Earlier)
		}
		asked = g.report(t, by, 180, singles(alice, bob, 3, 2)).(ranking.ReportPrompt)
		if asked.Earlier.Number != 2 || !asked.Completes {
			t.Errorf("by %v: the question is %+v about %+v", by, asked, asked.Earlier)
		}
	}
}

// TestEndedEarlyIsComplete checks that the bot does not offer to add a score to a match that ended
// early.
func TestEndedEarlyIsComplete(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	report := without(alice, bob, ladder.Win)
	report.Games = "6:4 2:1"
	g.report(t, &alice, 0, report)
	if asked := g.report(t, &bob, 60, singles(bob, alice, 0, 2)).(ranking.ReportPrompt); asked.Completes {
		t.Errorf("its games are to be a score: %+v", asked)
	}
}

// TestEditAfterComplete checks that once a button has added the score of a report to an earlier
// match, edits of the report record nothing.
func TestEditAfterComplete(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, without(alice, bob, ladder.Win)) // m:1
	g.report(t, &bob, 60, singles(bob, alice, 1, 3))        // m:2
	g.pressWizard(t, &bob, ranking.Complete{})
	must(t, g.RecordMatch(t.Context(), editOf(&bob, "m:2", 1), singles(bob, alice, 2, 3)))
	g.hasMatches(t, "m:1 Alice Bob 3:1")
}

// TestEditOfWhatIsComplete checks that once a match has a score, an edit of its report that gives
// only the winner leads to an offer only if the edit names another winner.
func TestEditOfWhatIsComplete(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.origin(&alice), without(alice, bob, ladder.Win)))
	g.fix(t, &alice, matchNumber(1), ladder.Score{A: 3, B: 1})
	if offer := g.edit(t, g.origin(&alice), "m:1", without(alice, bob, ladder.Win)); offer != nil {
		t.Errorf("the same winner is offered: %+v", offer)
	}
	if offer := g.edit(t, g.origin(&alice), "m:1", without(alice, bob, ladder.Loss)); offer == nil {
		t.Error("another winner is not offered")
	}
}

// TestCompleteChanged checks that the button that adds a score does not overwrite a correction made
// in the meantime.
func TestCompleteChanged(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, without(alice, bob, ladder.Win))
	g.report(t, &bob, 60, singles(alice, bob, 3, 1))
	g.fix(t, &alice, matchNumber(1), ladder.Score{A: 3, B: 0})
	checkNotice(t, g.answer(t, g.pressWizard(t, &bob, ranking.Complete{}), page),
		ranking.Refusal{Code: ranking.ChangedSince, Number: 1})
	g.mustEnd(t, "after the press", false, "answered")
}

// TestMissingScore checks that a report that lacks only the score starts a wizard, which asks for
// the score.
func TestMissingScore(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 7, 5)
	missing := func(a, b command.Person) ranking.Notice {
		o := g.origin(&alice)
		reading := ranking.Parsed{Malformed: ranking.Refusal{Code: "no_score"}, Unscored: unscored(a, b)}
		must(t, g.Do(t.Context(), o, ranking.ReadReport{Parsed: &reading}))
		return g.notice(t, o.Key)
	}
	asked, ok := missing(alice, zoe).(ranking.ScorePrompt)
	if !ok || asked.Opponent.Name != "Zoe" || asked.Scores[0] != [2]int{3, 0} || len(asked.Scores) != 10 {
		t.Errorf("the question is %+v", asked)
	}
	g.pressWizard(t, &alice, ranking.ScoreAgainst{Score: ladder.Loss})
	if asked, ok = missing(bob, carol).(ranking.ScorePrompt); !ok || asked.Teams[0][0].Name != "Bob" ||
		asked.Teams[1][0].Name != "Carol" {
		t.Errorf("the question is %+v", asked)
	}
	g.pressWizard(t, &alice, ranking.ScoreAgainst{Score: ladder.Score{A: 2, B: 0}})
	equal(t, "stored", []string{"7 5", "– – 2", "2 0"}, g.storedScores(t))
	g.verifyClean(t)
}

// TestMissingScoreEdited checks that while a wizard asks for a missing score, an edit may add it.
// The buttons of the wizard then record no second match.
func TestMissingScoreEdited(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	o := g.origin(&alice)
	report := func(o ranking.Origin, r ranking.Parsed) {
		must(t, g.Do(t.Context(), o, ranking.ReadReport{Parsed: &r}))
	}
	report(o, ranking.Parsed{Malformed: ranking.Refusal{Code: "no_score"}, Unscored: unscored(alice, bob)})
	report(editOf(&alice, o.Key, 1), ranking.Parsed{Reports: []command.Match{singles(alice, bob, 3, 1)}})
	g.pressWizard(t, &alice, ranking.ScoreAgainst{Score: ladder.Loss})
	equal(t, "stored", []string{"3 1"}, g.storedScores(t))
	g.verifyClean(t)
}

// TestEndedEarly checks that the games of a match that ended early are kept as typed. The card
// shows them until a fix adds a score.
func TestEndedEarly(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	report := without(bob, alice, ladder.Win)
	report.Games = "6-4 2-1"
	must(t, g.RecordMatch(t.Context(), g.origin(&alice), report))
	shown := func(when string, want ...string) {
		t.Helper()
		var games []string
		for _, c := range g.cards(t, 1) {
			games = append(games, c.Games)
		}
		equal(t, when, want, games[len(games)-len(want):])
	}
	shown("recorded", "6-4 2-1")
	g.fix(t, &alice, matchNumber(1), ladder.Loss)
	shown("the other one has won", "6-4 2-1")
	g.fix(t, &alice, matchNumber(1), ladder.Score{A: 2, B: 1})
	shown("with a score", "")
	equal(t, "stored", []string{"6-4 2-1"}, texts(t, g, `SELECT games FROM matches`))
	g.verifyClean(t)
}
