package ranking_test

import (
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// TestTags checks that every card, new or amended, has the tag of its match. The tag for a key
// never changes.
func TestTags(t *testing.T) {
	t.Parallel()
	if tag := ranking.TagOf("m:-100:7"); tag != "xox2INQ8" {
		t.Errorf("the tag is %s: the buttons in all chats would be refused", tag)
	}
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), from(&alice, "m:-100:7"), singles(alice, bob, 3, 1), singles(bob, carol, 3, 1)))
	g.undo(t, &alice, matchNumber(1))
	// Once the cards are sent, the next cards are edits.
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now()`)
	g.restore(t, &alice, matchNumber(1))
	g.fix(t, &bob, matchNumber(2), ladder.Score{A: 0, B: 1})
	type card struct {
		Key string
		Tag ranking.MatchTag
	}
	cards := rows[card](t, g, `SELECT idempotency_key, coalesce(payload ->> 'tag', '')
		FROM outbox o JOIN matches m ON m.id = o.match_id`)
	if len(cards) != 4 {
		t.Errorf("there are %d cards, want 4", len(cards))
	}
	for _, c := range cards {
		if c.Tag != ranking.TagOf(c.Key) {
			t.Errorf("a card of the match with the key %s has the tag %q", c.Key, c.Tag)
		}
	}
}

// amendments has functions that return an undo, a restore or a fix.
var amendments = map[string]func(ranking.Amendment) ranking.Operation{
	"undo":    func(a ranking.Amendment) ranking.Operation { return ranking.UndoMatch{Amendment: a} },
	"restore": func(a ranking.Amendment) ranking.Operation { return ranking.RestoreMatch{Amendment: a} },
	"fix": func(a ranking.Amendment) ranking.Operation {
		return ranking.FixMatch{Amendment: a, Scores: []ladder.Score{{A: 1, B: 3}}}
	},
}

// matchesAndNotices returns all matches, history entries and standings, and the notices that an SQL
// condition selects.
func (g *game) matchesAndNotices(t *testing.T, notices string) []string {
	t.Helper()
	return texts(t, g, `SELECT jsonb_agg(to_jsonb(m) ORDER BY id)::text FROM matches m
		UNION ALL SELECT jsonb_agg(to_jsonb(h) ORDER BY id)::text FROM elo_history h
		UNION ALL SELECT jsonb_agg(to_jsonb(s) ORDER BY id)::text FROM group_players s
		UNION ALL SELECT jsonb_agg(to_jsonb(o) ORDER BY id)::text FROM outbox o WHERE `+notices+`
		ORDER BY 1`)
}

// TestButtonsOfOtherMatches checks that a button amends only the match it was made for. If the
// match is gone, pressing the button is refused, and so is a command that replies to the message of
// the match, even if another match has the number by now.
func TestButtonsOfOtherMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1) // m:1
	g.record(t, &alice, alice, bob, 3, 1) // m:2
	g.undo(t, &alice, matchNumber(2))
	const unanswered = "kind <> 'refusal'"
	before := g.matchesAndNotices(t, unanswered)
	gone := ranking.Refusal{Code: ranking.MatchGone}
	for _, amend := range amendments {
		for number := 1; number <= 3; number++ {
			ref := ranking.MatchRef{Number: number, Tag: ranking.TagOf("m:3")}
			pressed, replied := g.press(&alice), g.origin(&alice)
			must(t, g.Do(asAdmin(t), pressed, amend(ranking.Amendment{Match: ref, Changes: new(int)})))
			checkNotice(t, g.callbackAnswer(t, pressed), gone)
			must(t, g.Do(asAdmin(t), replied, amend(ranking.Amendment{Match: ref})))
			checkNotice(t, g.notice(t, replied.Key), gone)
		}
	}
	equal(t, "something has changed", before, g.matchesAndNotices(t, unanswered))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.RestoreMatch{Amendment: ranking.Amendment{
		Match: ranking.MatchRef{Number: 2, Tag: ranking.TagOf("m:2")}, Changes: new(1),
	}}))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: ranking.Amendment{
		Match: ranking.MatchRef{Number: 1, Tag: ranking.TagOf("m:1")}, Changes: new(int),
	}}))
	g.has(t, 2, "matches WHERE (number = 1) = (undone_at IS NOT NULL)")
}

// TestPromptsOfOtherMatches checks that a button answers only the prompt it was made for, not
// another prompt with the same id.
func TestPromptsOfOtherMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	report := ranking.MatchRef{Message: 7, Key: "m:-100:7"}
	must(t, g.RecordMatch(t.Context(), from(&alice, report.Key), singles(alice, bob, 3, 1), singles(bob, alice, 3, 1)))
	undo := func(ref ranking.MatchRef) func(ranking.Origin) error {
		return func(o ranking.Origin) error {
			return g.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ref}})
		}
	}
	for name, tc := range map[string]struct {
		ask func(ranking.Origin) error
		// keys are the arguments for which TagOf returns the prompt's tag. nil means only the key
		// of the message that led to the prompt.
		keys    []string
		options []ranking.PromptOption
	}{
		"undo":  {undo(ranking.MatchRef{Number: 1}), []string{"m:-100:7"}, []ranking.PromptOption{ranking.Choice(0), ranking.Cancel{}}},
		"which": {undo(report), []string{"m:-100:7", "m:-100:7#2"}, []ranking.PromptOption{ranking.Choice(0), ranking.Choice(1), ranking.Cancel{}}},
		"report": {func(o ranking.Origin) error {
			g.doubt(t, o, command.Report{Doubt: command.DoubtWinner, Readings: []command.Reading{{singles(alice, bob, 5, 1)}}})
			return nil
		}, []string{"m:-100:9:report", "winner"}, []ranking.PromptOption{ranking.Choice(0), ranking.Cancel{}}},
		"wizard": {func(o ranking.Origin) error {
			return g.Do(t.Context(), o, ranking.StartWizard{Opponent: &bob, Otherwise: ranking.Refusal{Code: "nobody"}})
		}, nil, []ranking.PromptOption{against(0, 5, 1), ranking.OpponentPage(1), ranking.Cancel{}}},
	} {
		o := g.origin(&zoe)
		o.Key = "m:-100:9:" + name
		must(t, tc.ask(o))
		if tc.keys == nil {
			tc.keys = []string{o.Key}
		}
		ref := g.newestPrompt(t)
		if ref.Tag != ranking.TagOf(tc.keys...) {
			t.Errorf("%s: the tag is %q", name, ref.Tag)
		}
		for _, option := range tc.options {
			for _, tag := range []ranking.MatchTag{"", ranking.TagOf("m:-100:8")} {
				press := g.press(&zoe)
				must(t, g.Do(asAdmin(t), press, answerBy(ranking.PromptRef{ID: ref.ID, Tag: tag}, option)))
				checkNotice(t, g.callbackAnswer(t, press), ranking.Refusal{Code: ranking.UnknownButton})
			}
		}
		if g.isForWizard(t, &zoe, ranking.PromptRef{ID: ref.ID, Tag: "other"}) {
			t.Errorf("%s: a reply answers the wizard", name)
		}
		if n := g.count(t, "prompts WHERE closed_at IS NOT NULL"); n != 0 {
			t.Errorf("%s: a button of another prompt has answered it", name)
		}
		g.exec(t, `DELETE FROM prompts`)
	}
	g.has(t, 2, "matches WHERE undone_at IS NULL")
}
