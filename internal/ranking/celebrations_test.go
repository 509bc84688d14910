package ranking_test

import (
	"errors"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// rated adds players with these ratings to a new group, with enough matches for a place in the
// ranking.
func rated(t *testing.T, g *game, ratings map[command.Person]int) {
	t.Helper()
	g.corrupted = true
	for p, elo := range ratings {
		must(t, g.Do(t.Context(), g.origin(&p), ranking.Join{}))
		g.exec(t, `
			UPDATE group_players SET elo = $2, start_elo = $2, best_elo = $2,
				played = 20, drawn = 20, last_played_at = '2023-11-01'
			WHERE name = $1`, p.Name, elo)
	}
}

// largestUpset makes match 1 the only upset, by the given rating difference. If the difference is
// 0, no match is an upset.
func largestUpset(t *testing.T, g *game, upset int) {
	t.Helper()
	g.exec(t, `UPDATE matches SET upset = CASE WHEN number = 1 THEN nullif($1::integer, 0) END`, upset)
}

// celebration returns the celebration on a card, or nil if the card has none.
func celebration(t *testing.T, n ranking.Notice) *ranking.Celebration {
	t.Helper()
	card, ok := n.(ranking.MatchRecorded)
	if !ok {
		t.Fatalf("the notice is %+v", n)
	}
	return card.Celebration
}

func checkCelebration(t *testing.T, what string, n ranking.Notice, want *ranking.Celebration) {
	t.Helper()
	equal(t, what+": celebrated", want, celebration(t, n))
}

func celebrating(kind ladder.CelebrationKind, number int, names ...string) *ranking.Celebration {
	c := &ranking.Celebration{Kind: kind, Number: number}
	for _, name := range names {
		c.Players = append(c.Players, ranking.Name{Name: name})
	}
	return c
}

// TestNumberOneInTheRanking checks that a card celebrates a new number one only if the player is
// rated higher than all other members who are active and have enough matches.
func TestNumberOneInTheRanking(t *testing.T) {
	t.Parallel()
	isOne := celebrating(ladder.NewNumberOne, 0, "Alice")
	for name, tc := range map[string]struct {
		change string // SQL assignments to the standing of Carol, who is rated 1600
		want   *ranking.Celebration
	}{
		"passes":               {"elo = 1510", isOne},
		"is behind":            {"elo = 1600", nil},
		"level":                {"elo = 1516", nil},
		"of a member who left": {"left_at = now()", isOne},
		"of a newcomer":        {"played = 4, drawn = 4", isOne},
		"of long ago":          {"last_played_at = to_timestamp(1700000000) - interval '30 days'", isOne},
		"of not so long ago":   {"last_played_at = to_timestamp(1700000000) - interval '30 days' + interval '1 second'", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			rated(t, g, map[command.Person]int{alice: 1500, bob: 1500, carol: 1600, zoe: 1505, {ID: 5, Name: "Eve"}: 1400})
			g.setRules(t, ranking.Rules{Start: 1500, PlaceMatches: 5, HideDays: 30, RatingRules: ladder.RatingRules{K: 32}})
			g.exec(t, `UPDATE group_players SET `+tc.change+` WHERE name = 'Carol'`)
			checkCelebration(t, name, g.record(t, &bob, alice, bob, 3, 1), tc.want)
			if tc.want != nil {
				checkCelebration(t, "the next win", g.record(t, &bob, alice, bob, 4, 1), nil)
			}
		})
	}
}

// TestUpsetsOfTheMonth checks that a card celebrates an upset that is the largest of its month so
// far, unless the group has turned celebrations off.
func TestUpsetsOfTheMonth(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.corrupted = true
	rated(t, g, map[command.Person]int{alice: 1500, bob: 1700, carol: 2000, zoe: 1600})
	is := celebrating(ladder.UpsetOfMonth, 200, "Alice")
	upset := func(what string, want *ranking.Celebration) {
		t.Helper()
		g.exec(t, `UPDATE group_players
			SET elo = CASE name WHEN 'Alice' THEN 1500 WHEN 'Bob' THEN 1700 ELSE elo END, streak = 0`)
		checkCelebration(t, what, g.record(t, &bob, alice, bob, 3, 1), want)
	}
	upset("the first", is)
	upset("after an equal one", nil)
	largestUpset(t, g, 199)
	upset("after a smaller one", is)
	largestUpset(t, g, 300)
	g.exec(t, `UPDATE matches SET played_at = '2023-10-31' WHERE number = 1`)
	upset("after a larger one in another month", is)
	largestUpset(t, g, 0)
	g.exec(t, `UPDATE chats SET celebrations = false`)
	upset("in a group that does not celebrate", nil)
}

// TestAmendedCardsDoNotCelebrate checks that the card of a match that was undone, restored or fixed
// has no celebration.
func TestAmendedCardsDoNotCelebrate(t *testing.T) {
	t.Parallel()
	amendments := map[string]func(g *game, m ranking.MatchRef) error{
		"undo": func(g *game, m ranking.MatchRef) error {
			return g.Do(asAdmin(t), g.origin(&bob), ranking.UndoMatch{Amendment: ranking.Amendment{Match: m}})
		},
		"undo and restore": func(g *game, m ranking.MatchRef) error {
			a := ranking.Amendment{Match: m}
			return errors.Join(
				g.Do(asAdmin(t), g.origin(&bob), ranking.UndoMatch{Amendment: a}),
				g.Do(asAdmin(t), g.origin(&bob), ranking.RestoreMatch{Amendment: a}),
			)
		},
		"fix": func(g *game, m ranking.MatchRef) error {
			return g.Do(asAdmin(t), g.origin(&bob), ranking.FixMatch{
				Amendment: ranking.Amendment{Match: m}, Scores: []ladder.Score{{A: 3, B: 2}},
			})
		},
	}
	for name, amend := range amendments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			for range 4 {
				checkCelebration(t, "a short streak", g.record(t, &bob, alice, bob, 3, 1), nil)
			}
			o := g.origin(&bob)
			must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
			checkCelebration(t, "the streak", g.notice(t, o.Key), celebrating(ladder.WinningStreak, 5, "Alice"))
			must(t, amend(g, ranking.MatchRef{Number: 5}))
			if got := texts(t, g, `SELECT coalesce(payload ->> 'celebration', 'nothing') FROM outbox
				WHERE action = 'send' AND key = $1`, o.Key); got[0] != "nothing" {
				t.Errorf("the card celebrates %s", got[0])
			}
		})
	}
}
