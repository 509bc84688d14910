package ladder

import (
	"cmp"
	"slices"
	"time"
)

// Celebration is what is special about a match. If several kinds apply, Kind is the most important
// one.
type Celebration struct {
	Kind CelebrationKind
	// Players are the winners for an upset, and a single player for every other kind.
	Players []PlayerID
	// Number is the rating difference of an upset, the new rating for a personal best, the number
	// of wins in a streak, and 0 for a new number one.
	Number int
}

// CelebrationKind is the reason why a match is celebrated.
type CelebrationKind string

// The kinds, most important first.
const (
	// NewNumberOne means that the player was not first before the match, gained points in it, and
	// has been the only leader of the ranking from then to the last match of the message.
	NewNumberOne CelebrationKind = "number_one"
	// UpsetOfMonth means that the match is the largest upset of the calendar month so far, in the
	// group's time zone.
	UpsetOfMonth CelebrationKind = "upset"
	// PersonalBest means that the match took the player from below their best rating of the season
	// to above it. No personal best is celebrated in a player's first matchesToABest matches of a
	// season.
	PersonalBest CelebrationKind = "best"
	// WinningStreak means that the player has won 5, 10, 15 or another multiple of streakStep
	// matches in a row.
	WinningStreak CelebrationKind = "streak"
)

const (
	// MinPlaces is the number of players who must have played enough matches before the ranking
	// gives places. Without places, no player is the number one. If fewer players have played
	// enough, the table of a season gives every player a place instead. MinPlaces is also the
	// number of players that the table of a season needs for medals.
	MinPlaces = 3

	// MinUpset is the smallest rating difference of an upset that is stored or celebrated.
	MinUpset = 100

	// MaxLeaders is the maximum number of players to read from the top of the ranking to find a new
	// number one. The best player who is not in the message must be among them, and hardly any
	// message involves that many players.
	MaxLeaders = 64
	// matchesToABest is the number of matches that a player must have played before a personal best
	// is celebrated.
	matchesToABest = 10
	streakStep     = 5
)

// LeaderQuery requests the players at the top of a ladder's ranking at a given time.
type LeaderQuery struct {
	At    time.Time
	Limit int // maximum number of players, 0 to request none
}

// Leader is a player at the top of a ranking.
type Leader struct {
	Standing StandingID
	Elo      int
}

// Leaders are the players at the top of a ranking, highest rating first, with the query that found
// them.
type Leaders struct {
	LeaderQuery
	Found        []Leader
	PlaceMatches int // number of matches that the ladder requires for a place
}

// Celebrate returns what is special about each match of a message. An element is nil if nothing is
// special. largest is the month's largest upset without these matches, 0 if there is none. If two
// messages are recorded in one ladder at nearly the same time, matches of both may be celebrated
// although only those of one message should be.
func Celebrate(matches []*Played, leaders Leaders, largest int) []*Celebration {
	all := make([]*Celebration, len(matches))
	one, passed := newNumberOne(matches, leaders)
	for i, m := range matches {
		switch {
		case i == passed:
			all[i] = &Celebration{Kind: NewNumberOne, Players: []PlayerID{one}}
		case isLargestUpset(matches, i, largest):
			all[i] = &Celebration{Kind: UpsetOfMonth, Players: m.winners(), Number: m.Upset}
		default:
			all[i] = m.personal()
		}
	}
	return all
}

// newNumberOne returns the player to celebrate as the new number one, and the index of the match in
// which that player took the lead. The player must have stayed the number one through the last
// match of the message. If there is no such player, passed is -1.
func newNumberOne(matches []*Played, leaders Leaders) (player PlayerID, passed int) {
	f := fieldOf(matches, leaders)
	passed = -1
	for i, m := range matches {
		var candidates []PlayerID
		for _, p := range m.Players {
			if p.After.Elo > p.Before.Elo && !f.isFirst(p.Before.Player) {
				candidates = append(candidates, p.Before.Player)
			}
		}
		f.update(m)
		one := f.numberOne()
		if one != player {
			passed = -1
		}
		if slices.Contains(candidates, one) {
			player, passed = one, i
		}
	}
	return player, passed
}

// field is the part of a ranking that determines its number one.
type field struct {
	places       map[PlayerID]place // the players of the message
	others       []Leader           // the leaders who are not in the message
	placeMatches int                // as in Leaders
}

type place struct {
	elo    int
	ranked bool // whether the player has a place in the ranking
}

// fieldOf returns the field as it is before the first of the matches.
func fieldOf(matches []*Played, leaders Leaders) field {
	f := field{
		places: make(map[PlayerID]place), others: slices.Clone(leaders.Found), placeMatches: leaders.PlaceMatches,
	}
	for _, m := range matches {
		for _, p := range m.Players {
			if _, seen := f.places[p.Before.Player]; seen {
				continue
			}
			f.places[p.Before.Player] = place{p.Before.Elo, leaders.mayInclude(p.Before)}
			f.others = slices.DeleteFunc(f.others, func(l Leader) bool { return l.Standing == p.Before.ID })
		}
	}
	return f
}

// mayInclude reports whether a player is in the ranking, or may be in it below the leaders that
// were read.
func (l Leaders) mayInclude(s Standing) bool {
	if s.Played < l.PlaceMatches || !s.LeftAt.IsZero() {
		return false
	}
	found := func(leader Leader) bool { return leader.Standing == s.ID }
	read := len(l.Found)
	return slices.ContainsFunc(l.Found, found) || read > 0 && read == l.Limit && s.Elo <= l.Found[read-1].Elo
}

func (f field) update(m *Played) {
	for _, p := range m.Players {
		f.places[p.After.Player] = place{p.After.Elo, p.After.Played >= f.placeMatches && p.After.LeftAt.IsZero()}
	}
}

// highest returns the highest rating among the players of the field who have a place, and the
// number of these players. It leaves out the player except. The rating is -1 if no players remain.
func (f field) highest(except PlayerID) (elo, count int) {
	elo, count = -1, len(f.others)
	if count > 0 {
		elo = f.others[0].Elo
	}
	for player, p := range f.places {
		if player != except && p.ranked {
			elo, count = max(elo, p.elo), count+1
		}
	}
	return elo, count
}

// isFirst reports whether a player is at the top of the ranking, either alone or with others.
func (f field) isFirst(player PlayerID) bool {
	highest, _ := f.highest(player)
	p := f.places[player]
	return p.ranked && p.elo >= highest
}

// numberOne returns the player of the message who is alone at the top of the ranking. It returns 0
// if there is none, or if fewer than MinPlaces players are in the ranking.
func (f field) numberOne() PlayerID {
	for player, p := range f.places {
		if highest, others := f.highest(player); p.ranked && p.elo > highest && others+1 >= MinPlaces {
			return player
		}
	}
	return 0
}

// isLargestUpset reports whether the match with index i is a larger upset than largest and than
// every other match of the message.
func isLargestUpset(matches []*Played, i, largest int) bool {
	upset := matches[i].Upset
	if upset <= largest {
		return false
	}
	for j, m := range matches {
		if j != i && m.Upset >= upset {
			return false
		}
	}
	return true
}

// Upset returns the average rating of the losers minus the average rating of the winners, rounded
// to a whole number. It returns 0 for a draw, or if the winners were not rated lower. sides are the
// ratings of the players on sides A and B before the match.
func Upset(s Score, sides [2][]int) int {
	winners, losers := sides[0], sides[1]
	switch {
	case s.A == s.B:
		return 0
	case s.A < s.B:
		winners, losers = losers, winners
	}
	// Use integers to round exactly half a point up.
	difference, size := 0, len(winners)*len(losers)
	for _, rating := range losers {
		difference += rating * len(winners)
	}
	for _, rating := range winners {
		difference -= rating * len(losers)
	}
	if difference <= 0 {
		return 0
	}
	return (2*difference + size) / (2 * size)
}

// inCardOrder returns the players in the order of the card: the winners first or, after a draw,
// side A first.
func (m *Played) inCardOrder() []MatchPlayer {
	players := slices.Clone(m.Players)
	slices.SortStableFunc(players, func(a, b MatchPlayer) int {
		if m.B > m.A {
			a, b = b, a
		}
		return cmp.Compare(a.Side, b.Side)
	})
	return players
}

func (m *Played) winners() (players []PlayerID) {
	for _, p := range m.Players {
		if m.A != m.B && (p.Side == 1) == (m.A > m.B) {
			players = append(players, p.Before.Player)
		}
	}
	return players
}

// personal returns the celebration of a personal best or, if no player has one, of a winning
// streak. Among several players, it celebrates the first in the order of the card. It returns nil
// if there is nothing to celebrate.
func (m *Played) personal() *Celebration {
	players := m.inCardOrder()
	for _, p := range players {
		if p.After.Played > matchesToABest && p.Before.Elo < p.Before.BestElo && p.After.Elo > p.Before.BestElo {
			return &Celebration{Kind: PersonalBest, Players: []PlayerID{p.After.Player}, Number: p.After.Elo}
		}
	}
	for _, p := range players {
		if p.After.Streak > 0 && p.After.Streak%streakStep == 0 {
			return &Celebration{Kind: WinningStreak, Players: []PlayerID{p.After.Player}, Number: p.After.Streak}
		}
	}
	return nil
}
