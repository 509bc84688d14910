package ranking

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// card returns the card of a result. sides are side A and side B. On a swapped card side B comes first.
func card(r Result, sides [2]Side, swapped bool) MatchRecorded {
	if swapped {
		r = r.swapped()
		sides[0], sides[1] = sides[1], sides[0]
	}
	sides[0].Score, sides[1].Score = r.A, r.B
	n := MatchRecorded{Sides: sides, Sets: r.setScores()}
	if !r.HasPoints() {
		n.Games = r.Games
	}
	return n
}

// cardOf returns the card of a match with a result. entries are in the order of parts.
func cardOf(m RecentMatch, r Result, swapped bool, parts []Part, entries []Entry) MatchRecorded {
	n := card(r, sidesOf(parts, entries), swapped)
	n.Number, n.Tag = m.Number, TagOf(m.Key)
	switch {
	case m.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(n.players(), m.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Player: m.ReportedBy}}
	}
	return n
}

// players returns who played, in the order of the card.
func (n MatchRecorded) players() (ids []PlayerID) {
	for _, p := range slices.Concat(n.Sides[0].Players, n.Sides[1].Players) {
		ids = append(ids, p.Name.Player)
	}
	return ids
}

// unrated returns the card that the match has with a result, without ratings.
func (m *StoredMatch) unrated(r Result) MatchRecorded {
	var sides [2]Side
	for side, players := range m.Players {
		for _, id := range players {
			sides[side].Players = append(sides[side].Players, RatingChange{Name: Name{Player: id}})
		}
	}
	return card(r, sides, m.swappedFor(r))
}

// swappedFor is true if side B comes first on the card with this result: the winner does, and a draw changes nothing.
func (m *StoredMatch) swappedFor(r Result) bool {
	return r.B > r.A || r.B == r.A && m.SidesSwapped
}

// sidesOf returns side A and side B of a match as they appear on cards.
func sidesOf(parts []Part, entries []Entry) (sides [2]Side) {
	for i, p := range parts {
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{
			Name: Name{Player: p.Player}, Before: entries[i].Before, After: entries[i].After,
		})
	}
	return sides
}

// MatchTag is a short hash of a match's idempotency key. Match numbers and ids come again after a restore of an older backup, keys do not.
// So a button carries the tag of its match, and a press on it never amends another one. A button of a prompt carries the tag of what is
// asked about: recorded matches, or those that the answer would record.
type MatchTag string

// TagOf returns the tag of the match with a key, or of several matches together. Buttons in chats carry it for years, so it must stay the
// same.
func TagOf(keys ...string) MatchTag {
	hash := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	return MatchTag(base64.RawURLEncoding.EncodeToString(hash[:6]))
}

// Celebration is what is special about a match. A card has at most one: the first that applies, in the order of the kinds. An amended card
// has none, because it may no longer be true.
type Celebration struct {
	Kind CelebrationKind `json:"kind"`
	// Players are the winners of an upset, and otherwise one player.
	Players []Name `json:"players"`
	// Number is by how much the beaten side of an upset was rated higher, the rating of a personal best, or the wins of a streak.
	Number int `json:"number,omitempty"`
}

// CelebrationKind is a kind of celebration.
type CelebrationKind string

// The kinds of celebrations.
const (
	NewNumberOne  CelebrationKind = "number_one" // the player has passed everybody else in the ranking
	UpsetOfMonth  CelebrationKind = "upset"      // the largest upset of the calendar month in the time zone of the group
	PersonalBest  CelebrationKind = "best"       // the player's rating was lower than the best one, and is higher now
	WinningStreak CelebrationKind = "streak"     // the player's wins in a row are a multiple of streakStep
)

const (
	// MinPlaces is how many players need the matches for a place before anybody has one. Until then, nobody is number one either.
	MinPlaces = 3

	// MinUpset is the smallest upset that is stored and celebrated.
	MinUpset = 100

	maxLeaders     = 64 // hardly ever do all of so many play in one message
	matchesToABest = 10 // in a player's first matches, a personal best is nothing special
	streakStep     = 5
)

// LeaderQuery asks for the players at the top of a ladder's ranking at a time.
type LeaderQuery struct {
	At    time.Time
	Limit int // 0 for none
}

// Leader is a player at the top of a ranking.
type Leader struct {
	Standing StandingID
	Elo      int
}

// Leaders are players at the top of a ranking, the highest rating first.
type Leaders struct {
	LeaderQuery
	Found        []Leader
	PlaceMatches int // the rule of the ladder
}

// celebrate adds celebrations to the cards of new matches of one message. largest is the largest upset of the month before, 0 if there is
// none. Two instances that record matches of a ladder within milliseconds may both celebrate what is true of one of them.
func (matches NewMatches) celebrate(leaders Leaders, largest int) {
	one, passed := matches.newNumberOne(leaders)
	for i, m := range matches {
		switch {
		case i == passed:
			m.Card.Celebration = &Celebration{Kind: NewNumberOne, Players: []Name{{Player: one}}}
		case matches.isLargestUpset(i, largest):
			m.Card.Celebration = &Celebration{Kind: UpsetOfMonth, Players: m.winners(), Number: m.Upset}
		default:
			m.Card.Celebration = m.personal()
		}
	}
}

// newNumberOne returns who is celebrated as the new number one, and the index of the match in which that player passed everybody else, -1 if
// nobody did. The player stays the number one in all later matches of the message.
func (matches NewMatches) newNumberOne(leaders Leaders) (player PlayerID, passed int) {
	f := matches.field(leaders)
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

// field is the part of a ranking that decides who is its number one.
type field struct {
	places       map[PlayerID]place // of all who play in the message
	others       []Leader           // the first of all others
	placeMatches int                // the rule of the ladder
}

type place struct {
	elo    int
	ranked bool // has a place in the ranking
}

// field returns the field before the matches.
func (matches NewMatches) field(leaders Leaders) field {
	f := field{places: make(map[PlayerID]place), others: slices.Clone(leaders.Found), placeMatches: leaders.PlaceMatches}
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

// mayInclude is true if a player is in the ranking, or may be because not all of the ranking was read.
func (l Leaders) mayInclude(s Standing) bool {
	if s.Played < l.PlaceMatches || !s.LeftAt.IsZero() {
		return false
	}
	found := func(leader Leader) bool { return leader.Standing == s.ID }
	read := len(l.Found)
	return slices.ContainsFunc(l.Found, found) || read > 0 && read == l.Limit && s.Elo <= l.Found[read-1].Elo
}

// update changes the field to what it is after a match.
func (f field) update(m *NewMatch) {
	for _, p := range m.Players {
		f.places[p.After.Player] = place{p.After.Elo, p.After.Played >= f.placeMatches && p.After.LeftAt.IsZero()}
	}
}

// highest returns the highest rating in the ranking apart from a player's, and how many there are.
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

// isFirst is true if a player is at the top of the ranking, alone or not.
func (f field) isFirst(player PlayerID) bool {
	highest, _ := f.highest(player)
	p := f.places[player]
	return p.ranked && p.elo >= highest
}

// numberOne returns who of the message is alone at the top of the ranking, 0 if nobody is or the ranking is too short.
func (f field) numberOne() PlayerID {
	for player, p := range f.places {
		if highest, others := f.highest(player); p.ranked && p.elo > highest && others+1 >= MinPlaces {
			return player
		}
	}
	return 0
}

// isLargestUpset is true if a match, given by its index, is a larger upset than all others of the month.
func (matches NewMatches) isLargestUpset(i, largest int) bool {
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

// Upset returns by how much the average rating of the losers exceeded that of the winners, rounded to a whole number. It is 0 if nobody won
// against the odds. sides are the ratings of the players of sides A and B before the match.
func Upset(s Score, sides [2][]int) int {
	winners, losers := sides[0], sides[1]
	switch {
	case s.A == s.B:
		return 0
	case s.A < s.B:
		winners, losers = losers, winners
	}
	// in integers, so that what is exactly a half is rounded up
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

// inCardOrder returns the players as the card lists them: the winners first.
func (m *NewMatch) inCardOrder() []MatchPlayer {
	players := slices.Clone(m.Players)
	slices.SortStableFunc(players, func(a, b MatchPlayer) int {
		if m.B > m.A {
			a, b = b, a
		}
		return cmp.Compare(a.Side, b.Side)
	})
	return players
}

// winners returns the players of the side that has won.
func (m *NewMatch) winners() (names []Name) {
	for _, p := range m.Players {
		if m.A != m.B && (p.Side == 1) == (m.A > m.B) {
			names = append(names, Name{Player: p.Before.Player})
		}
	}
	return names
}

// personal returns what is special for the first player who has anything special: a personal best before a streak.
func (m *NewMatch) personal() *Celebration {
	players := m.inCardOrder()
	for _, p := range players {
		if p.After.Played > matchesToABest && p.Before.Elo < p.Before.BestElo && p.After.Elo > p.Before.BestElo {
			return &Celebration{Kind: PersonalBest, Players: []Name{{Player: p.After.Player}}, Number: p.After.Elo}
		}
	}
	for _, p := range players {
		if p.After.Streak > 0 && p.After.Streak%streakStep == 0 {
			return &Celebration{Kind: WinningStreak, Players: []Name{{Player: p.After.Player}}, Number: p.After.Streak}
		}
	}
	return nil
}
