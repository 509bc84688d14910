package ladder_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ladder"
)

// matchOf returns a match with these parts, which must have side A first.
func matchOf(number int, score ladder.Score, parts ...ladder.Part) ladder.Match {
	return ladder.Match{Number: number, Result: ladder.Result{Score: score}, Parts: parts}
}

// partOf returns a part whose history entry has the given rating and streak before the match, and
// the given change of the rating.
func partOf(player ladder.PlayerID, side, before, change, streakBefore int) ladder.Part {
	return ladder.Part{Player: player, Side: side, Entry: &ladder.Entry{
		Before: before, After: before + change, StreakBefore: streakBefore,
	}}
}

// season returns five matches of player 1: a win, a draw, a loss in a team, a win that is an upset,
// and a win without points.
func season() []ladder.Match {
	all := []ladder.Match{
		matchOf(1, ladder.Score{A: 3, B: 1}, partOf(1, 1, 1500, 16, 4), partOf(2, 2, 1500, -16, 0)),
		matchOf(3, ladder.Score{A: 1002, B: 1002}, partOf(2, 1, 1484, 1, -1), partOf(1, 2, 1516, -1, 5)),
		matchOf(4, ladder.Score{A: 0, B: 2}, partOf(1, 1, 1515, -8, 0), partOf(3, 1, 1485, -8, 0),
			partOf(2, 2, 1500, 8, 0), partOf(4, 2, 1500, 8, 0)),
		matchOf(6, ladder.Score{A: 1, B: 2}, partOf(3, 1, 1620, -9, 0), partOf(1, 2, 1507, 9, -1)),
		matchOf(7, ladder.Win, partOf(1, 1, 1500, 16, 1), partOf(2, 2, 1500, -16, 0)),
	}
	all[3].Upset = 113
	return all
}

func TestSummary(t *testing.T) {
	t.Parallel()
	matches := season()
	tally := func(played, won, drawn, lost, points, against, gained, surplus int) ladder.Tally {
		return ladder.Tally{
			Counters: ladder.Counters{Played: played, Won: won, Drawn: drawn, Lost: lost},
			For:      points, Against: against, Gained: gained, Surplus: surplus,
		}
	}
	met := func(t ladder.Tally) *ladder.Tally { return &t }
	want := ladder.Summary{
		Tally:  tally(5, 3, 1, 1, 15, 13, 32, 5000-459-5000+6571+5000),
		Best:   ladder.Peak{Value: 1516, In: &matches[0]},
		Streak: ladder.Peak{Value: 5, In: &matches[0]},
		Upset:  ladder.Peak{Value: 113, In: &matches[3]},
		Opponents: map[ladder.PlayerID]*ladder.Tally{
			2: met(tally(4, 2, 1, 1, 11, 11, 23, 5000-459-5000+5000)), 3: met(tally(1, 1, 0, 0, 4, 2, 9, 6571)),
			4: met(tally(1, 0, 0, 1, 0, 4, -8, -5000)),
		},
		Partners: map[ladder.PlayerID]*ladder.Tally{3: met(tally(1, 0, 0, 1, 0, 4, -8, -5000))},
	}
	if diff := cmp.Diff(want, ladder.SummaryOf(1, matches)); diff != "" {
		t.Errorf("a player (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ladder.Summary{}, ladder.SummaryOf(5, matches)); diff != "" {
		t.Errorf("who has not played (-want +got):\n%s", diff)
	}
	all := ladder.SummariesOf(matches)
	if len(all) != 4 {
		t.Errorf("%d players have a summary", len(all))
	}
	for player, s := range all {
		if diff := cmp.Diff(ladder.SummaryOf(player, matches), *s); diff != "" {
			t.Errorf("player %d alone, and with all others (-alone +all):\n%s", player, diff)
		}
	}
}

// TestSummaryOfOpponents checks that the surplus of one opponent is the deficit of the other,
// whichever sides they were on. One opponent's points and wins must be the other's points against
// and losses.
func TestSummaryOfOpponents(t *testing.T) {
	t.Parallel()
	all := ladder.SummariesOf(season())
	for one, s := range all {
		for other, tally := range s.Opponents {
			back := all[other].Opponents[one]
			if tally.Surplus != -back.Surplus || tally.For != back.Against || tally.Won != back.Lost {
				t.Errorf("%d against %d is %+v, and the other way round %+v", one, other, *tally, *back)
			}
		}
	}
}

func TestIsComplete(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parts []ladder.Part
		want  bool
	}{
		"complete": {[]ladder.Part{partOf(1, 1, 1500, 16, 0), partOf(2, 2, 1500, -16, 0)}, true},
		"nobody":   {nil, false},
		"no side B": {
			[]ladder.Part{partOf(1, 1, 1500, 16, 0), partOf(2, 1, 1500, 16, 0)}, false,
		},
		"no entry": {[]ladder.Part{partOf(1, 1, 1500, 16, 0), {Player: 2, Side: 2}}, false},
	} {
		if got := matchOf(1, ladder.Win, tc.parts...).IsComplete(); got != tc.want {
			t.Errorf("%s: complete is %t", name, got)
		}
	}
}
