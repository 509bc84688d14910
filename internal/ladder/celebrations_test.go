package ladder

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// standingOf returns the standing of a player who has played the given number of matches. The
// standing's id is the player's id plus 100.
func standingOf(player PlayerID, elo, played int) Standing {
	return Standing{
		ID: StandingID(player) + 100, Player: player, Elo: elo, BestElo: elo, Counters: Counters{Played: played},
	}
}

// part returns a match's player on the given side, whose rating the match changes by change.
func part(side int, before Standing, change int) MatchPlayer {
	after := before
	after.Elo += change
	after.BestElo = max(after.BestElo, after.Elo)
	after.Played++
	return MatchPlayer{Side: side, Before: before, After: after}
}

// beats returns a match that winner has won 3:1. The winner gains the given points, and the loser
// loses them.
func beats(winner, loser Standing, points int) *Played {
	return &Played{
		Result: Result{Score: Score{A: 3, B: 1}}, Players: []MatchPlayer{part(1, winner, points), part(2, loser, -points)},
	}
}

// celebrated sets the upset of each match and returns what Celebrate returns for the matches.
func celebrated(leaders Leaders, largest int, matches ...*Played) []*Celebration {
	for _, m := range matches {
		played, standings := Match{RatingRules: m.RatingRules, Result: m.Result}, make([]*Standing, len(m.Players))
		for i, p := range m.Players {
			played.Parts, standings[i] = append(played.Parts, Part{Player: p.Before.Player, Side: p.Side}), &p.Before
		}
		_, m.Upset = play(&played, standings)
	}
	return Celebrate(matches, leaders, largest)
}

// leadersAre returns the leaders of a ranking in which a place takes five matches. If there are
// fewer leaders than the query's limit of 20, they are the whole ranking.
func leadersAre(found ...Leader) Leaders {
	return Leaders{LeaderQuery: LeaderQuery{At: time.Unix(1, 0), Limit: 20}, Found: found, PlaceMatches: 5}
}

func celebrationOf(kind CelebrationKind, number int, players ...PlayerID) *Celebration {
	return &Celebration{Kind: kind, Number: number, Players: players}
}

func checkCelebrated(t *testing.T, got []*Celebration, want ...*Celebration) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("celebrated (-want +got):\n%s", diff)
	}
}

// TestNewNumberOne checks that player 1 is celebrated if and only if the player was certainly not
// first before the match, gains points in it, and is then the only leader of a ranking of at least
// three players. The players with the standings 3, 4 and 5 do not play.
func TestNewNumberOne(t *testing.T) {
	t.Parallel()
	one, two := standingOf(1, 1590, 20), standingOf(2, 1500, 20)
	newcomer := func(played int) Standing { return standingOf(1, 1590, played) }
	left := one
	left.LeftAt = time.Unix(5, 0)
	listed := func(s Standing) Leader { return Leader{s.ID, s.Elo} }
	full := func(l Leaders) Leaders {
		l.Limit = len(l.Found)
		return l
	}
	draw := beats(one, two, 16)
	draw.B = draw.A
	for name, tc := range map[string]struct {
		match   *Played
		leaders Leaders
		want    bool
	}{
		"passes":                    {beats(one, two, 16), leadersAre(Leader{3, 1600}, listed(one), listed(two)), true},
		"by one point":              {beats(one, two, 16), leadersAre(Leader{3, 1605}, listed(one), listed(two)), true},
		"draws level":               {beats(one, two, 16), leadersAre(Leader{3, 1606}, listed(one), listed(two)), false},
		"not yet":                   {beats(one, two, 16), leadersAre(Leader{3, 1607}, listed(one), listed(two)), false},
		"by a draw":                 {draw, leadersAre(Leader{3, 1600}, listed(one), listed(two)), true},
		"passes the opponent":       {beats(one, standingOf(2, 1600, 20), 16), leadersAre(Leader{102, 1600}, listed(one), Leader{3, 1400}), true},
		"was alone already":         {beats(one, two, 16), leadersAre(listed(one), Leader{3, 1589}, listed(two)), false},
		"shared it":                 {beats(one, two, 16), leadersAre(Leader{3, 1590}, listed(one), listed(two)), false},
		"may have shared it":        {beats(one, two, 16), full(leadersAre(Leader{3, 1590}, Leader{4, 1590}, Leader{5, 1590})), false},
		"three in the ranking":      {beats(one, two, 16), leadersAre(Leader{3, 1600}, listed(one), listed(two)), true},
		"two, and a newcomer":       {beats(one, standingOf(2, 1500, 3), 16), leadersAre(Leader{3, 1600}, listed(one)), false},
		"three with the fifth":      {beats(one, standingOf(2, 1500, 4), 16), leadersAre(Leader{3, 1600}, listed(one)), true},
		"in the fifth match":        {beats(newcomer(4), two, 16), leadersAre(Leader{3, 1580}, listed(two)), true},
		"in the fourth match":       {beats(newcomer(3), two, 16), leadersAre(Leader{3, 1580}, listed(two), Leader{4, 1400}), false},
		"loses, and gets a place":   {beats(two, newcomer(4), 5), leadersAre(Leader{3, 1580}, listed(two)), false},
		"was away for long":         {beats(one, two, 16), leadersAre(Leader{3, 1580}, listed(two)), true},
		"has left since":            {beats(left, two, 16), leadersAre(Leader{3, 1580}, Leader{4, 1400}, listed(two)), false},
		"behind a newcomer":         {beats(one, standingOf(2, 1900, 3), 16), leadersAre(Leader{3, 1600}, listed(one), Leader{4, 1400}), true},
		"nobody else was read":      {beats(one, two, 16), leadersAre(), false},
		"first match of the ladder": {beats(Standing{Player: 1, Elo: 1500}, Standing{Player: 2, Elo: 1500}, 16), leadersAre(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want *Celebration
			if tc.want {
				want = celebrationOf(NewNumberOne, 0, 1)
			}
			checkCelebrated(t, celebrated(tc.leaders, 0, tc.match), want)
		})
	}
}

// TestNumberOneOfSeveralMatches checks that in a message with several matches, a new number one is
// celebrated only if the player still leads after the last match.
func TestNumberOneOfSeveralMatches(t *testing.T) {
	t.Parallel()
	one, two := standingOf(1, 1590, 20), standingOf(2, 1580, 20)
	leaders := leadersAre(Leader{3, 1600}, Leader{101, 1590}, Leader{102, 1580})
	wins := beats(one, two, 16)
	after := func(m *Played, i int) Standing { return m.Players[i].After }
	t.Run("stays it", func(t *testing.T) {
		t.Parallel()
		first := beats(one, two, 16)
		got := celebrated(leaders, 0, first, beats(after(first, 0), after(first, 1), 10))
		checkCelebrated(t, got, celebrationOf(NewNumberOne, 0, 1), nil)
	})
	t.Run("is passed", func(t *testing.T) {
		t.Parallel()
		first := beats(one, two, 16)
		got := celebrated(leaders, 0, first, beats(after(first, 1), after(first, 0), 40))
		checkCelebrated(t, got, nil, celebrationOf(NewNumberOne, 0, 2))
	})
	t.Run("loses it and has it again", func(t *testing.T) {
		t.Parallel()
		first := beats(one, two, 16)
		second := beats(after(first, 1), after(first, 0), 12)
		got := celebrated(leaders, 0, first, second, beats(after(second, 1), after(second, 0), 14))
		checkCelebrated(t, got, nil, nil, celebrationOf(NewNumberOne, 0, 1))
	})
	t.Run("somebody else plays later", func(t *testing.T) {
		t.Parallel()
		// Player -97 has standing 3.
		got := celebrated(leaders, 0, wins, beats(standingOf(-97, 1600, 20), standingOf(5, 1590, 20), 8))
		checkCelebrated(t, got, nil, celebrationOf(NewNumberOne, 0, -97))
	})
}

func TestUpsetOfMonth(t *testing.T) {
	t.Parallel()
	upset := func(points int) *Played { return beats(standingOf(1, 1500, 20), standingOf(2, 1500+points, 20), 20) }
	swapped := upset(150)
	swapped.A, swapped.B = 1, 3 // the higher-rated player has won
	draw := upset(150)
	draw.B = draw.A
	team := func(points int) *Played { // the losers' average is 1500 + points - 0.5
		return &Played{Result: Result{Score: Score{B: 1}}, Players: []MatchPlayer{
			part(1, standingOf(1, 1499+points, 20), -20), part(1, standingOf(2, 1500+points, 20), -20),
			part(2, standingOf(3, 1600, 20), 20), part(2, standingOf(4, 1400, 20), 20),
		}}
	}
	for name, tc := range map[string]struct {
		match   *Played
		largest int
		want    *Celebration
	}{
		"first of the month": {upset(100), 0, celebrationOf(UpsetOfMonth, 100, 1)},
		"too small":          {upset(99), 0, nil},
		"larger":             {upset(150), 149, celebrationOf(UpsetOfMonth, 150, 1)},
		"equal":              {upset(150), 150, nil},
		"a draw":             {draw, 0, nil},
		"expected":           {swapped, 0, nil},
		"of a team":          {team(101), 0, celebrationOf(UpsetOfMonth, 101, 3, 4)},
		"rounded up":         {team(100), 0, celebrationOf(UpsetOfMonth, 100, 3, 4)},
		"rounded down":       {team(99), 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkCelebrated(t, celebrated(leadersAre(Leader{9, 3000}), tc.largest, tc.match), tc.want)
		})
	}
	got := celebrated(leadersAre(), 110, upset(120), upset(140), upset(130))
	checkCelebrated(t, got, nil, celebrationOf(UpsetOfMonth, 140, 1), nil)
	got = celebrated(leadersAre(), 110, upset(140), upset(140))
	checkCelebrated(t, got, nil, nil)
}

func TestPersonalBest(t *testing.T) {
	t.Parallel()
	at := func(elo, best, played int) Standing {
		s := standingOf(1, elo, played)
		s.BestElo = best
		return s
	}
	other := standingOf(2, 1500, 20)
	for name, tc := range map[string]struct {
		before Standing
		want   *Celebration
	}{
		"above the best":      {at(1590, 1605, 20), celebrationOf(PersonalBest, 1606, 1)},
		"as high as the best": {at(1590, 1606, 20), nil},
		"run of wins":         {at(1590, 1590, 20), nil},
		"in the 11th match":   {at(1590, 1600, 10), celebrationOf(PersonalBest, 1606, 1)},
		"in the 10th match":   {at(1590, 1600, 9), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := celebrated(leadersAre(), 0, beats(tc.before, other, 16))
			checkCelebrated(t, got, tc.want)
		})
	}
}

func TestWinningStreak(t *testing.T) {
	t.Parallel()
	for streak, want := range map[int]bool{
		-5: false, -1: false, 0: false, 1: false, 4: false, 5: true, 6: false, 9: false, 10: true, 15: true, 101: false,
	} {
		m := beats(standingOf(1, 1500, 20), standingOf(2, 1500, 20), 16)
		m.Players[0].After.Streak = streak
		got := celebrated(leadersAre(), 0, m)
		if want {
			checkCelebrated(t, got, celebrationOf(WinningStreak, streak, 1))
		} else {
			checkCelebrated(t, got, nil)
		}
	}
}

// TestOneCelebration checks that a match to which several kinds of celebration apply gets only the
// most important one.
func TestOneCelebration(t *testing.T) {
	t.Parallel()
	match := func(change func(one, two *MatchPlayer)) *Played {
		m := &Played{Result: Result{Score: Score{A: 1, B: 3}}, Players: []MatchPlayer{
			part(1, standingOf(5, 1730, 20), -20), part(1, standingOf(6, 1730, 20), -20),
			part(2, standingOf(1, 1590, 20), 20), part(2, standingOf(2, 1580, 20), 20),
		}}
		for i := range m.Players[2:] {
			p := &m.Players[2+i]
			p.Before.BestElo, p.After.BestElo, p.After.Streak = 1595, max(1595, p.After.Elo), 5
		}
		change(&m.Players[2], &m.Players[3])
		return m
	}
	leaders := leadersAre(Leader{3, 1600}, Leader{101, 1590}, Leader{102, 1580})
	for name, tc := range map[string]struct {
		leaders Leaders
		largest int
		change  func(one, two *MatchPlayer)
		want    *Celebration
	}{
		"everything":      {leaders, 0, func(_, _ *MatchPlayer) {}, celebrationOf(NewNumberOne, 0, 1)},
		"no number one":   {leadersAre(), 0, func(_, _ *MatchPlayer) {}, celebrationOf(UpsetOfMonth, 145, 1, 2)},
		"nor upset":       {leadersAre(), 200, func(_, _ *MatchPlayer) {}, celebrationOf(PersonalBest, 1610, 1)},
		"best of another": {leadersAre(), 200, func(one, _ *MatchPlayer) { one.Before.BestElo = 1700 }, celebrationOf(PersonalBest, 1600, 2)},
		"only streaks": {leadersAre(), 200, func(one, two *MatchPlayer) {
			one.Before.BestElo, two.Before.BestElo, one.After.Streak = 1700, 1700, 4
		}, celebrationOf(WinningStreak, 5, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := match(tc.change)
			// With so few matches, the losers do not lead the ranking despite their high ratings.
			m.Players[0].After.Played, m.Players[1].After.Played = 3, 3
			m.Players[0].Before.Played, m.Players[1].Before.Played = 2, 2
			got := celebrated(tc.leaders, tc.largest, m)
			checkCelebrated(t, got, tc.want)
		})
	}
}
